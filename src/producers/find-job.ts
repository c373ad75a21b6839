import type { Job, Queue } from 'bullmq';
import { JobError } from '../errors.js';
import type { KindName } from '../queues/registry.js';
import type { FleetConnection } from './fleet-connection.js';
import { kindOfJobId } from './job-id.js';

export interface FoundJob {
  readonly kind: KindName;
  readonly queue: Queue;
  readonly job: Job;
}

/**
 * Finds a job of any kind by its id.
 * @throws JobError `job-not-found`.
 */
export async function findJob(fleet: FleetConnection, id: string): Promise<FoundJob> {
  const named = kindOfJobId(id);
  const queues = fleet.kindQueues.filter(([kind]) => named === undefined || kind === named);
  const found = await Promise.all(
    queues.map(async ([kind, queue]) => {
      const job: Job | undefined = await queue.getJob(id);
      return job && { kind, queue, job };
    }),
  );
  const first = found.find((entry) => entry !== undefined);
  if (first === undefined) throw new JobError('job-not-found', `there is no job ${id}`, { jobId: id });
  return first;
}
