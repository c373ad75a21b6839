import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { addCandidateBatch } from '../../src/producers/flows/candidate-batch.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;

beforeAll(async () => {
  test = await startTestFleet(redis, 'large');
  gateway = await startTestGateway(redis, 'large');
});
afterAll(async () => {
  await gateway.close();
  await test.close();
});

const solution = { content: 'x = 1\nprint(x)\n' };
const evaluation = { queue: 'evaluate', name: 'score' };
const post = (path: string, body: unknown) => gateway.send('POST', path, body);
/** An object of so many bytes of JSON. */
const dataOf = (bytes: number) => ({ log: 'x'.repeat(bytes - '{"log":""}'.length) });
const LIMIT = 65_536;

describe('data of the jobs of a pipeline', () => {
  it.each([
    [
      'guarded-evaluation',
      'evaluation.data',
      { solution, evaluation: { ...evaluation, data: dataOf(LIMIT + 1) } },
    ],
    [
      'candidate-batch',
      'evaluation.data',
      { candidates: [{ solution }, { solution, data: dataOf(LIMIT + 1) }], evaluation },
    ],
    [
      'candidate-batch',
      'afterAll.data',
      { candidates: [{ solution }], evaluation, afterAll: { ...evaluation, data: dataOf(LIMIT + 1) } },
    ],
    [
      'candidate-batch',
      'evaluation.data',
      {
        candidates: Array.from({ length: 600 }, () => ({ solution })),
        evaluation: { ...evaluation, data: dataOf(LIMIT - 200) },
      },
    ],
    [
      'candidate-batch',
      'evaluation.data',
      {
        candidates: Array.from({ length: 4_000 }, () => ({ solution })),
        evaluation,
        tags: Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`t${at}`, 'x'.repeat(500)])),
      },
    ],
  ])('%s: more than fits is 413 with the field %s, and nothing is stored', async (flow, field, body) => {
    const { status, json } = await post(`/v1/flows/${flow}`, body);
    expect([status, json.code, json.field]).toEqual([413, 'payload-too-large', field]);
    expect(json.detail).toMatch(/the limit is \d+ bytes/);
    expect(await test.fleet.client.keys(`${test.fleet.prefix}:*evaluate*`)).toEqual([]);
    expect(await test.fleet.client.sismember(`${test.fleet.prefix}::queues`, 'evaluate')).toBe(0);
  });

  it('is bounded for producers too, and must be JSON', async () => {
    const { fleet } = test;
    const submit = (data: Record<string, unknown>) =>
      addGuardedEvaluation(fleet, { solution, evaluation: { ...evaluation, data } });
    await expect(submit(dataOf(LIMIT + 1))).rejects.toMatchObject({
      code: 'payload-too-large',
      field: 'evaluation.data',
    });
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const data of [circular, { n: 1n }]) {
      await expect(submit(data)).rejects.toMatchObject({ code: 'invalid-payload', field: 'evaluation.data' });
    }
    for (const queue of [
      '',
      'a b',
      'a:b',
      '..',
      'a..b',
      '\ud800',
      'a\0',
      '-a',
      'x'.repeat(101),
      '\u202ea',
      'extract',
    ]) {
      const refused = addCandidateBatch(fleet, {
        candidates: [{ solution }],
        evaluation: { ...evaluation, queue },
      });
      await expect(refused).rejects.toMatchObject({ code: 'invalid-payload', field: 'evaluation.queue' });
    }
    expect(await fleet.client.keys(`${fleet.prefix}:*evaluate*`)).toEqual([]);
  });

  it('data and results up to the limit are transferred; a larger one is 413, and the lease continues', async () => {
    await test.worker(createOfflineRunner());
    const data = dataOf(LIMIT);
    const scored = { queue: 'score', name: 'score', data };
    await post('/v1/flows/guarded-evaluation', { solution, evaluation: scored });
    const { json: claim } = await post('/v1/evaluations/claim?wait=20s', { queue: 'score' });
    expect(claim.data).toEqual(data);
    const ref = { queue: claim.queue, id: claim.id, lease: claim.lease };
    const large = await post('/v1/evaluations/complete', { ...ref, result: dataOf(LIMIT + 1) });
    expect([large.status, large.json.field]).toEqual([413, 'result']);
    expect((await post('/v1/evaluations/complete', { ...ref, result: data })).status).toBe(204);
    expect((await gateway.send('GET', `/v1/jobs/${claim.id}`)).json.result).toEqual(data);
  });
});

async function bytesFromRedis(read: () => Promise<unknown>): Promise<number> {
  const output = async () =>
    Number(/total_net_output_bytes:(\d+)/.exec(await test.fleet.client.info('stats'))?.[1]);
  const before = await output();
  await read();
  return (await output()) - before;
}

describe('lists of jobs with megabytes of data and results', () => {
  const JOBS = 12;
  const LARGE = JSON.stringify({ tags: { run: 'big' }, log: 'x'.repeat(2 ** 20) });

  beforeAll(async () => {
    for (let at = 0; at < JOBS; at += 1) {
      const { json } = await post('/v1/jobs/summarize', {
        payload: { ablationCode: 'a', rawOutput: 'b', tags: { run: 'big' } },
        delayMs: 3_600_000,
      });
      const key = test.fleet.jobKey('summarize', json.id);
      await test.fleet.client.hset(key, 'data', LARGE, 'returnvalue', LARGE);
    }
  });

  it('read neither: the answer of Redis is small, whatever the jobs carry', async () => {
    for (const path of [
      '/v1/runs/big',
      '/v1/jobs?run=big',
      '/v1/jobs?kind=summarize',
      '/v1/dead-letters',
      '/',
    ]) {
      const read = async () => expect((await gateway.send('GET', path)).status).toBe(200);
      expect([path, (await bytesFromRedis(read)) < 2 ** 19]).toEqual([path, true]);
    }
    expect((await gateway.send('GET', '/v1/runs/big')).json).toMatchObject({ total: JOBS });
  });

  it('have their labels also where an older version submitted the job', async () => {
    const { json } = await post('/v1/jobs/solution-check', {
      payload: { solution, tags: { run: 'old', step: '1' } },
      delayMs: 3_600_000,
    });
    const key = test.fleet.jobKey('solution-check', json.id);
    const opts = JSON.parse((await test.fleet.client.hget(key, 'opts')) ?? '{}');
    delete opts.fleet;
    await test.fleet.client.hset(key, 'opts', JSON.stringify(opts));
    const [job] = (await gateway.send('GET', '/v1/runs/old')).json.jobs;
    expect(job.tags).toEqual({ run: 'old', step: '1' });
  });

  it('are pages of the board of a bounded size, however many jobs are asked for', async () => {
    const jobs = Array.from({ length: 150 }, () => ({
      kind: 'summarize',
      payload: { ablationCode: 'a', rawOutput: 'b' },
      delayMs: 1_000_000,
    }));
    await post('/v1/jobs:batch', { jobs });
    for (const [query, most] of [
      ['status=delayed&jobsPerPage=100000', 100],
      ['status=delayed&jobsPerPage=100000&jobsPerPage=100000', 100],
      ['status=latest&jobsPerPage=100000', 20],
      ['jobsPerPage=100000', 20],
      ['status=delayed&jobsPerPage=1e5', 10],
      ['status=delayed&page=2&jobsPerPage=0100', 62],
    ] as const) {
      let shown = 0;
      const bytes = await bytesFromRedis(async () => {
        const { json } = await gateway.send('GET', `/board/api/queues?activeQueue=summarize&${query}`);
        shown = json.queues.find(({ name }: { name: string }) => name === 'summarize').jobs.length;
      });
      expect([query, shown, bytes < 8 * 2 ** 20]).toEqual([query, most, true]);
    }
  });
});
