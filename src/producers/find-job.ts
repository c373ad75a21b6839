import type { Job, Queue } from 'bullmq';
import { JobError } from '../errors.js';
import type { FleetConnection } from './fleet-connection.js';
import { kindOfJobId } from './job-id.js';

export interface FoundJob {
  /** Name of the job's kind, or of the pipeline's own queue. */
  readonly kind: string;
  readonly queue: Queue;
  readonly job: Job;
}

/**
 * Finds a job by its id: of any kind, or of the pipeline's own queue where one is named.
 * @throws JobError `job-not-found`.
 */
export async function findJob(fleet: FleetConnection, id: string, queueName?: string): Promise<FoundJob> {
  const found = await Promise.all(
    candidateQueues(id, queueName).map(async (kind) => {
      const queue = fleet.queue(kind);
      const job: Job | undefined = await queue.getJob(id);
      return job && { kind, queue, job };
    }),
  );
  const first = found.find((entry) => entry !== undefined);
  if (first === undefined) throw new JobError('job-not-found', `there is no job ${id}`, { jobId: id });
  return first;
}

function candidateQueues(id: string, queueName: string | undefined): readonly string[] {
  if (queueName !== undefined) return [queueName];
  // Any other id could be one of BullMQ's own keys, such as `meta`.
  const kind = kindOfJobId(id);
  return kind === undefined ? [] : [kind];
}
