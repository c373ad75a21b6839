import type { Job } from 'bullmq';
import { messageOf } from '../errors.js';
import { UNSCHEDULED } from '../queues/fairness/schedule-script.js';
import { forgetChildren } from '../queues/job-flags.js';
import { waitAgain } from '../queues/wait-again.js';
import type { FleetJobOptions } from './add-job.js';
import type { FleetClient } from './fleet-client.js';
import { schedule } from './schedule-submitted.js';

/**
 * Runs a failed job again with a fresh set of attempts. It gets a new start tag: with their old tags, thousands of failed
 * jobs that are retried at once would all run before the jobs of others. A parent that failed with the job waits for it again.
 * The caller asks for room first, before anything is changed.
 * @returns whether it did: it does not if somebody else was faster.
 */
export async function requeueWithNewPriority(
  fleet: FleetClient,
  queueName: string,
  job: Job,
): Promise<boolean> {
  const id = job.id ?? '';
  const fleetOptions = (job.opts as FleetJobOptions).fleet;
  if (fleet.kinds.has(queueName)) {
    await job.changePriority({ priority: UNSCHEDULED });
    // A full Redis takes the scripts around this one. It refuses this one, and so the retry.
    await schedule(fleet, [{ queue: queueName, id, data: job.data, ...fleetOptions }]);
    await forgetChildren(fleet.client, fleet.jobKey(queueName, id));
  }
  try {
    await job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
    if (job.parentKey !== undefined) await waitAgain(fleet.client, job.parentKey);
    return true;
  } catch (thrown) {
    if (/is not in the failed state/.test(messageOf(thrown))) return false;
    throw thrown;
  }
}
