import { deprecate } from 'node:util';
import type { Redis } from 'ioredis';
import { JobError, PayloadError } from '../errors.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import { isWrongType, wrongType } from '../queues/damaged-job.js';
import type { JobFailure } from '../queues/failure.js';
import { readEnd } from '../queues/job-flags.js';
import { isOutage } from '../queues/redis-refusal.js';
import type { CompletedEvent } from './end-events.js';
import { type JobLocation, jobNotFound, locationOf, queueOfJobId } from './find-job.js';
import type { FleetClient } from './fleet-client.js';
import { type JobSummary, summarizeJob } from './job-summaries.js';
import { hasEnded, type JobView, viewJob, withTexts } from './job-view.js';

export interface WaitOptions {
  /** Maximum wait in milliseconds; default: no limit. The job goes on afterward. */
  readonly timeoutMs?: number;
  /** @deprecated The name of `timeoutMs` in version 0.1. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  /** false: returns when the job has its result, and does not wait for its follow-ups. Default: true. */
  readonly follow?: boolean;
}

const WAIT_OPTIONS: OptionNames<WaitOptions> = { timeoutMs: true, timeout: true, signal: true, follow: true };

const noteOldName = deprecate(
  () => undefined,
  'the option "timeout" of waits is now "timeoutMs"; the old name will be refused in the next version',
  'FLEET0001',
);

/** @throws PayloadError for an option that does not exist, or for the same one under both names. */
function checkWaitOptions(options: WaitOptions): void {
  rejectUnknownOptions(options, WAIT_OPTIONS);
  if (options.timeout === undefined) return;
  if (options.timeoutMs === undefined) return void noteOldName();
  const message = 'timeout: is the old name of "timeoutMs"; pass one of them';
  throw new PayloadError('invalid-payload', message, { field: 'timeout' });
}

/**
 * Whether a job may have ended: one short read, because most jobs have not when a wait begins.
 * @throws JobError `job-not-found`, `broken-record` if its key is of another type.
 */
async function mayHaveEnded(
  client: Redis,
  key: string,
  id: string,
  { follow = true }: WaitOptions,
): Promise<boolean> {
  const end = await readEnd(client, key).catch((thrown: unknown) => {
    throw isWrongType(thrown) ? wrongType(id) : thrown;
  });
  if (end === 'gone') throw jobNotFound(id);
  return end === 'ended' || (end === 'has-result' && !follow);
}

/** The first check of a wait; it waits through an outage as the later ones do. */
async function lookBefore<T>(
  fleet: FleetClient,
  key: string,
  id: string,
  options: WaitOptions,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return (await mayHaveEnded(fleet.client, key, id, options)) ? await look() : undefined;
  } catch (thrown) {
    if (!isOutage(thrown)) throw thrown;
    return undefined;
  }
}

/** What a job returned, or what it failed with. */
export type JobReturn = { readonly returned: unknown } | { readonly error: JobFailure };

/**
 * Waits for the end of a job by its queue's events, and returns its view. The job may have ended before. The wait
 * continues through an outage of Redis.
 * @throws JobError `job-not-found`, `wait-timeout`; the signal's reason if it is aborted.
 */
export function waitForJob(
  fleet: FleetClient,
  id: string,
  options: WaitOptions = {},
  queueName?: string,
): Promise<JobView> {
  return waitForView(fleet, id, options, queueName, (location) => viewJob(fleet, location));
}

/** Waits as `waitForJob` does, but reads no result: many callers may wait for one large result. */
export async function waitForSummary(
  fleet: FleetClient,
  id: string,
  options: WaitOptions = {},
  queueName?: string,
): Promise<JobSummary> {
  return waitForView(fleet, id, options, queueName, (location) => summarizeJob(fleet, location));
}

/** Whether a job that has not ended has the result that a caller waits for. */
function hasAwaitedResult(
  { followUps }: Pick<JobSummary, 'followUps'>,
  { follow = true }: WaitOptions,
): boolean {
  return !follow && followUps !== undefined;
}

async function waitForView<T extends Pick<JobSummary, 'state' | 'followUps'>>(
  fleet: FleetClient,
  id: string,
  options: WaitOptions,
  queueName: string | undefined,
  read: (location: JobLocation) => Promise<T>,
): Promise<T> {
  checkWaitOptions(options);
  const kind = queueName ?? queueOfJobId(fleet, id);
  if (kind === undefined) throw jobNotFound(id);
  const look = async () => {
    const view = await read(locationOf(fleet, id, kind));
    return hasEnded(view.state) || hasAwaitedResult(view, options) ? view : undefined;
  };
  options.signal?.throwIfAborted();
  // No listener is registered for a job that does not exist or has already ended.
  const ended = await lookBefore(fleet, fleet.jobKey(kind, id), id, options, look);
  return ended ?? waitForEnd(fleet, locationOf(fleet, id, kind), options, look);
}

/**
 * Waits as `waitForJob` does for what the job returns, which its event contains. Only for a new job: the event of an
 * earlier job with the same id may still arrive.
 */
export async function waitForReturn(
  fleet: FleetClient,
  id: string,
  options: WaitOptions = {},
  queueName?: string,
): Promise<JobReturn> {
  checkWaitOptions(options);
  const location = locationOf(fleet, id, queueName);
  return waitForEnd<JobReturn>(fleet, location, options, async (completed) => {
    if (completed !== undefined) {
      const { kind, queue } = location;
      return { returned: await withTexts(fleet, kind, completed.returned, queue.toKey(id)) };
    }
    const view = await viewJob(fleet, location);
    if (view.error !== undefined) return { error: view.error };
    const isOver = view.state === 'completed' || hasAwaitedResult(view, options);
    return isOver ? { returned: view.result } : undefined;
  });
}

/** Pause before a wait that began during an outage tries to listen again, in milliseconds. */
const LISTEN_AGAIN_MS = 500;

/** @param read returns the awaited value, or undefined as long as the job has not ended. */
async function waitForEnd<T>(
  fleet: FleetClient,
  { queue, id }: JobLocation,
  options: WaitOptions,
  read: (completed?: CompletedEvent) => Promise<T | undefined>,
): Promise<T> {
  const { timeoutMs = options.timeout, signal } = options;
  signal?.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    let stopListening: (() => void) | undefined;
    let settled = false;
    let beginAgain: NodeJS.Timeout | undefined;
    const settle = (finish: () => void) => {
      settled = true;
      stopListening?.();
      clearTimeout(timer);
      clearTimeout(beginAgain);
      signal?.removeEventListener('abort', onAbort);
      finish();
    };
    const fail = (thrown: unknown) => settle(() => reject(thrown));
    const done = (end: T | undefined) => {
      if (end !== undefined) settle(() => resolve(end));
    };
    const rejected = (thrown: unknown) => {
      // The job goes on, and the listener is called again when the connection is back.
      if (fleet.isClosed || !isOutage(thrown)) fail(thrown);
    };
    const look = (completed?: CompletedEvent) => {
      read(completed).then(done, rejected);
    };
    const onAbort = () => fail(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            fail(
              new JobError('wait-timeout', `job ${id} has not ended within ${timeoutMs} ms`, { jobId: id }),
            );
          }, timeoutMs);
    const listening = (stop: () => void) => {
      stopListening = stop;
      if (settled) stop();
      // It may have ended before the listener was registered.
      else {
        mayHaveEnded(fleet.client, queue.toKey(id), id, options)
          .then((may) => (may ? read() : undefined))
          .then(done, rejected);
      }
    };
    const listen = async () => fleet.events(queue.name).listen(id, look);
    const begin = () => {
      listen().then(listening, (thrown: unknown) => {
        if (fleet.isClosed || !isOutage(thrown)) fail(thrown);
        else if (!settled) beginAgain = setTimeout(begin, LISTEN_AGAIN_MS);
      });
    };
    begin();
  });
}
