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
  if (flags.cancelled || state !== 'failed') {
    const shown = flags.cancelled ? 'cancelled' : state;
    throw new JobError('job-not-retryable', `job ${id} is ${shown}; only a failed job can be run again`, {
      jobId: id,
    });
  }
  await fleet.memory.admit(0, 1);
  await requeueWithNewPriority(fleet, queue.name, job);
}
