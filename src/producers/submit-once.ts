import { isDeepStrictEqual } from 'node:util';
import type { Job } from 'bullmq';
import { JobError } from '../errors.js';
import { comparable } from '../payloads/text-reference.js';
import { readMarks, unmarkCancelled } from '../queues/job-marks.js';
import { isKindName } from '../queues/registry.js';
import type { FleetConnection } from './fleet-connection.js';
import { retryInTurn } from './retry-in-turn.js';

/**
 * What a submission came to: a new job; the one there was (its result, or its turn still to come); the one that
 * had failed or was cancelled, run again; or a finished one run anew because that was asked for.
 */
export type SubmitOutcome = 'created' | 'existing' | 'retried' | 'replaced';

/** A job to be submitted, with its id. */
export interface Submission {
  readonly queue: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
}

function payloadOf(queue: string, { v: _version, ...payload }: Record<string, unknown>): unknown {
  // What was stored went through JSON, which drops fields that are undefined.
  const stored: unknown = JSON.parse(JSON.stringify(payload));
  // Only payloads of the fleet's kinds have their long texts elsewhere.
  return isKindName(queue) ? comparable(stored) : stored;
}

/**
 * Finds the job that a key already names.
 * @throws JobError `key-conflict` where it has another payload.
 */
export async function existingJob(
  fleet: FleetConnection,
  { queue, id, data }: Submission,
): Promise<Job | undefined> {
  const job: Job | undefined = await fleet.queue(queue).getJob(id);
  if (job !== undefined && !isDeepStrictEqual(payloadOf(queue, job.data), payloadOf(queue, data))) {
    throw new JobError(
      'key-conflict',
      `the key of this submission already names job ${id}, which has another payload`,
      {
        jobId: id,
        field: 'key',
      },
    );
  }
  return job;
}

/** Runs a job that failed or was cancelled again; tells whether it did. @throws RedisError `redis-full`. */
export async function runAgain(fleet: FleetConnection, queueName: string, job: Job): Promise<boolean> {
  const key = fleet.queue(queueName).toKey(job.id ?? '');
  const { cancelled } = await readMarks(fleet.client, key);
  // A worker is just aborting it: taking the mark away under its hands would end the job as neither.
  if (cancelled) await untilReleased(fleet, queueName, job);
  const state = await job.getState();
  // A job that is refused stays as it is, cancelled or failed.
  if (state === 'failed') await fleet.memory.admit(0, 1);
  if (cancelled && state !== 'completed') await unmarkCancelled(fleet.client, key);
  if (state !== 'failed') return cancelled && state !== 'completed';
  await retryInTurn(fleet, queueName, job);
  return true;
}

/** Waits until no worker holds the job any more. */
async function untilReleased(fleet: FleetConnection, queueName: string, job: Job): Promise<void> {
  const id = job.id ?? '';
  await new Promise<void>((resolve, reject) => {
    let stop: (() => void) | undefined;
    const look = () => {
      job.getState().then((state) => {
        if (state === 'active') return;
        stop?.();
        resolve();
      }, reject);
    };
    fleet
      .events(queueName)
      .listen(id, look)
      .then((stopListening) => {
        stop = stopListening;
        look();
      }, reject);
  });
}

/** Removes a job that has ended, with its children, so that it can be submitted anew. */
export async function removeEnded(job: Job): Promise<boolean> {
  const state = await job.getState();
  if (state !== 'completed' && state !== 'failed') return false;
  await job.remove({ removeChildren: true });
  return true;
}
