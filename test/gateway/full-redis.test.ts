import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { runnerFor } from '../support/agent-answers.js';
import { fillWithForeignKeys, removeForeignKeys } from '../support/fill-redis.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { fleetCommand } from '../support/fleet-command.js';
import { errorReply, startMessagesApi } from '../support/messages-api.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { type Answer, startTestGateway, type TestGateway } from './gateway-fixture.js';

const PREFIX = 'full';
const SUBMIT = '/v1/jobs/solution-check';
const QUEUE = '/board/api/queues/solution-check';
const READS = [
  '/',
  '/v1/jobs',
  '/v1/dead-letters',
  '/v1/runs/x',
  '/metrics',
  '/board/api/queues',
  // Requests still come here, so that jobs can be removed.
  '/readyz',
];

let redis: TestRedis;
let test: TestFleet;
let gateway: TestGateway;

afterEach(async () => {
  await gateway.close();
  await test.close();
  await redis.stop();
});

async function start(maxmemory: string): Promise<void> {
  redis = await startTestRedis(['--maxmemory', maxmemory]);
  test = await startTestFleet(redis, PREFIX);
  gateway = await startTestGateway(redis, PREFIX);
}

/** A script that does not compress. */
const check = (bytes: number) => ({
  payload: { solution: { content: `x = '${randomBytes(bytes).toString('base64')}'\n` } },
});
const submit = (bytes: number) => gateway.send('POST', SUBMIT, check(bytes));
const command = (...args: string[]) =>
  fleetCommand(args, { env: { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: PREFIX } });
const submitByCommand = (bytes: number) =>
  fleetCommand(['submit', 'solution-check', '--data', '-', '--json'], {
    env: { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: PREFIX },
    input: JSON.stringify(check(bytes).payload),
  });

function expectFull(answer: Answer): 1 {
  expect([answer.status, answer.json.code]).toEqual([503, 'redis-full']);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  return 1;
}

/** Submits by both ways until each was refused: their readings of the memory differ by a moment. */
async function untilBothRefuse(bytes: number): Promise<number> {
  let accepted = 0;
  let refusals = 0;
  while (refusals < 2) {
    refusals = 0;
    const answer = await submit(bytes);
    if (answer.status === 202) accepted += 1;
    else refusals += expectFull(answer);
    const { exitCode, stdout } = await submitByCommand(bytes);
    if (exitCode === 0) {
      accepted += 1;
      continue;
    }
    refusals += 1;
    expect([exitCode, JSON.parse(stdout)]).toEqual([
      2,
      { error: expect.objectContaining({ code: 'redis-full' }) },
    ]);
  }
  return accepted;
}

it('submissions through HTTP and the command line are refused before Redis is full, and what was accepted ends', async () => {
  await start('8mb');
  const accepted = await untilBothRefuse(200_000);
  expect(accepted).toBeGreaterThan(3);
  const worker = await test.worker(createOfflineRunner());
  await expect.poll(() => test.fleet.queue('solution-check').getCompletedCount()).toBe(accepted);
  await worker.stop(0);
});

describe('a Redis that others have filled', () => {
  /** Jobs that wait, and dead letters. */
  async function startWithJobs(): Promise<{ waiting: string[]; dead: string[] }> {
    await start('16mb');
    const api = await startMessagesApi({ reply: () => errorReply(401) });
    const several = async (count: number): Promise<string[]> =>
      Promise.all(Array.from({ length: count }, async () => (await submit(2_000)).json.id));
    const dead = await several(2);
    const worker = await test.worker(runnerFor(api));
    await expect.poll(() => test.fleet.queue('solution-check').getFailedCount()).toBe(dead.length);
    await worker.stop(0);
    await api.close();
    return { waiting: await several(6), dead };
  }

  it('is read and cleaned through HTTP, the board and the command line, before and after the gateway starts again', async () => {
    const { waiting, dead } = await startWithJobs();
    await fillWithForeignKeys(test.fleet.client);
    for (const round of [0, 1]) {
      expect((await gateway.send('GET', '/healthz')).json).toMatchObject({ redis: 'full' });
      for (const path of READS) {
        expect([path, (await gateway.send('GET', path)).status]).toEqual([path, 200]);
      }
      const submissions = [
        await submit(10),
        await gateway.send('POST', '/v1/jobs:batch', { jobs: [{ kind: 'solution-check', ...check(10) }] }),
        await gateway.send('PUT', '/v1/known/a', { solution: 'x = 1' }),
        await gateway.send('POST', `/v1/jobs/${dead[round]}/retry`),
        await gateway.send('PUT', `${QUEUE}/pause`),
      ];
      for (const answer of submissions) expectFull(answer);
      const cancelled = await gateway.send('DELETE', `/v1/jobs/${waiting[2 * round]}`);
      expect([cancelled.status, cancelled.json.state]).toEqual([200, 'cancelled']);
      expect((await command('cancel', String(waiting[2 * round + 1]))).exitCode).toBe(0);
      const listed = JSON.parse((await command('list', '--json')).stdout);
      expect(JSON.stringify(listed)).toContain(String(waiting[2 * round]));
      // What the full server could not take left nothing half done.
      const examined = JSON.parse((await command('doctor', '--json')).stdout);
      expect(examined.left.map(({ problem }: { problem: string }) => problem)).toEqual(['refused-writes']);
      await gateway.close();
      gateway = await startTestGateway(redis, PREFIX);
    }
    const dropped = await gateway.send('POST', '/v1/dead-letters:drop', { ids: [dead[0]] });
    expect(dropped.json).toEqual({ done: [dead[0]], refused: [] });
    expect((await command('dead', 'drop', String(dead[1]))).exitCode).toBe(0);
    expect((await gateway.send('GET', '/v1/dead-letters')).json.jobs).toEqual([]);
    expect((await gateway.send('PUT', `${QUEUE}/${waiting[4]}/clean`)).status).toBe(204);
    expect((await gateway.send('PUT', `${QUEUE}/empty`)).status).toBe(200);
    await removeForeignKeys(test.fleet.client);
    // A reading of the memory counts for a second.
    await expect.poll(async () => (await submit(10)).status).toBe(202);
    const worker = await test.worker(createOfflineRunner());
    await expect.poll(() => test.fleet.queue('solution-check').getCompletedCount()).toBeGreaterThan(0);
    await worker.stop(0);
  });
});
