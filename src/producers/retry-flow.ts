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
 * @throws JobError `job-not-retryable` if such a child is no longer stored, unless another job waits for this one.
 */
export async function waitForRetriedChildren(
  fleet: FleetClient,
  queueName: string,
  { id = '', parentKey }: Job,
  runAgain: (queueName: string, job: Job) => Promise<boolean>,
): Promise<boolean> {
  const key = fleet.jobKey(queueName, id);
  const [keys, started] = await Promise.all([
    fleet.client.zrange(`${key}:unsuccessful`, '0', '-1'),
    fleet.client.hexists(key, CHILDREN_FIELD),
  ]);
  const children = await Promise.all(keys.map((child) => failedChild(fleet, child)));
  for (const { queue, id: childId, job } of children) {
    // The job above an evaluation goes on with its failure: the evaluation is refused, because it has no check.
    if (job === undefined && parentKey !== undefined) continue;
    if (job === undefined) throw withoutChild(id, childId);
    // Somebody else has run it again.
    if ((await job.getState()) !== 'failed') continue;
    await clearCancelled(fleet.client, fleet.jobKey(queue, childId));
    await runAgain(queue, job);
  }
  // A processor starts its failed children again, and so must run before them.
  if (started === 0 && (await waitAgain(fleet.client, key, true)) === 'waits') return true;
  return children.length > 0 && (await fleet.queue(queueName).getJobState(id)) !== 'failed';
}

async function failedChild(
  fleet: FleetClient,
  key: string,
): Promise<{ readonly queue: string; readonly id: string; readonly job: Job | undefined }> {
  const { queue, id } = parseJobKey(key);
  return { queue, id, job: await readJob(fleet.queue(queue), id) };
}

function withoutChild(id: string, childId: string): JobError {
  const message = `job ${id} cannot run without its failed child ${childId}, which is no longer stored; submit a new one, or the same with force`;
  return new JobError('job-not-retryable', message, { jobId: id });
}
