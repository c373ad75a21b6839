import { beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import type { TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { gatewayOfTest, type TestGateway } from './gateway-fixture.js';

const STEP = {
  ablationCode: 'print("baseline 0.8")\nprint("no scaling 0.7")',
  rawOutput: 'baseline: 0.80\nno scaling: 0.70\n',
  solution: { content: 'import pandas as pd\nx = scale(1)\nprint(x)\n' },
  previousBlocks: [],
  tags: { run: 'r1', step: '1' },
};
const GUARDED = {
  solution: { content: 'x = 1\n' },
  evaluation: { queue: 'evaluate', name: 'score', data: { fold: 3 } },
  tags: { run: 'r1' },
};

const testCase = { id: 'digits', name: 'Digits', difficulty: 'easy' };

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;

beforeEach(async () => {
  ({ test, gateway } = await gatewayOfTest(redis, 'flows'));
});

describe('flows over HTTP', () => {
  it('REQ-P2O-016: a refinement step ends with the block and its summary child, and shows both as one tree', async () => {
    const { status, json, headers } = await gateway.send('POST', '/v1/flows/refinement', STEP);
    expect(status).toBe(202);
    expect(json).toMatchObject({
      extract: { kind: 'extract', state: 'waiting-children' },
      summarize: { kind: 'summarize', state: 'waiting' },
    });
    await test.worker(createOfflineRunner());
    const ended = await gateway.send('GET', `${headers.get('location')}?wait`);
    expect(ended.json).toMatchObject({ state: 'completed', children: [json.summarize.id] });
    const child = await gateway.send('GET', `/v1/jobs/${json.summarize.id}`);
    expect(child.json.parent).toBe(json.extract.id);
    const run = await gateway.send('GET', '/v1/runs/r1');
    expect(run.json).toMatchObject({ total: 2, states: { completed: 2 }, truncated: false });
    expect(run.json.jobs).toHaveLength(1);
    expect(run.json.jobs[0]).toMatchObject({ id: json.extract.id, children: [{ id: json.summarize.id }] });
  });

  it('REQ-P2O-018: a step whose ablation printed no score is skipped, with the reason and without a request', async () => {
    await test.worker(createOfflineRunner());
    const step = { ...STEP, rawOutput: 'KeyError: x\n' };
    const { json } = await gateway.send('POST', '/v1/flows/refinement?wait', step);
    expect(json.result).toMatchObject({
      outcome: 'skipped',
      reason: expect.stringContaining('printed no score'),
      attempts: 0,
    });
  });

  it('a flow with a key is one flow, however often it is submitted', async () => {
    const first = await gateway.send('POST', '/v1/flows/refinement', { ...STEP, key: 'step 1' });
    const second = await gateway.send('POST', '/v1/flows/refinement', STEP, { 'idempotency-key': 'step 1' });
    expect(second.json.extract).toMatchObject({ id: first.json.extract.id, outcome: 'existing' });
  });

  it('REQ-SF-022: a guarded evaluation waits for its check, and is found by its id', async () => {
    const { json, headers } = await gateway.send('POST', '/v1/flows/guarded-evaluation', GUARDED);
    expect(json.evaluation).toMatchObject({ kind: 'evaluate', state: 'waiting-children' });
    const found = await gateway.send('GET', headers.get('location') ?? '');
    expect(found.json).toMatchObject({ kind: 'evaluate', children: [json.check.id] });
    const cancelled = await gateway.send('DELETE', headers.get('location') ?? '');
    expect(cancelled.json.state).toBe('cancelled');
    expect((await gateway.send('GET', `/v1/jobs/${json.check.id}`)).json.state).toBe('cancelled');
  });

  it('checks of evaluations carry what a corrected script needs', async () => {
    const verified = { ...GUARDED, verify: 'agent', trial: true };
    const { json } = await gateway.send('POST', '/v1/flows/guarded-evaluation', verified);
    const batch = {
      candidates: [{ solution: GUARDED.solution }],
      evaluation: GUARDED.evaluation,
      verify: 'agent',
      trial: true,
    };
    const { json: ofBatch } = await gateway.send('POST', '/v1/flows/candidate-batch', batch);
    for (const { check } of [json, ...ofBatch.evaluations]) {
      const job = await test.fleet.queue('solution-check').getJob(check.id);
      expect(job?.data).toMatchObject({ verify: 'agent', trial: true, v: 2 });
    }
    const { status, json: refused } = await gateway.send('POST', '/v1/flows/guarded-evaluation', {
      ...GUARDED,
      verify: 'twice',
    });
    expect([status, refused.field]).toEqual([422, 'verify']);
  });

  it('a candidate batch answers in the order of its candidates', async () => {
    const { status, json } = await gateway.send('POST', '/v1/flows/candidate-batch', {
      candidates: [
        { solution: { content: 'a = 1\n' } },
        { solution: { content: 'b = 1\n' }, data: { n: 2 } },
      ],
      evaluation: { queue: 'evaluate', name: 'score', opts: { attempts: 2 } },
      afterAll: { queue: 'choose', name: 'choose' },
      tags: { run: 'r2' },
    });
    expect(status).toBe(202);
    expect(json.evaluations).toHaveLength(2);
    expect(json.afterAll.kind).toBe('choose');
    const second = await test.fleet.queue('evaluate').getJob(json.evaluations[1].evaluation.id);
    expect(second?.data).toMatchObject({ n: 2 });
    expect((await gateway.send('GET', '/v1/runs/r2')).json.total).toBe(5);
  });

  it.each([
    ['evaluation.queue', { ...GUARDED, evaluation: { queue: 'summarize', name: 'x' } }],
    ['evaluation.queue', { ...GUARDED, evaluation: { queue: 'a:b', name: 'x' } }],
    [
      'evaluation.opts.repeat',
      { ...GUARDED, evaluation: { queue: 'q', name: 'x', opts: { repeat: { every: 1 } } } },
    ],
    [
      'evaluation.data.solutionFleet',
      { ...GUARDED, evaluation: { queue: 'q', name: 'x', data: { solutionFleet: 1 } } },
    ],
    ['solution.content', { ...GUARDED, solution: { content: '' } }],
    ['require.leakage[0]', { ...GUARDED, require: { leakage: ['spotless'] } }],
    [
      'require.contamination',
      { ...GUARDED, contamination: { testCase }, require: { contamination: 'clean' } },
    ],
    ['contamination', { ...GUARDED, require: { contamination: 'clean' } }],
    ['workspace', { ...GUARDED, workspace: '/etc' }],
  ])('refuses what is wrong with %s, by name', async (field, body) => {
    const { status, json } = await gateway.send('POST', '/v1/flows/guarded-evaluation', body);
    expect([status, json.field]).toEqual([422, field]);
  });

  it('a run that nobody has submitted a job of is empty', async () => {
    const { status, json } = await gateway.send('GET', '/v1/runs/a%2Fb%3Ac');
    expect(status).toBe(200);
    expect(json).toMatchObject({ run: 'a/b:c', total: 0, jobs: [] });
  });
});
