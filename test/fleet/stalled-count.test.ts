import { Worker } from 'bullmq';
import { expect, it } from 'vitest';
import { MAX_STALLED_COUNT } from '../../src/calls/retry-table.js';
import { retryJob } from '../../src/producers/retry-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { fleetOfTest } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();

it('a job that stalled too often is ended, and begins with reset counters when it is retried', async () => {
  const { test, api } = await fleetOfTest(redis, 'stalled-count', () => leaks());
  const queue = test.fleet.queue('solution-check');
  const handle = await addSolutionCheck(test.fleet, { solution: { content: 'x = 1\n' } });
  const key = queue.toKey(handle.id);
  await test.fleet.client.hset(key, 'stc', MAX_STALLED_COUNT, 'fleet:crashes', 'one@1 two@2');
  // Holds the job until its lock runs out, and never looks at it again.
  const dead = new Worker(queue.name, null, {
    connection: { url: redis.url },
    prefix: test.fleet.prefix,
    lockDuration: 200,
    autorun: false,
  });
  expect((await dead.getNextJob('token'))?.id).toBe(handle.id);
  await test.worker(runnerFor(api), { lockMs: 2_000 });
  expect(await handle.wait()).toMatchObject({
    state: 'failed',
    error: { code: 'job-failed', message: expect.stringContaining('stalled') },
  });
  await expect.poll(() => test.fleet.client.hmget(key, 'stc', 'fleet:crashes')).toEqual([null, null]);
  await retryJob(test.fleet, handle.id);
  expect((await handle.result()).status).toBe('clean');
  await dead.close();
});
