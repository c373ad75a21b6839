import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { UNSCHEDULED } from '../../src/queues/fairness/schedule-script.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { gatewayOfTest, startTestGateway, type TestGateway } from './gateway-fixture.js';

const QUEUE = '/board/api/queues/solution-check';
const CHECK = { payload: { solution: { content: 'x = 1\n' } } };

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;
let id: string;

beforeAll(async () => {
  test = await startTestFleet(redis, 'board');
  gateway = await startTestGateway(redis, 'board');
});
beforeEach(async () => {
  id = (await gateway.send('POST', '/v1/jobs/solution-check', CHECK)).json.id;
  const { client } = test.fleet;
  // The gateway does not wait until the job is scheduled.
  await expect
    .poll(() => client.hget(test.fleet.jobKey('solution-check', id), 'priority'))
    .not.toBe(String(UNSCHEDULED));
});
afterEach(async () => {
  await gateway.send('PUT', `${QUEUE}/resume`);
  // Nothing of one test is in the queue of the next one.
  await test.fleet.queue('solution-check').obliterate({ force: true });
});
afterAll(async () => {
  await gateway.close();
  await test.close();
});

/** Everything in Redis that belongs to the fleet but its events. */
async function state(): Promise<string> {
  const { client, prefix } = test.fleet;
  const keys = (await client.keys(`${prefix}:*`))
    .filter((key) => !/:(events|stalled-check)$/.test(key))
    .sort();
  // Redis may change the order of a hash's fields by itself, and dumps them in that order.
  const contentOf = async (key: string) =>
    (await client.type(key)) === 'hash'
      ? Object.entries(await client.hgetall(key)).sort()
      : ((await client.dump(key)) ?? '');
  const values = await Promise.all(keys.map(async (key) => [key, await contentOf(key)]));
  return JSON.stringify(values);
}

describe('what the board may change', () => {
  const data = { v: 1, solution: { content: 'x' }, workspace: '/', model: 'dear' };
  it.each<[string, string, unknown]>([
    ['POST', '/add', { name: 'solution-check', data }],
    ['POST', '/add', { name: 'solution-check', data, options: { jobId: 'meta' } }],
    [
      'POST',
      '/add',
      { name: 'x', data: {}, options: { repeat: { every: 1_000 }, parent: { id: 'a', queue: 'b' } } },
    ],
    ['POST', '/add/', {}],
    ['POST', '/ADD', {}],
    ['PATCH', '/JOB/update-data', { jobData: data }],
    ['PATCH', '/JOB/Update-Data', { jobData: data }],
    ['PATCH', '/JOB/priority', { priority: 1 }],
    ['PATCH', '/JOB/delay', { runAt: 1e15 }],
    ['PUT', '/JOB/remove-unprocessed-children', undefined],
    ['PATCH', '/job-schedulers/x', { every: 1_000 }],
    ['PUT', '/job-schedulers/x/run', undefined],
    ['PUT', '/job-schedulers/x/remove', undefined],
    ['PUT', '/retry/completed', undefined],
    ['PUT', '/clean/latest', undefined],
    ['PUT', '/obliterate', { force: true }],
    ['PUT', '/concurrency', { concurrency: 'many' }],
    ['PUT', '/concurrency', { concurrency: 1e12 }],
    ['PUT', '/rate-limit', { max: 0, duration: 1 }],
    ['PUT', '/meta/clean', undefined],
    ['PUT', '/wait/clean', undefined],
    ['PUT', '/JOB:lock/clean', undefined],
    ['PUT', '/%6deta/clean', undefined],
    ['PUT', '/JOB/retry', undefined],
    ['DELETE', '/JOB', undefined],
    ['PUT', '/JOB/anything', undefined],
    ['PUT', '/../../metrics/history/purge', undefined],
  ])('%s %s changes nothing, and says why', async (method, path, body) => {
    const before = await state();
    const answer = await gateway.send(method, `${QUEUE}${path.replace('JOB', id)}`, body);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(answer.json).toMatchObject({ detail: expect.any(String), message: answer.json.detail });
    expect(await state()).toBe(before);
  });

  it('names the reason where something was taken away', async () => {
    const answer = await gateway.send('POST', `${QUEUE}/add`, { name: 'solution-check', data });
    expect(answer.status).toBe(405);
    expect(answer.json.detail).toContain('submitted through the API');
  });

  it.each<[string, string, unknown]>([
    ['PUT', '/pause', undefined],
    ['PUT', '/resume', undefined],
    ['PUT', '/concurrency', { concurrency: 3 }],
    ['PUT', '/concurrency', { concurrency: 0 }],
    ['PUT', '/rate-limit', { max: 5, duration: 1_000 }],
    ['PUT', '/rate-limit', { max: null }],
    ['PUT', '/rate-limit/release', undefined],
    ['PUT', '/promote', undefined],
    ['PUT', '/retry/failed', undefined],
    ['PUT', '/clean/completed', undefined],
    ['PUT', '/JOB/clean', undefined],
    ['PUT', '/empty', undefined],
  ])('%s %s goes on', async (method, path, body) => {
    const answer = await gateway.send(method, `${QUEUE}${path.replace('JOB', id)}`, body);
    expect([answer.text, answer.status < 300]).toEqual([answer.text, true]);
  });

  it('a queue is removed once it is paused, and a delayed job moved within a year', async () => {
    const { json } = await gateway.send('POST', '/v1/jobs/solution-check', { ...CHECK, delayMs: 60_000 });
    const move = (runAt: number) => gateway.send('PATCH', `${QUEUE}/${json.id}/delay`, { runAt });
    expect((await move(Date.now() + 120_000)).status).toBe(200);
    await gateway.send('PUT', `${QUEUE}/pause`);
    expect((await gateway.send('PUT', `${QUEUE}/obliterate`, { force: false })).status).toBe(200);
    expect((await gateway.send('GET', `/v1/jobs/${id}`)).status).toBe(404);
  });

  it('a failed job runs again as through the API, a cancelled one does not', async () => {
    const { test, gateway } = await gatewayOfTest(redis, 'retried');
    const cancelled = (await gateway.send('POST', '/v1/jobs/solution-check', CHECK)).json.id;
    await gateway.send('DELETE', `/v1/jobs/${cancelled}`);
    const queue = test.fleet.queue('solution-check');
    await test.worker(createOfflineRunner());
    await expect.poll(() => queue.getJobCountByTypes('failed')).toBe(1);
    const refused = await gateway.send('PUT', `${QUEUE}/${cancelled}/retry`);
    expect([refused.status, refused.json.code]).toEqual([409, 'job-not-retryable']);
    const all = await gateway.send('PUT', `${QUEUE}/retry/failed`);
    expect(all.json).toEqual({ retried: 0, skipped: 1 });
  });
});

describe('what the board reads', () => {
  it.each(['meta', 'wait', 'completed', `x:logs`, 'nothing'])('%s is no job', async (name) => {
    const path = `${QUEUE}/${name}`;
    expect((await gateway.send('GET', path)).status).toBe(404);
    expect((await gateway.send('GET', `${path}/logs`)).status).toBe(404);
  });

  it('a job, its logs and its queue', async () => {
    for (const path of [`/${id}`, `/${id}/logs`, `/${id}/flow`, '/metrics', '/workers', '/rate-limit']) {
      expect([path, (await gateway.send('GET', `${QUEUE}${path}`)).status]).toEqual([path, 200]);
    }
  });
});

it('the page of the board asks no other server for anything', async () => {
  const { status, headers, text } = await gateway.send('GET', '/board/');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(text).toContain('static/css/main');
  expect(text).toContain('static/js/main');
  expect(text).not.toContain('https://');
});
