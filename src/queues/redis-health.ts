import type { Redis } from 'ioredis';
import { succeedsWithin } from '../async.js';
import { writeProbeKey } from './redis-keys.js';
import { refusalOf, saysFull } from './redis-refusal.js';

/** Time to live of the key that is written, in milliseconds. */
const PROBE_TTL_MS = 1_000;

/** Whether a Redis accepts writes. */
export interface RedisHealth {
  /** `full`: it has no memory left; `refuses`: it runs, and accepts no writes for another reason; `away`: no answer. */
  readonly redis: 'ok' | 'full' | 'refuses' | 'away';
  /** What Redis says, where it refuses. */
  readonly reason?: string;
}

/**
 * Writes a small key with an expiry: a Redis that answers may still refuse what the fleet has to write.
 * @param client A client of `connectProducer` or `connectWithin`.
 * @param timeoutMs A later answer counts as none.
 */
export async function redisHealth(client: Redis, prefix: string, timeoutMs: number): Promise<RedisHealth> {
  try {
    const written = await succeedsWithin(
      client.set(writeProbeKey(prefix), '1', 'PX', PROBE_TTL_MS),
      timeoutMs,
    );
    return { redis: written ? 'ok' : 'away' };
  } catch (thrown) {
    if (saysFull(thrown)) return { redis: 'full', reason: "Redis's memory is full (maxmemory)" };
    const reason = refusalOf(thrown);
    return reason === undefined ? { redis: 'away' } : { redis: 'refuses', reason };
  }
}
