import { JobError } from '../errors.js';
import { readJobFlags } from '../queues/job-flags.js';
import { findJob } from './find-job.js';
import type { FleetClient } from './fleet-client.js';
import { requeueWithNewPriority } from './requeue-with-new-priority.js';

/**
 * Runs a failed job again, with a fresh set of attempts.
 * @throws JobError `job-not-found`, `job-not-retryable` (not failed, or cancelled: a cancellation is final); RedisError
 *   `redis-full`.
 */
export async function retryJob(fleet: FleetClient, id: string, queueName?: string): Promise<void> {
  const { queue, job } = await findJob(fleet, id, queueName);
  const [state, flags] = await Promise.all([job.getState(), readJobFlags(fleet.client, queue.toKey(id))]);
  if (flags.cancelled || state !== 'failed') throw notRetryable(id, flags.cancelled ? 'cancelled' : state);
  await fleet.memory.admit(0, 1);
  // Its parent, or somebody else, may have run it again in the meantime.
  if (!(await requeueWithNewPriority(fleet, queue.name, job))) throw notRetryable(id, await job.getState());
}

function notRetryable(id: string, state: string): JobError {
  const message = `job ${id} is ${state}; only a failed job can be run again`;
  return new JobError('job-not-retryable', message, { jobId: id });
}
