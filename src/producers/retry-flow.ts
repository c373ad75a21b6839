import type { Job } from 'bullmq';
import { JobError } from '../errors.js';
import { readJob } from '../queues/damaged-job.js';
import { CHILDREN_FIELD, clearCancelled } from '../queues/job-flags.js';
import { parseJobKey } from '../queues/job-key.js';
import { waitAgain } from '../queues/wait-again.js';
import type { FleetClient } from './fleet-client.js';

/**
 * Runs the failed children without which a failed job cannot run: BullMQ would run an evaluation without its check.
 * @param runAgain Runs a failed job again, and makes its parent wait.
 * @returns whether the job waits for children, so it must not be run itself.
 * @throws JobError `job-not-retryable` if such a child is no longer stored.
 */
export async function waitForRetriedChildren(
  fleet: FleetClient,
  queueName: string,
  id: string,
  runAgain: (queueName: string, job: Job) => Promise<boolean>,
): Promise<boolean> {
  const key = fleet.jobKey(queueName, id);
  const [keys, started] = await Promise.all([
    fleet.client.zrange(`${key}:unsuccessful`, '0', '-1'),
    fleet.client.hexists(key, CHILDREN_FIELD),
  ]);
  const children = await Promise.all(keys.map((child) => failedChild(fleet, child, id)));
  for (const { queue, job } of children) {
    // Somebody else has run it again.
    if ((await job.getState()) !== 'failed') continue;
    await clearCancelled(fleet.client, fleet.jobKey(queue, job.id ?? ''));
    await runAgain(queue, job);
  }
  // A processor starts its failed children again, and so must run before them.
  if (started === 0 && (await waitAgain(fleet.client, key, true)) === 'waits') return true;
  return children.length > 0 && (await fleet.queue(queueName).getJobState(id)) !== 'failed';
}

async function failedChild(
  fleet: FleetClient,
  key: string,
  parentId: string,
): Promise<{ readonly queue: string; readonly job: Job }> {
  const { queue, id } = parseJobKey(key);
  const job = await readJob(fleet.queue(queue), id);
  if (job !== undefined) return { queue, job };
  throw new JobError(
    'job-not-retryable',
    `job ${parentId} cannot run without its failed child ${id}, which is no longer stored; submit a new one, or the same with force`,
    { jobId: parentId },
  );
}
