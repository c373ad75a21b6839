import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AttemptStarter } from '../../src/fleet/attempt-starter.js';
import { connectProducer } from '../../src/queues/connection.js';
import { virtualTimeKey } from '../../src/queues/fairness/schedule-jobs.js';
import { UNSCHEDULED } from '../../src/queues/fairness/schedule-script.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let client: Redis;

beforeAll(async () => {
  client = await connectProducer(redis.url);
});

afterAll(() => client.disconnect());

/** A job in the hands of a worker, as its hash and its lock are in Redis. */
async function held(key: string, fields: Record<string, string | number> = {}, token = key): Promise<string> {
  await client.hset(key, { name: 'job', ...fields });
  await client.set(`${key}:lock`, token);
  return key;
}

const evalCalls = async () =>
  Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);

describe('runs that begin at the same time', () => {
  it('are told apart: each gets its own lock, cancellation, crashes and ledger', async () => {
    const prefix = 'apart';
    const key = (id: string) => `${prefix}:extract:${id}`;
    const plain = await held(key('plain'));
    const lost = await held(key('lost'), {}, 'of another worker');
    const cancelled = await held(key('cancelled'), { 'fleet:cancelled': 1 });
    const again = await held(key('again'), { 'fleet:attempt': 'earlier@0' });
    const takenOver = await held(key('taken over'), {
      'fleet:attempt': 'second@1',
      'fleet:crashes': 'first@0',
    });
    const paid = await held(key('paid'), { 'fleet:ledger': '{}' });
    const starter = new AttemptStarter(client);
    const begun = await Promise.all(
      [plain, lost, cancelled, again, takenOver, paid].map((each) => starter.begin(each, each, 2)),
    );
    const nothing = { ownsLock: true, cancelled: false, crashes: 0, hasLedger: false };
    expect(begun).toMatchObject([
      nothing,
      { ownsLock: false },
      { ...nothing, cancelled: true },
      { ...nothing, crashes: 1 },
      { ...nothing, crashes: 2 },
      { ...nothing, hasLedger: true },
    ]);
    expect(new Set(begun.map(({ attempt }) => attempt)).size).toBe(begun.length);
    const marks = (job: string) => client.hmget(job, 'fleet:attempt', 'fleet:crashes');
    expect(await marks(plain)).toEqual([begun[0]?.attempt, null]);
    expect(await marks(lost)).toEqual([null, null]);
    // What has killed a worker is marked when its turn comes.
    expect(await marks(again)).toEqual([null, 'earlier@0']);
    expect(await marks(takenOver)).toEqual([null, 'first@0 second@1']);
  });

  it('carry the virtual time of their own queue to the latest of their turns', async () => {
    const prefix = 'turns';
    const clock = (queue: string) => virtualTimeKey(prefix, queue);
    await client.set(clock('extract'), 3);
    await client.set(clock('summarize'), 8);
    const jobs = [
      await held(`${prefix}:extract:late`, { priority: 7 }),
      await held(`${prefix}:extract:early`, { priority: 5 }),
      await held(`${prefix}:extract:unplaced`, { priority: UNSCHEDULED }),
      await held(`${prefix}:extract:lost`, { priority: 9 }, 'of another worker'),
      await held(`${prefix}:summarize:old`, { priority: 4 }),
    ];
    const starter = new AttemptStarter(client);
    await Promise.all(jobs.map((key) => starter.begin(key, key, 0)));
    expect(await client.mget(clock('extract'), clock('summarize'))).toEqual(['7', '8']);
  });

  it('take a round trip for twenty of them, and each of many is marked', async () => {
    const keys = Array.from({ length: 60 }, (_, at) => `many:extract:${at}`);
    await Promise.all(keys.map((key) => held(key)));
    const starter = new AttemptStarter(client);
    await starter.begin(keys[0] ?? '', keys[0] ?? '', 0);
    const before = await evalCalls();
    const begun = await Promise.all(keys.map((key) => starter.begin(key, key, 0)));
    expect((await evalCalls()) - before).toBe(3);
    const marks = await Promise.all(keys.map((key) => client.hget(key, 'fleet:attempt')));
    expect(marks).toEqual(begun.map(({ attempt }) => attempt));
  });

  it('fail each where Redis cannot be asked, and so do later ones rather than wait for ever', async () => {
    const away = client.duplicate({ enableOfflineQueue: false, retryStrategy: () => null });
    away.on('error', () => undefined);
    const starter = new AttemptStarter(away);
    away.disconnect();
    const keys = ['away:extract:1', 'away:summarize:2'];
    const outcomes = await Promise.allSettled(keys.map((key) => starter.begin(key, key, 0)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const later = starter.begin('away:extract:3', 'away:extract:3', 0);
    await expect(later).rejects.toThrow();
  });
});
