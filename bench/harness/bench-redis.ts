import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { acquireEmbeddedRedis } from '../../src/fleet/embedded-redis.js';
import { workerConnection } from '../../src/queues/connection.js';

/** The Redis of a benchmark run: embedded, append-only, its own. */
export interface BenchRedis {
  readonly url: string;
  readonly client: Redis;
  flush(): Promise<void>;
  /** Commands that Redis has processed since it started. */
  commands(): Promise<number>;
  /** Bytes of memory that Redis uses for data. */
  memory(): Promise<number>;
  close(): Promise<void>;
}

async function infoNumber(client: Redis, section: string, field: string): Promise<number> {
  const text = await client.info(section);
  return Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN);
}

export async function startBenchRedis(): Promise<BenchRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-bench-'));
  const { url, release } = await acquireEmbeddedRedis(folder);
  const client = new Redis(workerConnection(url));
  return {
    url,
    client,
    flush: async () => {
      await client.flushall();
    },
    commands: () => infoNumber(client, 'stats', 'total_commands_processed'),
    memory: () => infoNumber(client, 'memory', 'used_memory_dataset'),
    close: async () => {
      client.disconnect();
      await release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
