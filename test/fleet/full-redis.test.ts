import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { RedisError } from '../../src/errors.js';
import { Housekeeping } from '../../src/fleet/housekeeping.js';
import { WriteRefusals } from '../../src/fleet/write-refusals.js';
import { RedisPayloadStore } from '../../src/payloads/payload-store.js';
import { addJob } from '../../src/producers/add-job.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import { discardDeadLetters } from '../../src/producers/dead-letters.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addCandidateBatch } from '../../src/producers/flows/candidate-batch.js';
import { addRefinementStep } from '../../src/producers/flows/refinement-step.js';
import { addKnownSolutions } from '../../src/producers/known-solutions.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { payloadIndexKey } from '../../src/queues/redis-keys.js';
import { KIND_NAMES } from '../../src/queues/registry.js';
import { fillWithForeignKeys, removeForeignKeys } from '../support/fill-redis.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let redis: TestRedis | undefined;
let test: TestFleet;

afterEach(async () => {
  await test.close();
  await redis?.stop();
});

async function start(maxmemory: string): Promise<void> {
  redis = await startTestRedis(['--maxmemory', maxmemory]);
  test = await startTestFleet(redis, 'fleet');
}

/** A script that does not compress. */
const script = (bytes: number) => ({ content: `x = '${randomBytes(bytes).toString('base64')}'\n` });
const check = (bytes: number) => ({ kind: 'solution-check' as const, payload: { solution: script(bytes) } });

const usedFraction = async () => {
  const info = await test.fleet.client.info('memory');
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  return field('used_memory') / field('maxmemory');
};

const counts = () =>
  test.fleet.queue('solution-check').getJobCounts('prioritized', 'delayed', 'active', 'completed', 'failed');

/** Submits until Redis is said to be full. */
async function untilFull(submit: () => Promise<unknown>, most = 20_000): Promise<number> {
  for (let count = 0; count < most; count += 1) {
    try {
      await submit();
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(RedisError);
      expect((thrown as RedisError).code).toBe('redis-full');
      return count;
    }
  }
  throw new Error(`Redis was not full after ${most} submissions`);
}

async function batch(sizes: readonly number[]): Promise<void> {
  for (const outcome of await addJobs(test.fleet, sizes.map(check))) {
    if ('error' in outcome) throw outcome.error;
  }
}

describe('submissions to a Redis that is nearly full', () => {
  const evaluation = { queue: 'evaluate', name: 'evaluate' };
  const cases: [string, string, () => Promise<unknown>][] = [
    ['large scripts', '8mb', () => addSolutionCheck(test.fleet, { solution: script(200_000) })],
    [
      'scripts that are in their jobs',
      '6mb',
      () => addSolutionCheck(test.fleet, { solution: script(20_000) }),
    ],
    ['the smallest jobs', '3mb', () => batch(Array.from({ length: 30 }, () => 10))],
    ['batches', '6mb', () => batch([10, 1_000, 60_000, 100_000])],
    [
      'candidate batches',
      '7mb',
      () => addCandidateBatch(test.fleet, { candidates: [{ solution: script(80_000) }], evaluation }),
    ],
    [
      'delayed jobs',
      '6mb',
      () => addJob(test.fleet, 'solution-check', check(30_000).payload, { delayMs: 50 }),
    ],
  ];

  it.each(cases)(
    '%s are rejected while accepted jobs can still end, and all of them do',
    async (_name, limit, submit) => {
      await start(limit);
      expect(await untilFull(submit)).toBeGreaterThan(3);
      expect(await usedFraction()).toBeLessThan(0.9);
      const worker = await test.worker(createOfflineRunner());
      const queue = test.fleet.queue('solution-check');
      const accepted = Object.values(await counts()).reduce((sum, count) => sum + count, 0);
      await expect.poll(() => queue.getCompletedCount()).toBe(accepted);
      expect((await counts()).failed).toBe(0);
      await worker.stop(0);
    },
  );

  it('rejects flows, known solutions and jobs that are run again', async () => {
    await start('12mb');
    await untilFull(() => addSolutionCheck(test.fleet, { solution: script(100_000) }));
    const rejection = expect.objectContaining({ code: 'redis-full' });
    const step = {
      ablationCode: 'pass',
      rawOutput: 'a'.repeat(1_000_000),
      solution: script(100_000),
      previousBlocks: [],
    };
    await expect(addRefinementStep(test.fleet, step)).rejects.toEqual(rejection);
    const known = { testCaseId: 'a', solution: 'a b '.repeat(250_000) };
    await expect(addKnownSolutions(test.fleet, [known])).rejects.toEqual(rejection);
  });

  it('leaves a job cancelled if it rejects its new submission', async () => {
    redis = await startTestRedis();
    test = await startTestFleet(redis, 'fleet');
    const worker = await test.worker(createOfflineRunner());
    const submit = (fleet: FleetClient) =>
      addSolutionCheck(fleet, { solution: { content: 'x = 1\n' } }, { key: 'again', delayMs: 60_000 });
    const handle = await submit(test.fleet);
    await handle.cancel();
    const state = async () => (await test.fleet.queue('solution-check').getJob(handle.id))?.getState();
    await expect.poll(state).toBe('failed');
    const full = await FleetClient.open({ redisUrl: redis.url, memory: { maxBytes: 1 } });
    await expect(submit(full)).rejects.toMatchObject({ code: 'redis-full' });
    await full.close();
    expect((await handle.view()).state).toBe('cancelled');
    await worker.stop(0);
  });

  it('uses the configured limit if Redis has none', async () => {
    redis = await startTestRedis();
    test = await startTestFleet(redis, 'fleet', { memory: { maxBytes: 8 * 2 ** 20 } });
    expect(
      await untilFull(() => addSolutionCheck(test.fleet, { solution: script(100_000) })),
    ).toBeGreaterThan(3);
  });

  it('accepts everything if Redis does not report its memory', async () => {
    redis = await startTestRedis();
    test = await startTestFleet(redis, 'fleet', { memory: { maxBytes: 1 } });
    await test.fleet.client.call('ACL', 'SETUSER', 'default', '-info');
    await test.fleet.memory.admit(1_000, 1);
    await test.fleet.client.call('ACL', 'SETUSER', 'default', '+info');
  });
});

describe('a Redis that others have filled', () => {
  it('takes cancellations and removals; a worker waits quietly, and then ends every job once', async () => {
    await start('16mb');
    const jobs = await Promise.all(
      Array.from({ length: 40 }, () => addSolutionCheck(test.fleet, { solution: script(2_000) })),
    );
    const queue = test.fleet.queue('solution-check');
    await fillWithForeignKeys(test.fleet.client);
    await test.worker(createOfflineRunner());
    await test.logged('Redis is full');
    await cancelJob(test.fleet, jobs[0]?.id ?? '');
    await queue.remove(jobs[1]?.id ?? '');
    // Long enough for thousands of tries of a worker that does not pause.
    const started = Date.now();
    await expect.poll(() => Date.now() - started).toBeGreaterThan(3_000);
    expect(test.logLines.filter(({ level }) => Number(level) >= 40).length).toBeLessThan(10);
    await removeForeignKeys(test.fleet.client);
    await expect
      .poll(async () => (await queue.getCompletedCount()) + (await queue.getFailedCount()))
      .toBe(39);
    const ended = await queue.getJobs(['completed', 'failed']);
    expect(ended.filter(({ finishedOn }) => finishedOn !== undefined)).toHaveLength(39);
    // The cancelled one alone has failed; nothing used a second attempt or counts as a crash.
    expect((await queue.getFailed()).map(({ id }) => id)).toEqual([jobs[0]?.id]);
    expect(ended.map(({ attemptsMade, stalledCounter }) => [attemptsMade, stalledCounter])).toEqual(
      ended.map(() => [1, 0]),
    );
    expect(await discardDeadLetters(test.fleet, { olderThanMs: 0 })).toMatchObject({ refused: [] });
  });

  it('removes unneeded data: texts without a job, old events, and expired jobs', async () => {
    await start('16mb');
    const { logger } = test;
    const { client, prefix } = test.fleet;
    // Of the four queues and both ends, one alone has something to remove.
    const cancelled = await addSolutionCheck(test.fleet, { solution: script(200_000) });
    await cancelled.cancel();
    const worker = await test.worker(createOfflineRunner());
    const queue = test.fleet.queue('solution-check');
    await expect.poll(() => queue.getFailedCount()).toBe(1);
    await worker.stop(0);
    // A submission that is cut off before its job leaves its text.
    await new RedisPayloadStore(client, prefix).offload({ text: script(200_000).content }, ['never']);
    const texts = () => client.zcard(payloadIndexKey(prefix));
    expect(await texts()).toBe(2);
    await fillWithForeignKeys(client);
    const refusals = new WriteRefusals(client, prefix, logger);
    const housekeeping = new Housekeeping(client, prefix, KIND_NAMES, logger, {
      refusals,
      fullGraceMs: -1,
      retentionDays: -1,
    });
    await client.set('one more', randomBytes(100_000)).catch((thrown: unknown) => refusals.noted(thrown));
    await expect.poll(async () => [await queue.getFailedCount(), await texts()]).toEqual([0, 0]);
    await housekeeping.stop();
    refusals.stop();
    expect(test.logLines.filter(({ msg }) => String(msg).includes('housekeeping failed'))).toEqual([]);
  });
});
