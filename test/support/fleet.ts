import { EventEmitter, once } from 'node:events';
import { type Logger, pino } from 'pino';
import { onTestFinished } from 'vitest';
import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { FleetWorker, type WorkerOptions } from '../../src/fleet/worker.js';
import { FleetClient, type FleetClientOptions } from '../../src/producers/fleet-client.js';
import { leaks, runnerFor } from './agent-answers.js';
import { checkInvariants } from './invariants.js';
import { type MessagesApi, type Script, startMessagesApi } from './messages-api.js';
import type { TestRedis } from './redis.js';

export interface TestFleet {
  readonly fleet: FleetClient;
  /** A worker in this process; stopped with the fleet. */
  worker(runner: AgentRunner, options?: Partial<WorkerOptions>): Promise<FleetWorker>;
  readonly logger: Logger;
  /** Log lines of the workers, parsed. */
  readonly logLines: readonly Record<string, unknown>[];
  /** Resolves once a log line contains the text. */
  logged(text: string): Promise<void>;
  /**
   * Stops the workers and checks the fleet's invariants.
   * @param options.damaged The test damaged the data on purpose.
   */
  close(options?: { readonly damaged?: boolean }): Promise<void>;
}

/**
 * A producer's connection and workers on a test's Redis, under a separate prefix. They wait for a Redis that answers late, as
 * it does on a busy machine; a test about the time limits passes `waitForSlow: false`.
 */
export async function startTestFleet(
  redis: TestRedis,
  prefix: string,
  options: Partial<FleetClientOptions> = {},
): Promise<TestFleet> {
  const fleet = await FleetClient.open({ redisUrl: redis.url, prefix, waitForSlow: true, ...options });
  const workers: FleetWorker[] = [];
  const logLines: Record<string, unknown>[] = [];
  const lineAdded = new EventEmitter();
  const write = (line: string) => {
    logLines.push(JSON.parse(line));
    lineAdded.emit('line');
  };
  const logger = pino({ level: 'debug' }, { write });
  return {
    fleet,
    logger,
    logLines,
    logged: async (text) => {
      while (!logLines.some(({ msg }) => String(msg).includes(text))) await once(lineAdded, 'line');
    },
    worker: async (runner, workerOptions = {}) => {
      const worker = await FleetWorker.start({
        redisUrl: redis.url,
        waitForSlow: true,
        prefix,
        runner,
        logger,
        concurrency: 5,
        lockMs: 30_000,
        ...workerOptions,
      });
      workers.push(worker);
      return worker;
    },
    close: async ({ damaged = false } = {}) => {
      try {
        await Promise.all(workers.map((worker) => worker.stop(5_000)));
        // A test may end with its Redis away.
        if (!damaged && fleet.client.status === 'ready') await checkInvariants(fleet.client, prefix);
      } finally {
        await fleet.close();
      }
    },
  };
}

let fleets = 0;

/**
 * For the test that runs, or is about to: a fleet under a separate prefix and a Messages API that answers its
 * agents (default: no leak anywhere), both closed when the test has finished.
 */
export async function fleetOfTest(
  redis: TestRedis,
  name: string,
  reply: Script = () => leaks(),
): Promise<{ test: TestFleet; api: MessagesApi }> {
  fleets += 1;
  const test = await startTestFleet(redis, `${name}-${fleets}`);
  const api = await startMessagesApi({ reply });
  onTestFinished(async () => {
    await test.close();
    await api.close();
  });
  return { test, api };
}

/** The same, with the runner that calls the Messages API. */
export async function fleetWithRunner(
  redis: TestRedis,
  name: string,
  reply: Script,
): Promise<TestFleet & { readonly api: MessagesApi; readonly runner: AgentRunner }> {
  const { test, api } = await fleetOfTest(redis, name, reply);
  return { ...test, api, runner: runnerFor(api) };
}
