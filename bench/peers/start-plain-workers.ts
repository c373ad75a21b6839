import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages';
import { Queue } from 'bullmq';
import { workerConnection } from '../../src/queues/connection.js';
import { type BenchProcess, startBenchProcess } from '../harness/child-process.js';
import type { RowContext } from '../harness/row.js';

export interface PlainWorkers {
  /** A request with one text. */
  request(text: string, system?: string): MessageCreateParamsNonStreaming;
  /** Adds a job for each list of requests. */
  add(jobs: readonly (readonly MessageCreateParamsNonStreaming[])[]): Promise<void>;
  untilCompleted(count: number): Promise<void>;
  kill(): Promise<void>;
  /** Starts as many more. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const MODEL = 'claude-sonnet-5-5';
const ATTEMPTS = { attempts: 20, backoff: { type: 'exponential', delay: 1_000 } } as const;

/** Worker processes without the fleet, once they are ready. */
export async function startPlainWorkers(
  { redis, prefix: newPrefix }: RowContext,
  count: number,
  options: { readonly apiUrl: string; readonly concurrency: number; readonly lockMs?: number },
): Promise<PlainWorkers> {
  const prefix = newPrefix();
  const queue = new Queue('plain', { connection: workerConnection(redis.url), prefix });
  const environment = {
    REDIS_URL: redis.url,
    PREFIX: prefix,
    CONCURRENCY: String(options.concurrency),
    LOCK_MS: String(options.lockMs ?? 30_000),
    ANTHROPIC_API_KEY: 'bench',
    ANTHROPIC_BASE_URL: options.apiUrl,
  };
  const start = () =>
    Promise.all(Array.from({ length: count }, () => startBenchProcess('plain-worker.ts', environment)));
  let processes: BenchProcess[] = await start();
  const kill = async () => {
    await Promise.all(processes.map((each) => each.kill()));
    processes = [];
  };
  return {
    request: (text, system) => ({
      model: MODEL,
      max_tokens: 32_000,
      ...(system === undefined
        ? {}
        : { system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }] }),
      messages: [{ role: 'user', content: text }],
    }),
    add: async (jobs) => {
      await queue.addBulk(jobs.map((requests) => ({ name: 'ask', data: { requests }, opts: ATTEMPTS })));
    },
    untilCompleted: async (wanted) => {
      while ((await queue.getCompletedCount()) < wanted) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    kill,
    restart: async () => {
      processes = await start();
    },
    close: async () => {
      await kill();
      await queue.close();
    },
  };
}
