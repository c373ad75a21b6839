import type { Job } from 'bullmq';
import { UNSCHEDULED } from '../queues/fairness/schedule-script.js';
import { forgetFailedChildren } from '../queues/job-flags.js';
import { isKindName } from '../queues/registry.js';
import type { FleetJobOptions } from './add-job.js';
import type { FleetClient } from './fleet-client.js';
import { scheduleSubmitted } from './schedule-submitted.js';

/**
 * Runs a failed job again with a fresh set of attempts. It gets a new start tag: with their old tags, thousands of failed
 * jobs that are retried at once would all run before the jobs of others. The caller asks for room first, before anything
 * is changed.
 */
export async function requeueWithNewPriority(fleet: FleetClient, queueName: string, job: Job): Promise<void> {
  const id = job.id ?? '';
  const fleetOptions = (job.opts as FleetJobOptions).fleet;
  if (isKindName(queueName)) {
    await forgetFailedChildren(fleet.client, fleet.jobKey(queueName, id));
    await job.changePriority({ priority: UNSCHEDULED });
    await scheduleSubmitted(fleet, [{ queue: queueName, id, data: job.data, ...fleetOptions }]);
  }
  await job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
}
