import { RequestError } from '../../../errors.js';
import { problemOf } from '../../http/problem.js';
import type { OperationExamples } from './example.js';
import { CHECK_ID, CORRECTED, ENDED_CHECK, KEY, LISTED_CHECK, RUN, SCRIPT, submitted } from './values.js';

const tags = { run: RUN };
const solution = { content: SCRIPT };
const ABLATION = {
  ablationCode: 'print("baseline:", score(X))\nprint("without scaling:", score(X_unscaled))\n',
  rawOutput: 'baseline: 0.871\nwithout scaling: 0.862\n',
};
const FULL = new RequestError('too-many-waiting', '100000 solution-check jobs wait, the limit is 100000');
const loopId = 'refinement-loop-5a3ce1bb0a2f6f6f6f60b9d8b3a1c7d2e4f5a6b7';

export const JOB_EXAMPLES: OperationExamples = {
  'submit-solution-check': {
    body: { payload: { solution, tags }, key: KEY },
    status: 202,
    answer: submitted('solution-check', CHECK_ID),
  },
  'submit-summarize': {
    body: { payload: { ...ABLATION, tags }, key: KEY },
    status: 202,
    answer: submitted('summarize', 'summarize-1d0c7f8e3b5a49728c6d4e2f0a9b8c7d6e5f4a3b'),
  },
  'submit-extract': {
    body: {
      payload: {
        solution,
        summary: 'Scaling matters most: without it the score falls from 0.871 to 0.862.',
        previousBlocks: [],
        tags,
      },
      key: KEY,
    },
    status: 202,
    answer: submitted('extract', 'extract-9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b0c'),
  },
  'submit-contamination': {
    body: {
      payload: {
        output:
          'def two_sum(nums, target):\n    seen = {}\n    for at, n in enumerate(nums):\n        if target - n in seen:\n            return [seen[target - n], at]\n        seen[n] = at\n',
        testCase: { id: 'two-sum', name: 'Two sum', difficulty: 'easy', solveTime: 4_200 },
      },
    },
    status: 202,
    answer: submitted('contamination', 'contamination-0f2a7c35-8f0e-4c56-9f63-1f6a2b7c9d10'),
  },
  'submit-refinement-loop': {
    body: {
      payload: {
        ...ABLATION,
        solution,
        score: 0.871,
        direction: 'higher',
        previousBlocks: [],
        rounds: 2,
        newBlock: { queue: 'coder' },
        evaluation: { queue: 'score' },
        tags,
      },
      key: KEY,
      budgetUsd: 2,
    },
    status: 202,
    answer: submitted('refinement-loop', loopId),
  },
  'submit-batch': {
    body: {
      jobs: [
        { kind: 'solution-check', payload: { solution, tags }, key: KEY },
        { kind: 'solution-check', payload: { solution: { content: CORRECTED }, tags }, priority: 10 },
      ],
    },
    status: 200,
    answer: {
      jobs: [
        submitted('solution-check', CHECK_ID),
        {
          error: problemOf(FULL, ''),
        },
      ],
    },
  },
  'list-jobs': {
    parameters: { kind: 'solution-check', state: 'completed', run: RUN, limit: 10 },
    status: 200,
    answer: { jobs: [LISTED_CHECK] },
  },
  'get-job': {
    parameters: { id: CHECK_ID, wait: '30s' },
    status: 200,
    answer: ENDED_CHECK,
  },
  'job-events': {
    parameters: { id: CHECK_ID },
    status: 200,
    answer: [
      'id: 1795995214000-0\nevent: state\ndata: {"state":"active"}\n',
      'id: 1795995219000-0\nevent: progress\ndata: {"progress":"correcting 1/1"}\n',
      `id: 1795995228000-0\nevent: end\ndata: ${JSON.stringify(LISTED_CHECK)}\n`,
    ].join('\n'),
  },
  'cancel-job': {
    parameters: { id: loopId },
    status: 200,
    answer: {
      id: loopId,
      kind: 'refinement-loop',
      state: 'cancelled',
      error: { code: 'job-cancelled', message: 'the job was cancelled', retryable: false },
      usage: LISTED_CHECK.usage,
      tags,
      createdAt: '2026-11-29T22:00:00.000Z',
      endedAt: '2026-11-29T22:05:00.000Z',
      attempts: 1,
    },
  },
  'retry-job': {
    parameters: { id: CHECK_ID },
    status: 202,
    answer: {
      id: CHECK_ID,
      kind: 'solution-check',
      state: 'waiting',
      key: KEY,
      usage: LISTED_CHECK.usage,
      tags,
      createdAt: '2026-11-29T22:00:00.000Z',
      attempts: 0,
    },
  },
};
