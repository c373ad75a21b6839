import type { Redis } from 'ioredis';

/** How full Redis is, in bytes. */
export interface RedisMemory {
  /** Everything that Redis has allocated. */
  readonly used: number;
  /** What Redis compares with its limit: buffers of replicas and of the append-only file do not count. */
  readonly counted: number;
  /** Redis rejects writes from here on (`maxmemory`); undefined if no limit is set. */
  readonly limit: number | undefined;
  /** Memory of the machine that Redis runs on; undefined if Redis does not report it. */
  readonly machine: number | undefined;
}

/** Reads the memory section of INFO. */
export function parseRedisMemory(info: string): RedisMemory {
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  const used = field('used_memory');
  return {
    used,
    counted: Math.max(0, used - field('mem_not_counted_for_evict')),
    limit: field('maxmemory') || undefined,
    machine: field('total_system_memory') || undefined,
  };
}

export async function readRedisMemory(client: Redis): Promise<RedisMemory> {
  return parseRedisMemory(await client.info('memory'));
}
