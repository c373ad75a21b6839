import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { ALL_REFUSALS } from '../support/refusing-redis.js';

/** Refusals that a script in a transaction meets at its first write. */
const MET_INSIDE = ['OOM', 'READONLY', 'NOREPLICAS', 'NOPERM'] as const;

const redis = redisOfFile();
let test: TestFleet;
let admin: Redis;
beforeAll(async () => {
  test = await startTestFleet(redis, 'refused-flow');
  admin = new Redis({ path: redis.socketPath });
});
afterAll(async () => {
  admin.disconnect();
  await test.close();
});

it.each(MET_INSIDE)(
  'a flow is not added if Redis begins to refuse by %s in its transaction',
  async (name) => {
    const { fleet } = test;
    const flow = {
      name: 'extract',
      queueName: 'extract',
      opts: { jobId: `extract-${name}` },
      children: [{ name: 'summarize', queueName: 'summarize', opts: { jobId: `summarize-${name}` } }],
    };
    await fleet.flows.waitUntilReady();
    const { begin, end } = ALL_REFUSALS[name];
    await begin(admin, redis);
    try {
      await expect(fleet.flows.addBulk([flow])).rejects.toThrow();
    } finally {
      await end(admin, redis);
    }
    await fleet.flows.addBulk([flow]);
    expect(await fleet.queue('extract').getJobState(`extract-${name}`)).toBe('waiting-children');
  },
);
