import type { Redis } from 'ioredis';
import { virtualTimeKey } from '../../src/queues/redis-keys.js';

/** Takes the first jobs of a queue, as a worker does. @returns their ids, fewer if there are no more. */
export async function takeJobs(
  client: Redis,
  prefix: string,
  queue: string,
  count: number,
): Promise<string[]> {
  const key = `${prefix}:${queue}`;
  const taken: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const [id] = await client.zpopmin(`${key}:prioritized`);
    if (id === undefined) break;
    const tag = Number(await client.hget(`${key}:${id}`, 'priority'));
    const now = Number((await client.get(virtualTimeKey(prefix, queue))) ?? 0);
    if (tag > now) await client.set(virtualTimeKey(prefix, queue), tag);
    taken.push(id);
  }
  return taken;
}
