import type { Job } from 'bullmq';
import { messageOf } from '../errors.js';
import { readJob } from '../queues/damaged-job.js';
import { UNSCHEDULED } from '../queues/fairness/schedule-script.js';
import { forgetChildren } from '../queues/job-flags.js';
import { parseJobKey } from '../queues/job-key.js';
import { waitAgain } from '../queues/wait-again.js';
import type { FleetClient } from './fleet-client.js';
import type { FleetJobOptions } from './job-options.js';
import { waitForRetriedChildren } from './retry-flow.js';
import { schedule } from './schedule-submitted.js';

/**
 * Runs a failed job again with a fresh set of attempts. It gets a new start tag: with their old tags, thousands of failed
 * jobs that are retried at once would all run before the jobs of others. A parent that failed with the job waits for it again,
 * and the job waits for failed children without which it cannot run: they run again first.
 * The caller asks for room first, before anything is changed.
 * @returns whether it did: it does not if somebody else was faster.
 */
export async function requeueWithNewPriority(
  fleet: FleetClient,
  queueName: string,
  job: Job,
): Promise<boolean> {
  const id = job.id ?? '';
  const runAgain = (name: string, child: Job) => requeueWithNewPriority(fleet, name, child);
  if (await waitForRetriedChildren(fleet, queueName, job, runAgain)) return true;
  const fleetOptions = (job.opts as FleetJobOptions).fleet;
  if (fleet.kinds.has(queueName)) {
    await job.changePriority({ priority: UNSCHEDULED });
    // A full Redis takes the scripts around this one. It refuses this one, and so the retry.
    await schedule(fleet, [{ queue: queueName, id, data: job.data, ...fleetOptions }]);
    await forgetChildren(fleet.client, fleet.jobKey(queueName, id));
  }
  try {
    await job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
  } catch (thrown) {
    if (/is not in the failed state/.test(messageOf(thrown))) return false;
    throw thrown;
  }
  if (job.parentKey !== undefined) await runParentAgain(fleet, job.parentKey);
  return true;
}

/** A parent that failed with a child waits for it. It runs if the child has ended before it could wait. */
async function runParentAgain(fleet: FleetClient, parentKey: string): Promise<void> {
  if ((await waitAgain(fleet.client, parentKey)) !== 'ready') return;
  const { queue, id } = parseJobKey(parentKey);
  const parent = await readJob(fleet.queue(queue), id);
  if (parent !== undefined) await requeueWithNewPriority(fleet, queue, parent);
}
