import { mkdir, mkdtemp, rm } from 'node:fs/promises';
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
  version(): Promise<string>;
  /** Commands that Redis has processed since it started. */
  commands(): Promise<number>;
  /** Bytes of memory that Redis uses for data. */
  memory(): Promise<number>;
  /** What Redis has done since it started. */
  work(): Promise<RedisWork>;
  close(): Promise<void>;
}

/** Counters of Redis; the difference of two is what happened in between. */
export interface RedisWork {
  /** Commands, those inside scripts included. */
  readonly commands: number;
  /** Bytes that clients sent. */
  readonly bytesIn: number;
  /** Bytes that Redis sent to clients. */
  readonly bytesOut: number;
  /** Microseconds of the server's main thread. */
  readonly cpuUs: number;
}

async function infoNumber(client: Redis, section: string, field: string): Promise<number> {
  const text = await client.info(section);
  return Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(text)?.[1] ?? Number.NaN);
}

async function workOf(client: Redis): Promise<RedisWork> {
  const text = await client.info();
  const field = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1] ?? Number.NaN);
  const seconds = field('used_cpu_user_main_thread') + field('used_cpu_sys_main_thread');
  return {
    commands: field('total_commands_processed'),
    bytesIn: field('total_net_input_bytes'),
    bytesOut: field('total_net_output_bytes'),
    cpuUs: seconds * 1_000_000,
  };
}

export async function startBenchRedis(): Promise<BenchRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-bench-'));
  // A run writes nothing to the user's state directory.
  process.env.XDG_STATE_HOME = join(folder, 'state');
  const project = join(folder, 'project');
  await mkdir(project);
  const { url, release } = await acquireEmbeddedRedis(project);
  const client = new Redis(workerConnection(url));
  return {
    url,
    client,
    flush: async () => {
      await client.flushall();
    },
    version: async () => /^redis_version:(\S+)/m.exec(await client.info('server'))?.[1] ?? 'unknown',
    commands: () => infoNumber(client, 'stats', 'total_commands_processed'),
    memory: () => infoNumber(client, 'memory', 'used_memory_dataset'),
    work: () => workOf(client),
    close: async () => {
      client.disconnect();
      await release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
