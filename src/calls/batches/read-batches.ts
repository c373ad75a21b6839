import type { Redis } from 'ioredis';
import { batchBase } from '../../queues/redis-keys.js';

/** How many calls wait in batches, or for one. */
export async function readBatches(
  client: Redis,
  prefix: string,
): Promise<{ readonly queued: number; readonly sent: number; readonly batches: number }> {
  const base = batchBase(prefix);
  const [queued, open] = await Promise.all([
    client.zcard(`${base}:pending`),
    client.zrange(`${base}:open`, '0', '-1'),
  ]);
  const sizes = await Promise.all(open.map((name) => client.scard(`${base}:of:${name}:lines`)));
  return { queued, sent: sizes.reduce((sum, size) => sum + size, 0), batches: open.length };
}
