import { expect, it, onTestFinished, vi } from 'vitest';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { readCallRecords } from '../../src/queues/call-record.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { startTestFleet } from '../support/fleet.js';
import { startMessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

vi.setConfig({ testTimeout: 60_000 });

const redis = redisOfFile();

it('a worker that stood still for longer than the lease and takes its own job over makes the call once, and has not died', async () => {
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const api = await startMessagesApi({ reply: () => answered.then(() => leaks()) });
  const test = await startTestFleet(redis, 'own');
  onTestFinished(async () => {
    await test.close();
    await api.close();
  });
  await test.worker(runnerFor(api), { lockMs: 2_000 });
  const handle = await addSolutionCheck(test.fleet, { solution: { content: 'x = 1\n' } });
  await api.arrived(1);
  const key = test.fleet.queue('solution-check').toKey(handle.id);
  // What a lease that ran out unnoticed looks like; the worker may find it lost and take it back, so again and again.
  while ((await test.fleet.client.hget(key, 'stc')) === null) await test.fleet.client.del(`${key}:lock`);
  await test.logged('gives its slot back');
  expect(await test.fleet.client.hmget(key, 'fleet:run', 'fleet:deaths')).toEqual([null, null]);
  answer();
  const result = await handle.result({ timeout: 60_000 });
  expect(result).toMatchObject({ status: 'clean', usage: { calls: 0, reusedCalls: 1 } });
  expect(api.requests).toHaveLength(1);
  expect((await readCallRecords(test.fleet.client, key)).map(({ state }) => state)).toEqual(['answered']);
  expect(await test.fleet.client.hget(key, 'fleet:deaths')).toBeNull();
});
