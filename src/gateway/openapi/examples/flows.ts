import type { OperationExamples } from './example.js';
import {
  CHECK_ID,
  CORRECTED,
  EVALUATION_ID,
  FAILED_EVALUATION,
  KEY,
  LISTED_CHECK,
  RUN,
  SCRIPT,
  submitted,
} from './values.js';

const tags = { run: RUN };
const evaluation = { queue: 'score', name: 'score' };
const waiting = (kind: string, id: string) => ({ ...submitted(kind, id), state: 'waiting-children' });
const GUARDED = {
  evaluation: waiting('score', EVALUATION_ID),
  check: submitted('solution-check', CHECK_ID),
};

export const FLOW_EXAMPLES: OperationExamples = {
  'add-refinement-step': {
    body: {
      ablationCode: 'print("baseline:", score(X))\nprint("without scaling:", score(X_unscaled))\n',
      rawOutput: 'baseline: 0.871\nwithout scaling: 0.862\n',
      solution: { content: SCRIPT },
      previousBlocks: [],
      tags,
      key: 'night-12/step-1',
    },
    status: 202,
    answer: {
      extract: waiting('extract', 'extract-9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b0c'),
      summarize: submitted('summarize', 'summarize-1d0c7f8e3b5a49728c6d4e2f0a9b8c7d6e5f4a3b'),
    },
  },
  'add-guarded-evaluation': {
    body: {
      solution: { content: SCRIPT },
      evaluation: { ...evaluation, data: { candidate: 7 } },
      require: { leakage: ['clean', 'corrected'] },
      tags,
      key: KEY,
    },
    status: 202,
    answer: GUARDED,
  },
  'add-candidate-batch': {
    body: {
      candidates: [
        { solution: { content: SCRIPT }, data: { candidate: 7 }, key: KEY },
        { solution: { content: CORRECTED }, data: { candidate: 8 }, key: 'night-12/candidate-8' },
      ],
      evaluation,
      afterAll: { queue: 'choose', name: 'choose' },
      tags,
      key: 'night-12/batch-1',
    },
    status: 202,
    answer: {
      evaluations: [
        GUARDED,
        {
          evaluation: waiting('score', 'score-46545c629053298cb8b068758bd6cb0ba83f1533'),
          check: submitted('solution-check', 'solution-check-77ea179486d19adedaea9c02985a43d81dba54a7'),
        },
      ],
      afterAll: waiting('choose', 'choose-2127390bf87632b39792537be248da6566da1e9a'),
    },
  },
  'get-run': {
    parameters: { run: RUN, limit: 100 },
    status: 200,
    answer: {
      run: RUN,
      total: 2,
      states: {
        waiting: 0,
        delayed: 0,
        'waiting-children': 0,
        active: 0,
        completed: 1,
        failed: 1,
        cancelled: 0,
      },
      usage: LISTED_CHECK.usage,
      jobs: [
        {
          ...FAILED_EVALUATION,
          children: [{ ...LISTED_CHECK, parent: EVALUATION_ID, children: [] }],
        },
      ],
      truncated: false,
    },
  },
  'list-disagreements': {
    parameters: { run: RUN, limit: 100 },
    status: 200,
    answer: {
      disagreements: [
        {
          id: LISTED_CHECK.id,
          run: RUN,
          endedAt: '2026-11-20T02:14:07.000Z',
          solutionDigest: 'b2f9a9dd3b3c9a1a3f0d2a3f5f6c1f0d9a8f3c2b1a0e4d5c6b7a8990f1e2d3c4',
          analysis: 'clean',
          agent: 'leaky',
          leaks: [
            {
              source: 'agent',
              line: 'model.fit(X_train, y_train)',
              reason: 'The rows that are scored are among those that it learns from.',
            },
          ],
        },
      ],
    },
  },
};
