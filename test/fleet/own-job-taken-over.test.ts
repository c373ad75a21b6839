import type { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { readCallRecords } from '../../src/queues/call-record.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { startTestFleet } from '../support/fleet.js';
import { type Script, startMessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();

/**
 * Takes the lock of a job away, now and whenever its worker takes it back, and marks the job as one that had no lock at the last
 * check for stalled jobs: a lock that ran out unnoticed looks so.
 */
async function loseAgainAndAgain(client: Redis, queueKey: string, id: string): Promise<() => Promise<void>> {
  const lock = `${queueKey}:${id}:lock`;
  const channel = `__keyspace@${client.options.db ?? 0}__:${lock}`;
  const lose = () => client.multi().del(lock).sadd(`${queueKey}:stalled`, id).exec();
  await client.config('SET', 'notify-keyspace-events', 'K$');
  const subscriber = client.duplicate({ enableOfflineQueue: true });
  subscriber.on('message', () => void lose());
  await subscriber.subscribe(channel);
  await lose();
  return async () => {
    await subscriber.quit();
  };
}

const LOCK_MS = 1_000;

/** A worker that has taken its own job again, while the call of its first attempt is in flight. */
async function startTakenOver(prefix: string, reply: Script) {
  const api = await startMessagesApi({ reply });
  const test = await startTestFleet(redis, prefix);
  onTestFinished(async () => {
    await test.close();
    await api.close();
  });
  const worker = await test.worker(runnerFor(api), { lockMs: LOCK_MS });
  const handle = await addSolutionCheck(test.fleet, { solution: { content: 'x = 1\n' } });
  await api.arrived(1);
  const queue = test.fleet.queue('solution-check');
  const key = queue.toKey(handle.id);
  const stopLosing = await loseAgainAndAgain(test.fleet.client, queue.toKey('').slice(0, -1), handle.id);
  await test.logged('frees its slot');
  await stopLosing();
  return { api, test, worker, handle, key };
}

it('a worker that was paused for longer than its lock and takes its job again makes the call once, and has not crashed', async () => {
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { api, test, handle, key } = await startTakenOver('own', () => answered.then(() => leaks()));
  expect(await test.fleet.client.hmget(key, 'fleet:attempt', 'fleet:crashes')).toEqual([null, null]);
  answer();
  const { status, usage } = await handle.result();
  // The attempt takes its lock back in time and uses its answer, or its successor uses it again.
  expect([status, usage.calls + usage.reusedCalls]).toEqual(['clean', 1]);
  expect(api.requests).toHaveLength(1);
  expect((await readCallRecords(test.fleet.client, key)).map(({ state }) => state)).toEqual(['answered']);
  expect(await test.fleet.client.hget(key, 'fleet:crashes')).toBeNull();
});

it('such a worker stops cleanly on a signal, and the next one runs its job', async () => {
  const { test, worker, handle } = await startTakenOver('stopped', (_request, index) =>
    index === 0 ? { kind: 'hang' } : leaks(),
  );
  await worker.stop(0);
  expect(test.logLines.filter(({ msg }) => String(msg).includes('could not stop cleanly'))).toEqual([]);
  const server = await startMessagesApi({ reply: () => leaks() });
  onTestFinished(() => server.close());
  await test.worker(runnerFor(server), { lockMs: LOCK_MS });
  expect((await handle.result()).status).toBe('clean');
});
