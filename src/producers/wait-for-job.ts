import type { Redis } from 'ioredis';
import { JobError, RedisError } from '../errors.js';
import { asRedisError } from '../queues/connection.js';
import { isWrongType, wrongType } from '../queues/damaged-job.js';
import type { JobFailure } from '../queues/failure.js';
import { readEnd } from '../queues/job-flags.js';
import type { CompletedEvent } from './end-events.js';
import { type JobPlace, jobNotFound, locationOf } from './find-job.js';
import type { FleetClient } from './fleet-client.js';
import { kindOfJobId } from './job-id.js';
import { type JobSummary, summarizeJob } from './job-summaries.js';
import { hasEnded, type JobState, type JobView, viewJob, withTexts } from './job-view.js';

export interface WaitOptions {
  /** Longest wait in milliseconds; default: no limit. The job goes on after it. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/**
 * Whether a job may have ended; most have not when a wait begins, and one short read tells.
 * @throws JobError `job-not-found`, `broken-record` where its key is of another type.
 */
async function mayHaveEnded(client: Redis, key: string, id: string): Promise<boolean> {
  const end = await readEnd(client, key).catch((thrown: unknown) => {
    throw isWrongType(thrown) ? wrongType(id) : thrown;
  });
  if (end === 'gone') throw jobNotFound(id);
  return end === 'ended';
}

/** The first look of a wait; an outage is waited out like those that come later. */
async function lookBefore<T>(
  fleet: FleetClient,
  key: string,
  id: string,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return (await mayHaveEnded(fleet.client, key, id)) ? await look() : undefined;
  } catch (thrown) {
    if (!isOutage(thrown)) throw thrown;
    return undefined;
  }
}

function isOutage(thrown: unknown): boolean {
  const error = asRedisError(thrown);
  return error instanceof RedisError && error.code === 'redis-unreachable';
}

/** What a job returned, or what it failed with. */
export type JobReturn = { readonly returned: unknown } | { readonly error: JobFailure };

/**
 * Waits until a job has ended, by its queue's events, and gives its view. Right also where the job ended
 * before it was asked. An outage of Redis while it waits is waited out.
 * @throws JobError `job-not-found`, `wait-timeout`; the signal's reason if it is aborted.
 */
export function waitForJob(
  fleet: FleetClient,
  id: string,
  options: WaitOptions = {},
  queueName?: string,
): Promise<JobView> {
  return waitForView(fleet, id, options, queueName, (place) => viewJob(fleet, place));
}

/** Waits as `waitForJob` does, and reads no result: many may wait for one large result. */
export async function waitForSummary(
  fleet: FleetClient,
  id: string,
  options: WaitOptions = {},
  queueName?: string,
): Promise<JobSummary> {
  return waitForView(fleet, id, options, queueName, (place) => summarizeJob(fleet, place));
}

async function waitForView<T extends { readonly state: JobState }>(
  fleet: FleetClient,
  id: string,
  options: WaitOptions,
  queueName: string | undefined,
  read: (place: JobPlace) => Promise<T>,
): Promise<T> {
  const kind = queueName ?? kindOfJobId(id);
  if (kind === undefined) throw jobNotFound(id);
  const look = async () => {
    const view = await read(locationOf(fleet, id, kind));
    return hasEnded(view.state) ? view : undefined;
  };
  options.signal?.throwIfAborted();
  // Nobody listens for a job that is not there, or has ended already.
  const ended = await lookBefore(fleet, fleet.jobKey(kind, id), id, look);
  return ended ?? waitForEnd(fleet, locationOf(fleet, id, kind), options, look);
}

/**
 * Waits as `waitForJob` does, for what the job returns: its event brings that along. Only for a job that was just made:
 * the event of an earlier job with the same id may still be on its way.
 */
export async function waitForReturn(
  fleet: FleetClient,
  id: string,
  options: WaitOptions = {},
  queueName?: string,
): Promise<JobReturn> {
  const place = locationOf(fleet, id, queueName);
  return waitForEnd<JobReturn>(fleet, place, options, async (completed) => {
    if (completed !== undefined) {
      const { kind, queue } = place;
      return { returned: await withTexts(fleet, kind, completed.returned, queue.toKey(id)) };
    }
    const { state, error, result } = await viewJob(fleet, place);
    if (error !== undefined) return { error };
    return state === 'completed' ? { returned: result } : undefined;
  });
}

/** @param read what is waited for; undefined as long as the job has not ended. */
async function waitForEnd<T>(
  fleet: FleetClient,
  { queue, id }: JobPlace,
  { timeout, signal }: WaitOptions,
  read: (completed?: CompletedEvent) => Promise<T | undefined>,
): Promise<T> {
  signal?.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    let stopListening: (() => void) | undefined;
    let settled = false;
    const settle = (finish: () => void) => {
      settled = true;
      stopListening?.();
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      finish();
    };
    const fail = (thrown: unknown) => settle(() => reject(thrown));
    const done = (end: T | undefined) => {
      if (end !== undefined) settle(() => resolve(end));
    };
    const refused = (thrown: unknown) => {
      // The job goes on without us, and whoever listens is called again when the connection is back.
      if (!isOutage(thrown)) fail(thrown);
    };
    const look = (completed?: CompletedEvent) => {
      read(completed).then(done, refused);
    };
    const onAbort = () => fail(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    const timer =
      timeout === undefined
        ? undefined
        : setTimeout(() => {
            fail(new JobError('wait-timeout', `job ${id} has not ended within ${timeout} ms`, { jobId: id }));
          }, timeout);
    fleet
      .events(queue.name)
      .listen(id, look)
      .then((stop) => {
        stopListening = stop;
        if (settled) stop();
        // It may have ended before anybody listened.
        else {
          mayHaveEnded(fleet.client, queue.toKey(id), id)
            .then((may) => (may ? read() : undefined))
            .then(done, refused);
        }
      }, fail);
  });
}
