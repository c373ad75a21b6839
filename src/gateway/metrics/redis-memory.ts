import type { Redis } from 'ioredis';

/** How full Redis is, in bytes. */
export interface RedisMemory {
  readonly used: number;
  /** From here on Redis takes no more jobs; undefined where no limit is set. */
  readonly limit: number | undefined;
}

export async function readRedisMemory(client: Redis): Promise<RedisMemory> {
  const info = await client.info('memory');
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  const limit = field('maxmemory');
  return { used: field('used_memory'), limit: limit === 0 ? undefined : limit };
}
