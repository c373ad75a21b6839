import { once } from 'node:events';
import { openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { logDestination } from '../../src/fleet/logger.js';
import { FleetWorker } from '../../src/fleet/worker.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import type { KindName } from '../../src/queues/registry.js';
import type { RowContext } from './row.js';

/** A worker as `fleet worker` starts it, with its log in a file, and a producer's connection. */
export interface BenchFleet {
  readonly fleet: FleetClient;
  readonly worker: FleetWorker;
  close(): Promise<void>;
}

export async function startBenchFleet(
  context: RowContext,
  options: {
    readonly runner: AgentRunner;
    readonly kinds: readonly KindName[];
    readonly concurrency: number;
    readonly prefix?: string;
  },
): Promise<BenchFleet> {
  const prefix = options.prefix ?? context.prefix();
  const destination = logDestination(openSync(join(tmpdir(), `${prefix}-${process.pid}.log`), 'w'));
  const worker = await FleetWorker.start({
    redisUrl: context.redis.url,
    prefix,
    runner: options.runner,
    logger: pino({ level: 'info' }, destination),
    kinds: options.kinds,
    concurrency: options.concurrency,
    lockMs: 20_000,
  });
  const fleet = await FleetClient.open({ redisUrl: context.redis.url, prefix });
  return {
    fleet,
    worker,
    close: async () => {
      await worker.stop(5_000);
      await fleet.close();
      // This closes the file.
      destination.end();
      await once(destination, 'close');
    },
  };
}

/** How often the count is read, in milliseconds: rarely enough to cost nothing. */
const LOOK_MS = 20;

/** Resolves when so many jobs of a kind have completed; by the queue's own count. */
export async function untilCompleted(fleet: FleetClient, kind: KindName, count: number): Promise<void> {
  const queue = fleet.queue(kind);
  while ((await queue.getCompletedCount()) < count) {
    if ((await queue.getFailedCount()) > 0) {
      const [job] = await queue.getFailed(0, 0);
      throw new Error(`a job failed: ${job?.failedReason}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
