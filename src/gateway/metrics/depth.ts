import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { FleetClient } from '../../producers/fleet-client.js';

/** How full a queue is. */
export interface Depth {
  /** Ready to start: plain and prioritized. */
  readonly waiting: number;
  /** Delayed, and due. */
  readonly due: number;
  readonly delayed: number;
  readonly waitingChildren: number;
  readonly active: number;
  /** Failed jobs that are still kept. */
  readonly failed: number;
  readonly completed: number;
  /** The number to scale by: waiting, due and active. */
  readonly load: number;
  /** Everything that has not started. */
  readonly unstarted: number;
  /** Age of the oldest job that is ready, in seconds; undefined if none is. */
  readonly oldestSeconds: number | undefined;
}

/** BullMQ orders prioritized jobs by priority × 2^32 + a counter, and delayed jobs by time × 2^12 + a counter. */
const PRIORITY_SHIFT = 2 ** 32;
const DELAY_SHIFT = 2 ** 12;

/** Reads how full a queue is, in two round trips whatever its length. */
export async function readDepth(fleet: FleetClient, name: string, now = Date.now()): Promise<Depth> {
  const { client } = fleet;
  const queue = fleet.queue(name);
  const prioritized = queue.toKey('prioritized');
  const [counts, due, oldestWaiting, mostUrgent, leastUrgent] = await Promise.all([
    queue.getJobCounts('wait', 'prioritized', 'delayed', 'waiting-children', 'active', 'failed', 'completed'),
    client.zcount(queue.toKey('delayed'), '-inf', now * DELAY_SHIFT + DELAY_SHIFT - 1),
    client.lindex(queue.toKey('wait'), -1),
    client.zrange(prioritized, '0', '0'),
    client.zrange(prioritized, '-1', '-1', 'WITHSCORES'),
  ]);
  const count = (name: string) => counts[name] ?? 0;
  const band = Math.floor(Number(leastUrgent[1] ?? 0) / PRIORITY_SHIFT) * PRIORITY_SHIFT;
  // The longest wait is that of the first job of the last priority, or of the first job in one of the two lists.
  const starved =
    leastUrgent.length === 0 ? [] : await client.zrangebyscore(prioritized, band, '+inf', 'LIMIT', 0, 1);
  const ids = [oldestWaiting, mostUrgent[0], starved[0]].filter((id): id is string => typeof id === 'string');
  const waiting = count('wait') + count('prioritized');
  return {
    waiting,
    due,
    delayed: count('delayed'),
    waitingChildren: count('waiting-children'),
    active: count('active'),
    failed: count('failed'),
    completed: count('completed'),
    load: waiting + due + count('active'),
    unstarted: waiting + count('delayed') + count('waiting-children'),
    oldestSeconds: await oldestAge(client, queue, ids, now),
  };
}

async function oldestAge(
  client: Redis,
  queue: Queue,
  ids: readonly string[],
  now: number,
): Promise<number | undefined> {
  if (ids.length === 0) return undefined;
  const times = await Promise.all(
    ids.map(async (id) => {
      const [timestamp, delay] = await client.hmget(queue.toKey(id), 'timestamp', 'delay');
      return timestamp === null || timestamp === undefined ? now : Number(timestamp) + Number(delay ?? 0);
    }),
  );
  return Math.max(0, (now - Math.min(...times)) / 1_000);
}
