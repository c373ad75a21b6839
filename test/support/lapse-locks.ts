import type { Redis } from 'ioredis';

/**
 * Lets the locks of killed workers run out at once. A test can then give workers a long lock, which none of them loses while the
 * machine is busy, and its jobs stall as soon as another worker looks for such jobs.
 */
export async function lapseLocks(client: Redis, prefix: string): Promise<void> {
  // The second key of each queue keeps workers from looking again soon after another one did.
  const keys = await Promise.all(['lock', 'stalled-check'].map((end) => client.keys(`${prefix}:*:${end}`)));
  for (const key of keys.flat()) await client.del(key);
}
