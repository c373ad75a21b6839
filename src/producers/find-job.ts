import type { Job, Queue } from 'bullmq';
import { JobError } from '../errors.js';
import { readJob } from '../queues/damaged-job.js';
import { readEnd } from '../queues/job-flags.js';
import type { FleetClient } from './fleet-client.js';

/** The queue and the id of a job that may exist. */
export interface JobLocation {
  /** Name of the job's kind, or of the pipeline queue. */
  readonly kind: string;
  readonly queue: Queue;
  readonly id: string;
}

export interface FoundJob extends JobLocation {
  readonly job: Job;
}

export function jobNotFound(id: string): JobError {
  return new JobError('job-not-found', `there is no job ${id}`, { jobId: id });
}

/** Ids that this project generates: the queue, a hyphen, a UUID or 40 digits of a digest. */
export const JOB_ID = /^(\w[\w.-]{0,99})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{40})$/;

/** The queue that a job id names: of a kind, or a pipeline queue. Undefined for an id that this project did not make. */
export function queueOfJobId(fleet: FleetClient, id: string): string | undefined {
  return JOB_ID.exec(id)?.[1] ?? fleet.kinds.ofJobId(id);
}

/**
 * The location of a job with this id: the queue of its kind, or the pipeline queue if one is named.
 * @throws JobError `job-not-found` for an id that no job can have.
 */
export function locationOf(fleet: FleetClient, id: string, queueName?: string): JobLocation {
  // Any other id could be one of BullMQ's keys, such as `meta`.
  const kind = queueName ?? queueOfJobId(fleet, id);
  if (kind === undefined) throw jobNotFound(id);
  return { kind, queue: fleet.queue(kind), id };
}

/**
 * The location of a job that exists. No queue is opened for an invented id or queue.
 * @throws JobError `job-not-found`.
 */
export async function existingLocation(
  fleet: FleetClient,
  id: string,
  queueName?: string,
): Promise<JobLocation> {
  const kind = queueName ?? queueOfJobId(fleet, id);
  if (kind === undefined) throw jobNotFound(id);
  if (!fleet.kinds.has(kind) && (await readEnd(fleet.client, fleet.jobKey(kind, id))) === 'gone') {
    throw jobNotFound(id);
  }
  return locationOf(fleet, id, kind);
}

/**
 * Finds a job by its id: of any kind, or in the pipeline queue if one is named.
 * @throws JobError `job-not-found`, `broken-record`.
 */
export async function findJob(fleet: FleetClient, id: string, queueName?: string): Promise<FoundJob> {
  const location = await existingLocation(fleet, id, queueName);
  const job = await readJob(location.queue, id);
  if (job === undefined) throw jobNotFound(id);
  return { ...location, job };
}
