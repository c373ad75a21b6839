import type { Job, Queue } from 'bullmq';
import { JobError } from '../errors.js';
import { readJob } from '../queues/damaged-job.js';
import { readEnd } from '../queues/job-flags.js';
import { isKindName } from '../queues/registry.js';
import type { FleetClient } from './fleet-client.js';
import { kindOfJobId } from './job-id.js';

/** Where a job is, if it is there. */
export interface JobPlace {
  /** Name of the job's kind, or of the pipeline's own queue. */
  readonly kind: string;
  readonly queue: Queue;
  readonly id: string;
}

export interface FoundJob extends JobPlace {
  readonly job: Job;
}

export function jobNotFound(id: string): JobError {
  return new JobError('job-not-found', `there is no job ${id}`, { jobId: id });
}

/**
 * Where a job with this id would be: in the queue of its kind, or in the pipeline's own one where it is named.
 * @throws JobError `job-not-found` for an id that no job can have.
 */
export function locationOf(fleet: FleetClient, id: string, queueName?: string): JobPlace {
  // Any other id could be one of BullMQ's own keys, such as `meta`.
  const kind = queueName ?? kindOfJobId(id);
  if (kind === undefined) throw jobNotFound(id);
  return { kind, queue: fleet.queue(kind), id };
}

/**
 * Where a job is, after a look whether it is there at all: for an id or a queue that somebody made up nothing is opened.
 * @throws JobError `job-not-found`.
 */
export async function existingPlace(fleet: FleetClient, id: string, queueName?: string): Promise<JobPlace> {
  const kind = queueName ?? kindOfJobId(id);
  if (kind === undefined) throw jobNotFound(id);
  if (!isKindName(kind) && (await readEnd(fleet.client, fleet.jobKey(kind, id))) === 'gone') {
    throw jobNotFound(id);
  }
  return locationOf(fleet, id, kind);
}

/**
 * Finds a job by its id: of any kind, or of the pipeline's own queue where one is named.
 * @throws JobError `job-not-found`, `broken-record`.
 */
export async function findJob(fleet: FleetClient, id: string, queueName?: string): Promise<FoundJob> {
  const place = await existingPlace(fleet, id, queueName);
  const job = await readJob(place.queue, id);
  if (job === undefined) throw jobNotFound(id);
  return { ...place, job };
}
