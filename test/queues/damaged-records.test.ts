import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KnownStore } from '../../src/known/known-store.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { knownKeys } from '../../src/queues/redis-keys.js';
import { readWorkerReports, writeWorkerReport } from '../../src/queues/worker-report.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const PREFIX = 'damaged';
const redis = redisOfFile();
let test: TestFleet;
beforeAll(async () => {
  test = await startTestFleet(redis, PREFIX);
});
afterAll(() => test.close({ damaged: true }));

describe('damaged records in Redis', () => {
  it.each(['', 'x', 'inf', '1e300', '-1', 'nan'])(
    'a number of calls that is %j keeps no job from being read, and Redis not busy',
    async (number) => {
      const { client } = test.fleet;
      const job = await addSolutionCheck(test.fleet, { solution: { content: 'x = 1\n' } });
      await client.hset(`${PREFIX}:solution-check:${job.id}`, 'fleet:ledger', number);
      expect((await job.view()).state).toBe('waiting');
    },
  );

  it("a worker's report hides no report of another worker", async () => {
    const { client } = test.fleet;
    const now = Date.now();
    const report = { at: now, kinds: [], eventLoopLagSeconds: 0, residentBytes: 1, upSeconds: 1 };
    await writeWorkerReport(client, PREFIX, 'whole', report);
    await client.hset(`${PREFIX}::workers`, { damaged: '{"at":', empty: '', foreign: '[]' });
    expect([...(await readWorkerReports(client, PREFIX, now)).keys()]).toEqual(['whole']);
  });

  it('a known solution is named, and not passed over', async () => {
    const { client } = test.fleet;
    const { entries, ofCase } = knownKeys(PREFIX);
    await client.hset(entries, 'h:task', '{"testCaseId":"task"');
    await client.sadd(ofCase('task'), 'h:task');
    await expect(new KnownStore(client, PREFIX).ofCase('task')).rejects.toMatchObject({
      code: 'broken-record',
      message: expect.stringContaining('known solution h:task'),
    });
  });

  it('fingerprints of a known solution that are cut are read as far as they go', async () => {
    const { client } = test.fleet;
    await client.hset(knownKeys(PREFIX).fingerprints, 'h:task', Buffer.from([1, 0, 0, 0, 2]));
    expect(await new KnownStore(client, PREFIX).fingerprintsOf(['h:task'])).toEqual([Int32Array.of(1)]);
  });
});
