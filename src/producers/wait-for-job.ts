import { JobError, RedisError } from '../errors.js';
import { asRedisError } from '../queues/connection.js';
import { findJob } from './find-job.js';
import type { FleetConnection } from './fleet-connection.js';
import { hasEnded, type JobView, viewJob } from './job-view.js';

export interface WaitOptions {
  /** Longest wait in milliseconds; default: no limit. The job goes on after it. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

function isOutage(thrown: unknown): boolean {
  const error = asRedisError(thrown);
  return error instanceof RedisError && error.code === 'redis-unreachable';
}

/**
 * Waits until a job has ended, by its queue's events, and gives its view. Right also where the job ended
 * before it was asked. An outage of Redis while it waits is waited out.
 * @throws JobError `job-not-found`, `wait-timeout`; the signal's reason if it is aborted.
 */
export async function waitForJob(
  fleet: FleetConnection,
  id: string,
  { timeout, signal }: WaitOptions = {},
  queueName?: string,
): Promise<JobView> {
  signal?.throwIfAborted();
  const found = await findJob(fleet, id, queueName);
  return new Promise<JobView>((resolve, reject) => {
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
    const look = () => {
      viewJob(fleet, found).then(
        (view) => {
          if (hasEnded(view.state)) settle(() => resolve(view));
        },
        (thrown: unknown) => {
          // The job goes on without us, and whoever listens is called again when the connection is back.
          if (!isOutage(thrown)) fail(thrown);
        },
      );
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
      .events(found.queue.name)
      .listen(id, look)
      .then((stop) => {
        stopListening = stop;
        if (settled) stop();
        // The job may have ended before anybody listened.
        else look();
      }, fail);
  });
}
