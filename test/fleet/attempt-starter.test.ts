import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AttemptStarter } from '../../src/fleet/attempt-starter.js';
import { connectProducer } from '../../src/queues/connection.js';
import { UNSCHEDULED } from '../../src/queues/fairness/schedule-script.js';
import { virtualTimeKey } from '../../src/queues/redis-keys.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let client: Redis;

beforeAll(async () => {
  client = await connectProducer(redis.url, { waitForSlow: true });
});

afterAll(() => client.disconnect());

/** A job that a worker owns: its hash and its lock. */
async function lockedJob(
  key: string,
  fields: Record<string, string | number> = {},
  token = key,
): Promise<string> {
  await client.hset(key, { name: 'job', ...fields });
  await client.set(`${key}:lock`, token);
  return key;
}

const evalCalls = async () =>
  Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);

describe('runs that begin at the same time', () => {
  it('are separate: each has its own lock, cancellation, crashes and ledger', async () => {
    const prefix = 'apart';
    const key = (id: string) => `${prefix}:extract:${id}`;
    const plain = await lockedJob(key('plain'));
    const lost = await lockedJob(key('lost'), {}, 'of another worker');
    const cancelled = await lockedJob(key('cancelled'), { 'fleet:cancelled': 1 });
    const again = await lockedJob(key('again'), { 'fleet:attempt': 'earlier@0' });
    const takenOver = await lockedJob(key('taken over'), {
      'fleet:attempt': 'second@1',
      'fleet:crashes': 'first@0',
    });
    const paid = await lockedJob(key('paid'), { 'fleet:ledger': '{}' });
    const below = await lockedJob(key('below a cancelled job'));
    const odd = await lockedJob(key('below a key of another type'));
    const deeper = await lockedJob(key('two levels below it'));
    await client.hset(key('of a pipeline'), { name: 'job', parentKey: cancelled });
    await client.set(key('text'), 'x');
    const parentOf = new Map([
      [below, cancelled],
      [odd, key('text')],
      [paid, plain],
      [deeper, key('of a pipeline')],
    ]);
    const starter = new AttemptStarter(client);
    const started = await Promise.all(
      [plain, lost, cancelled, again, takenOver, paid, below, odd, deeper].map((each) =>
        starter.begin(each, each, 2, parentOf.get(each)),
      ),
    );
    const nothing = { ownsLock: true, cancelled: false, crashes: 0, hasLedger: false };
    expect(started).toMatchObject([
      nothing,
      { ownsLock: false },
      { ...nothing, cancelled: true },
      { ...nothing, crashes: 1 },
      { ...nothing, crashes: 2 },
      { ...nothing, hasLedger: true },
      { ...nothing, cancelled: true },
      nothing,
      { ...nothing, cancelled: true },
    ]);
    expect(await client.hget(below, 'fleet:cancelled')).toBe('1');
    expect(new Set(started.map(({ attempt }) => attempt)).size).toBe(started.length);
    const markers = (job: string) => client.hmget(job, 'fleet:attempt', 'fleet:crashes');
    expect(await markers(plain)).toEqual([started[0]?.attempt, null]);
    expect(await markers(lost)).toEqual([null, null]);
    // A job that has crashed a worker gets its marker when it is processed.
    expect(await markers(again)).toEqual([null, 'earlier@0']);
    expect(await markers(takenOver)).toEqual([null, 'first@0 second@1']);
  });

  it('advance the virtual time of their queue to the highest of their start tags', async () => {
    const prefix = 'turns';
    const clock = (queue: string) => virtualTimeKey(prefix, queue);
    await client.set(clock('extract'), 3);
    await client.set(clock('summarize'), 8);
    const jobs = [
      await lockedJob(`${prefix}:extract:late`, { priority: 7 }),
      await lockedJob(`${prefix}:extract:early`, { priority: 5 }),
      await lockedJob(`${prefix}:extract:unplaced`, { priority: UNSCHEDULED }),
      await lockedJob(`${prefix}:extract:lost`, { priority: 9 }, 'of another worker'),
      await lockedJob(`${prefix}:summarize:old`, { priority: 4 }),
    ];
    const starter = new AttemptStarter(client);
    await Promise.all(jobs.map((key) => starter.begin(key, key, 0)));
    expect(await client.mget(clock('extract'), clock('summarize'))).toEqual(['7', '8']);
  });

  it('need one round trip for twenty of them, and each of many gets a marker', async () => {
    const keys = Array.from({ length: 60 }, (_, at) => `many:extract:${at}`);
    await Promise.all(keys.map((key) => lockedJob(key)));
    const starter = new AttemptStarter(client);
    await starter.begin(keys[0] ?? '', keys[0] ?? '', 0);
    const before = await evalCalls();
    const started = await Promise.all(keys.map((key) => starter.begin(key, key, 0)));
    expect((await evalCalls()) - before).toBe(3);
    const markers = await Promise.all(keys.map((key) => client.hget(key, 'fleet:attempt')));
    expect(markers).toEqual(started.map(({ attempt }) => attempt));
  });

  it('all fail if Redis is unreachable, and so do later ones instead of waiting forever', async () => {
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
