import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { countJob } from '../../src/gateway/metrics/collector.js';
import { percentile } from '../../src/gateway/metrics/statistics.js';
import { GROUP } from '../../src/gateway/metrics/statistics-keys.js';
import { addJob } from '../../src/producers/add-job.js';
import { NO_USAGE } from '../../src/queues/usage.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import type { TestFleet } from '../support/fleet.js';
import { errorReply, type MessagesApi, startMessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { gatewayOfTest, startTestGateway, type TestGateway } from './gateway-fixture.js';

const SUBMIT = '/v1/jobs/solution-check';
const CHECK = { payload: { solution: { content: 'x = 1\n' }, tags: { run: 'r' } } };

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;
let api: MessagesApi;

beforeEach(async () => {
  ({ test, gateway } = await gatewayOfTest(redis, 'metrics'));
  api = await startMessagesApi({
    reply: (request) => (request.text.includes('BROKEN') ? errorReply(401) : leaks()),
  });
});
afterEach(() => api.close());

/** Samples of the exposition by their whole name with labels. */
async function scrape(server: TestGateway = gateway): Promise<Map<string, number>> {
  const { text, headers } = await server.send('GET', '/metrics');
  expect(headers.get('content-type')).toMatch(/^text\/plain/);
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
  );
}

const jobs = (outcome: string, reason = 'none') =>
  `fleet_jobs_total{kind="solution-check",outcome="${outcome}",reason="${reason}"}`;

describe('/metrics', () => {
  it('counts jobs by outcome and reason, their calls and tokens, and how long they took', async () => {
    await test.worker(runnerFor(api));
    await gateway.send('POST', `${SUBMIT}?wait`, CHECK);
    await gateway.send('POST', `${SUBMIT}?wait`, CHECK);
    const broken = { payload: { solution: { content: 'BROKEN = 1\n' } } };
    await gateway.send('POST', `${SUBMIT}?wait`, broken);
    await expect.poll(async () => (await scrape()).get(jobs('failed', 'unauthorized'))).toBe(1);
    const samples = await scrape();
    expect(samples.get(jobs('completed'))).toBe(2);
    expect(
      samples.get('fleet_agent_calls_total{kind="solution-check",source="sent"}'),
    ).toBeGreaterThanOrEqual(2);
    expect(
      samples.get('fleet_agent_tokens_total{kind="solution-check",type="input"}'),
    ).toBeGreaterThanOrEqual(200);
    const input = (cache: string) => samples.get(`fleet_agent_input_tokens_today{cache="${cache}"}`);
    expect(input('uncached')).toBeGreaterThanOrEqual(200);
    expect([input('read'), input('write')]).toEqual([0, 0]);
    expect(samples.get('fleet_job_duration_seconds_count{kind="solution-check"}')).toBe(3);
    expect(samples.get('fleet_job_duration_seconds_bucket{kind="solution-check",le="+Inf"}')).toBe(3);
    expect(samples.get('fleet_job_duration_seconds_sum{kind="solution-check"}')).toBeGreaterThan(0);
    expect([...samples.keys()].some((name) => name.startsWith('nodejs_eventloop_lag'))).toBe(true);
    expect(
      samples.get('fleet_http_requests_total{route="/v1/jobs/solution-check",method="POST",status="200"}'),
    ).toBe(3);
  });

  it('serves failures as 0 before the first one, because Prometheus sees an increase only between two values', async () => {
    const samples = await scrape();
    for (const reason of ['killed-its-worker', 'handler-ignored-abort', 'unauthorized']) {
      expect(samples.get(jobs('failed', reason))).toBe(0);
    }
    const failed = (route: string, method: string) =>
      `fleet_http_requests_total{route="${route}",method="${method}",status="500"}`;
    expect([samples.get(failed(SUBMIT, 'POST')), samples.get(failed('/board', 'GET'))]).toEqual([0, 0]);
  });

  it('keeps the time of requests that wait apart', async () => {
    await test.worker(runnerFor(api));
    await gateway.send('POST', SUBMIT, CHECK);
    await gateway.send('POST', `${SUBMIT}?wait`, CHECK);
    const samples = await scrape();
    const count = (waits: string) =>
      samples.get(`fleet_http_request_duration_seconds_count{route="${SUBMIT}",waits="${waits}"}`);
    expect([count('no'), count('yes')]).toEqual([1, 1]);
  });

  it('counts a cancelled job as cancelled', async () => {
    const { json } = await gateway.send('POST', SUBMIT, CHECK);
    await gateway.send('DELETE', `/v1/jobs/${json.id}`);
    await test.worker(runnerFor(api));
    await expect.poll(async () => (await scrape()).get(jobs('cancelled'))).toBe(1);
  });

  it('counts the calls of a job that is cancelled during its follow-ups, and the time to its result', async () => {
    await test.worker(runnerFor(api), { kinds: ['solution-check'] });
    const testCase = { id: 't', name: 't', difficulty: 'easy' };
    const then = [
      { kind: 'contamination', payload: { testCase }, from: { output: 'result.solution.content' } },
    ];
    const { json } = await gateway.send('POST', `${SUBMIT}?wait&follow=false`, {
      payload: { ...CHECK.payload, then },
    });
    await gateway.send('DELETE', `/v1/jobs/${json.id}`);
    await test.worker(runnerFor(api), { kinds: ['contamination'] });
    await expect.poll(async () => (await scrape()).get(jobs('cancelled'))).toBe(1);
    const samples = await scrape();
    expect(samples.get('fleet_agent_calls_total{kind="solution-check",source="sent"}')).toBe(1);
    const key = test.fleet.jobKey('solution-check', json.id);
    const [started, result] = await test.fleet.client.hmget(key, 'fleet:startedOn', 'fleet:resultOn');
    expect(samples.get('fleet_job_duration_seconds_sum{kind="solution-check"}')).toBeCloseTo(
      (Number(result) - Number(started)) / 1_000,
    );
    const { json: ended } = await gateway.send('GET', `/v1/jobs/${json.id}`);
    expect(Date.parse(ended.startedAt)).toBe(Number(started));
  });

  it('counts each job once however many gateways there are, and those that ended while there was none', async () => {
    await gateway.close();
    await test.worker(runnerFor(api));
    const ids = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const handle = await addJob(test.fleet, 'solution-check', {
          solution: { content: `x = ${index}\n` },
        });
        await handle.wait();
        return handle.id;
      }),
    );
    expect(ids).toHaveLength(8);
    const others = await Promise.all([1, 2].map(() => startTestGateway(redis, test.fleet.prefix)));
    const [first] = others;
    if (first === undefined) throw new Error('no gateway');
    await expect.poll(async () => (await scrape(first)).get(jobs('completed'))).toBe(8);
    for (const other of others) expect((await scrape(other)).get(jobs('completed'))).toBe(8);
    await Promise.all(others.map((other) => other.close()));
    gateway = await startTestGateway(redis, test.fleet.prefix);
    expect((await scrape()).get(jobs('completed'))).toBe(8);
  });

  it('counts what a gateway took and died with, and an event that two gateways hold once', async () => {
    const stream = test.fleet.queue('solution-check').toKey('events');
    const { client } = test.fleet;
    await gateway.close();
    await client.xgroup('CREATE', stream, GROUP, '$', 'MKSTREAM').catch(() => undefined);
    const handle = await addJob(test.fleet, 'solution-check', CHECK.payload);
    await test.worker(runnerFor(api));
    await handle.wait();
    const [entries] = (await client.xreadgroup('GROUP', GROUP, 'dead', 'STREAMS', stream, '>')) as [
      [string, [string, string[]][]],
    ];
    const ids = entries[1].map(([id]) => id);
    const end = entries[1].find(([, fields]) => fields.includes('completed'))?.[0] ?? '';
    // As if it had been dead for an hour.
    await client.xclaim(stream, GROUP, 'dead', 0, ...ids, 'IDLE', 3_600_000);
    gateway = await startTestGateway(redis, test.fleet.prefix);
    await expect.poll(async () => (await scrape()).get(jobs('completed'))).toBe(1);
    const late = {
      kind: 'solution-check',
      outcome: 'completed',
      reason: 'none',
      endedAt: Date.now(),
    } as const;
    expect(await countJob(test.fleet, end, { ...late, durationMs: 5, usage: NO_USAGE })).toBe(false);
    expect((await scrape()).get(jobs('completed'))).toBe(1);
  });

  it('reports the event loop and the memory of each worker, until it stops', async () => {
    const worker = await test.worker(runnerFor(api));
    const named = async (metric: string) =>
      [...(await scrape())]
        .filter(([name]) => name.startsWith(`${metric}{worker="`))
        .map(([, value]) => value);
    await expect.poll(() => named('fleet_worker_resident_memory_bytes')).toHaveLength(1);
    expect((await named('fleet_worker_resident_memory_bytes'))[0]).toBeGreaterThan(10_000_000);
    expect((await named('fleet_worker_event_loop_lag_seconds'))[0]).toBeGreaterThanOrEqual(0);
    await worker.stop(1_000);
    expect(await named('fleet_worker_resident_memory_bytes')).toEqual([]);
  });

  it('the load to scale by holds waiting, prioritized, due and active jobs, and no job of the future', async () => {
    const queue = test.fleet.queue('summarize');
    await queue.add('summarize', {}, {});
    await queue.add('summarize', {}, { priority: 5 });
    await queue.add('summarize', {}, { delay: 3_600_000 });
    await queue.add('summarize', {}, { delay: 1 });
    await expect.poll(async () => (await scrape()).get('fleet_queue_load{kind="summarize"}')).toBe(3);
    const samples = await scrape();
    expect(samples.get('fleet_queue_jobs{kind="summarize",state="waiting"}')).toBe(2);
    expect(samples.get('fleet_queue_jobs{kind="summarize",state="delayed"}')).toBe(2);
  });

  it('pipeline queues have samples of their own while they have jobs: by state, the oldest, whether they are served', async () => {
    const evaluations = { queue: 'scores', name: 'score', data: { number: 1 } };
    const body = { solution: { content: 'x = 1\n' }, evaluation: evaluations };
    await gateway.send('POST', '/v1/flows/guarded-evaluation', body);
    const job = (state: string) => `fleet_pipeline_queue_jobs{queue="scores",state="${state}"}`;
    expect((await scrape()).get(job('waiting-children'))).toBe(1);
    const queue = test.fleet.queue('scores');
    await queue.add('score', {}, { timestamp: Date.now() - 90_000 });
    const samples = await scrape();
    expect(samples.get(job('waiting'))).toBe(1);
    expect(samples.get('fleet_pipeline_queue_oldest_waiting_seconds{queue="scores"}')).toBeGreaterThan(89);
    expect(samples.get('fleet_pipeline_queue_served{queue="scores"}')).toBe(0);
    expect(samples.get('fleet_pipeline_dead_letters{queue="scores"}')).toBe(0);
    expect(samples.get('fleet_queue_load{kind="scores"}')).toBeUndefined();
    const served = startPipelineWorker(redis, test.fleet, 'scores', () =>
      Promise.reject(new Error('no score')),
    );
    await expect
      .poll(async () => (await scrape()).get('fleet_pipeline_queue_served{queue="scores"}'))
      .toBe(1);
    await expect.poll(async () => (await scrape()).get(job('failed'))).toBe(1);
    expect((await scrape()).get('fleet_pipeline_dead_letters{queue="scores"}')).toBe(1);
    await served.close();
  });

  it('the oldest waiting job is found, starved by urgent ones or not', async () => {
    const queue = test.fleet.queue('extract');
    const now = Date.now();
    await queue.add('extract', {}, { priority: 1, timestamp: now - 5_000 });
    await queue.add('extract', {}, { priority: 9, timestamp: now - 600_000 });
    await queue.add('extract', {}, { priority: 9, timestamp: now - 1_000 });
    await queue.add('extract', {}, { timestamp: now - 60_000 });
    const age = (await scrape()).get('fleet_queue_oldest_waiting_seconds{kind="extract"}') ?? 0;
    expect(age).toBeGreaterThanOrEqual(600);
    expect(age).toBeLessThan(660);
  });
});

describe('percentile', () => {
  it.each([
    [[], 0.5, undefined],
    [[7], 0.95, 7],
    [[4, 1, 3, 2], 0.5, 2],
    [Array.from({ length: 100 }, (_, index) => index + 1), 0.95, 95],
  ])('of %j at %d is %s', (values, fraction, expected) => {
    expect(percentile(values, fraction)).toBe(expected);
  });
});
