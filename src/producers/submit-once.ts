import { isDeepStrictEqual } from 'node:util';
import type { Job } from 'bullmq';
import { JobError, messageOf } from '../errors.js';
import { comparable } from '../payloads/text-reference.js';
import { readJob } from '../queues/damaged-job.js';
import { CHILDREN_FIELD, clearCancelled, readJobFlags } from '../queues/job-flags.js';
import type { FleetClient } from './fleet-client.js';
import type { FleetJobOptions } from './job-options.js';
import { requeueWithNewPriority } from './requeue-with-new-priority.js';

/**
 * The outcome of a submission: a new job; the existing one, finished or not; one that had failed or was cancelled, run
 * again; or a finished one that was replaced because of `force`.
 */
export type SubmitOutcome = 'created' | 'existing' | 'retried' | 'replaced';

/** A job to be submitted, with its id. */
export interface Submission {
  readonly queue: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
  /** Digest of the content of its flow or batch, if it has a key (`contentOf`). */
  readonly content?: string;
}

/** Data of a job in a form that can be compared, whatever version of a contract they name and wherever their texts are stored. */
export function comparableData(
  fleet: FleetClient,
  queue: string,
  { v: _version, ...payload }: Record<string, unknown>,
): unknown {
  // Stored data went through JSON, which drops fields that are undefined.
  const stored: unknown = JSON.parse(JSON.stringify(payload));
  // Only payloads of the fleet's kinds have references to long texts.
  return fleet.kinds.has(queue) ? comparable(stored) : stored;
}

/**
 * Finds the job that a key already names.
 * @throws JobError `key-conflict` if it has another payload, or belongs to a flow or batch with other content.
 */
export async function existingJob(fleet: FleetClient, submission: Submission): Promise<Job | undefined> {
  const { queue, id } = submission;
  const job = await readJob(fleet.queue(queue), id);
  if (job === undefined || isSameContent(fleet, job, submission)) return job;
  const message = `the key of this submission already names job ${id}, which has another payload`;
  throw new JobError('key-conflict', message, { jobId: id, field: 'key' });
}

function isSameContent(
  fleet: FleetClient,
  { data, opts }: Job,
  { queue, content, data: submitted }: Submission,
): boolean {
  const stored = (opts as FleetJobOptions).fleet?.content;
  if (stored !== undefined && content !== undefined) return stored === content;
  return isDeepStrictEqual(comparableData(fleet, queue, data), comparableData(fleet, queue, submitted));
}

/** How long a submission waits until the lock of a cancelled job is released, in milliseconds. */
const MAX_RELEASE_MS = 15_000;

/**
 * Runs a job that failed or was cancelled again. Returns whether it did.
 * @param beforeRun Called before it can run.
 * @throws RedisError `redis-full`; JobError `wait-timeout` if a cancelled job is still locked.
 */
export async function runAgain(
  fleet: FleetClient,
  queueName: string,
  job: Job,
  beforeRun: () => Promise<void> = () => Promise.resolve(),
): Promise<boolean> {
  const key = fleet.queue(queueName).toKey(job.id ?? '');
  const { cancelled } = await readJobFlags(fleet.client, key);
  // A worker is aborting it: clearing the flag at the same time would leave the job neither cancelled nor failed.
  if (cancelled) await untilReleased(fleet, queueName, job);
  const state = await job.getState();
  // If the submission is rejected, the job stays cancelled or failed.
  if (state === 'failed') await fleet.memory.admit(0, 1);
  const isStopped = cancelled && state !== 'completed';
  if (state === 'failed' || isStopped) await beforeRun();
  if (isStopped) await clearCancelled(fleet.client, key);
  if (state !== 'failed') return isStopped;
  return await requeueWithNewPriority(fleet, queueName, job);
}

/**
 * Waits until no worker has the job's lock, and no child that it started runs: those are cancelled too, and the job starts
 * them again once they have ended. A client of the HTTP API may keep the lease of an evaluation for an hour.
 */
async function untilReleased(fleet: FleetClient, queueName: string, job: Job): Promise<void> {
  const id = job.id ?? '';
  const key = fleet.queue(queueName).toKey(id);
  const startsChildren = (await fleet.client.hexists(key, CHILDREN_FIELD)) === 1;
  let released: () => void = () => undefined;
  let failed: (thrown: unknown) => void = () => undefined;
  const end = new Promise<void>((resolve, reject) => {
    released = resolve;
    failed = reject;
  });
  const look = () => {
    job.getState().then((state) => {
      if (state !== 'active' && !(state === 'waiting-children' && startsChildren)) released();
    }, failed);
  };
  const tooLate = setTimeout(() => {
    const why = `job ${id} was cancelled, and its worker has not ended it yet`;
    failed(new JobError('wait-timeout', why, { jobId: id }));
  }, MAX_RELEASE_MS);
  const stop = await fleet.events(queueName).listen(id, look);
  try {
    look();
    await end;
  } finally {
    clearTimeout(tooLate);
    stop();
  }
}

/**
 * Removes a job that has ended, with its children, so it can be submitted again. Returns whether it did: it does not if
 * another submission was faster and a worker has already started that job.
 */
export async function removeEnded(job: Job): Promise<boolean> {
  const state = await job.getState();
  if (state !== 'completed' && state !== 'failed') return false;
  try {
    await job.remove({ removeChildren: true });
  } catch (thrown) {
    if (/is locked by another worker/.test(messageOf(thrown))) return false;
    throw thrown;
  }
  return true;
}
