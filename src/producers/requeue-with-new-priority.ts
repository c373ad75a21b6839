import type { Job } from 'bullmq';
import type { FleetJobOptions } from './add-job.js';
import type { FleetClient } from './fleet-client.js';
import { turnsOf } from './turns.js';

/**
 * Runs a failed job again with a fresh set of attempts. It takes a new turn: with its old one, thousands of failed jobs
 * that are run again at once would all go before everybody else's. Whoever calls it asks for room first, before anything
 * is changed.
 */
export async function requeueWithNewPriority(fleet: FleetClient, queueName: string, job: Job): Promise<void> {
  const id = job.id ?? '';
  const own = (job.opts as FleetJobOptions).fleet;
  const turn = (await turnsOf(fleet, [{ queue: queueName, id, data: job.data, ...own }])).get(id);
  if (turn !== undefined) await job.changePriority({ priority: turn });
  await job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
}
