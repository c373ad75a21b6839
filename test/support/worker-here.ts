import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { createAnthropicRunner } from '../../src/agents/anthropic-runner.js';
import { FleetWorker, type WorkerOptions } from '../../src/fleet/worker.js';
import type { MessagesApi } from './messages-api.js';
import type { TestRedis } from './redis.js';

/**
 * A worker in the process of the test, beside or after those that are killed: a process is ten times as much work. It runs a job with
 * a crash here too. Stopped after the test.
 */
export async function workerHere(
  redis: Pick<TestRedis, 'url'>,
  prefix: string,
  api: MessagesApi,
  options: Partial<WorkerOptions> = {},
): Promise<FleetWorker> {
  const worker = await FleetWorker.start({
    redisUrl: redis.url,
    prefix,
    // As processes ask without other settings: answers that they have recorded are used.
    runner: createAnthropicRunner({ baseURL: api.url, apiKey: 'test-key', callRetries: 0 }),
    logger: pino({ level: 'silent' }),
    kinds: ['solution-check'],
    concurrency: 3,
    lockMs: 20_000,
    waitForSlow: true,
    ...options,
  });
  onTestFinished(() => worker.stop(0));
  return worker;
}
