import type { Redis } from 'ioredis';
import { redisHealth } from '../../queues/redis-health.js';
import type { Problem } from './problem.js';

/** How long Redis may take to accept a small write, in milliseconds. */
const WRITE_MS = 5_000;

/** Finds a Redis that can be read and refuses writes: its memory is full, or it says why. */
export async function findRefusedWrites(client: Redis, prefix: string): Promise<readonly Problem[]> {
  const { redis, reason = 'it did not answer a write in time' } = await redisHealth(client, prefix, WRITE_MS);
  return redis === 'ok' ? [] : [{ problem: 'refused-writes', id: 'redis', detail: reason }];
}
