import { expect, it } from 'vitest';
import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { sweepReservations } from '../../src/calls/budget/sweep-reservations.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { fleetOfTest } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
it.each([
  ['when its call is rejected', true],
  ['when its end is rejected', false],
])(
  'an attempt that lost its job to another worker, and notices %s, is no crash of its worker',
  async (_, calls) => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { test, api } = await fleetOfTest(redis, 'lost-lock', async () => {
      await released;
      return leaks();
    });
    const offline = createOfflineRunner();
    let called = false;
    const ask = async (request: unknown, context: unknown) => {
      called = true;
      if (!calls) await released;
      return (calls ? runnerFor(api) : offline).ask(request as never, context as never);
    };
    await test.worker({ name: 'offline', ask: ask as AgentRunner['ask'] }, { lockMs: 600_000 });
    const handle = await addSolutionCheck(test.fleet, { solution: { content: 'x = 1\n' } });
    const { client } = test.fleet;
    const key = test.fleet.queue('solution-check').toKey(handle.id);
    await expect.poll(() => called).toBe(true);
    if (calls) await api.arrived(1);
    // What another worker does that takes the job over: it owns the lock, and counts the attempt before as a crash.
    const run = (await client.hget(key, 'fleet:attempt')) ?? '';
    const token = (await client.get(`${key}:lock`)) ?? '';
    await client
      .multi()
      .set(`${key}:lock`, 'another')
      .hset(key, 'fleet:crashes', run, 'fleet:attempt', 'later@1')
      .exec();
    release();
    await expect.poll(() => client.hget(key, 'fleet:crashes')).toBeNull();
    expect(await client.hget(key, 'fleet:attempt')).toBe('later@1');
    // The other worker returns it, so nothing is left over.
    await client.set(`${key}:lock`, token);
    const job = await test.fleet.queue('solution-check').getJob(handle.id);
    await job?.moveToFailed(new Error('the end of the test'), token);
    await sweepReservations(client, test.fleet.prefix);
  },
);
