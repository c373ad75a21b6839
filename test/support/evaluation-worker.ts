import { type Job, Worker } from 'bullmq';
import type { FleetClient } from '../../src/producers/fleet-client.js';
import { workerConnection } from '../../src/queues/connection.js';
import type { TestRedis } from './redis.js';

/** A pipeline's worker on a pipeline queue, under the fleet's prefix. Records the jobs that really ran. */
export function startPipelineWorker(
  redis: TestRedis,
  fleet: FleetClient,
  queue: string,
  run: (job: Job) => Promise<unknown>,
): { readonly ran: string[]; close(): Promise<void> } {
  const ran: string[] = [];
  const worker = new Worker(
    queue,
    async (job) => {
      ran.push(job.id ?? '');
      return run(job);
    },
    { connection: workerConnection(redis.url), prefix: fleet.prefix, concurrency: 5 },
  );
  return { ran, close: () => worker.close() };
}
