import { JobError } from '../errors.js';
import { failureError } from '../queues/failure.js';
import { KINDS, type KindName, type ResultOf } from '../queues/registry.js';
import { cancelJob } from './cancel-job.js';
import { findJob } from './find-job.js';
import type { FleetConnection } from './fleet-connection.js';
import { hasEnded, type JobView, viewJob } from './job-view.js';

export interface WaitOptions {
  /** Longest wait in milliseconds; default: no limit. The job goes on after it. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/**
 * Waits until a job has ended, by its queue's events, and gives its view. Right also where the job ended
 * before it was asked.
 * @throws JobError `job-not-found`, `wait-timeout`; the signal's reason if it is aborted.
 */
export async function waitForJob(
  fleet: FleetConnection,
  id: string,
  options: WaitOptions = {},
): Promise<JobView> {
  options.signal?.throwIfAborted();
  const { queue } = await findJob(fleet, id);
  const present = async () => viewJob(fleet, await findJob(fleet, id));

  return new Promise<JobView>((resolve, reject) => {
    let stopListening: (() => void) | undefined;
    let settled = false;
    const settle = (finish: () => void) => {
      settled = true;
      stopListening?.();
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
      finish();
    };
    const look = () => {
      present().then(
        (view) => {
          if (hasEnded(view.state)) settle(() => resolve(view));
        },
        (error) => settle(() => reject(error)),
      );
    };
    const onAbort = () => settle(() => reject(options.signal?.reason));
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const timer = timeoutAfter(options.timeout, () => {
      const message = `job ${id} has not ended within ${options.timeout} ms`;
      settle(() => reject(new JobError('wait-timeout', message, { jobId: id })));
    });
    fleet
      .events(queue.name)
      .listen(id, look)
      .then(
        (stop) => {
          stopListening = stop;
          if (settled) stop();
          // The job may have ended before anybody listened.
          else look();
        },
        (error) => settle(() => reject(error)),
      );
  });
}

function timeoutAfter(ms: number | undefined, action: () => void): NodeJS.Timeout | undefined {
  return ms === undefined ? undefined : setTimeout(action, ms);
}

/** A job that was submitted. */
export class JobHandle<K extends KindName = KindName> {
  readonly #fleet: FleetConnection;
  readonly kind: K;
  readonly id: string;

  constructor(fleet: FleetConnection, kind: K, id: string) {
    this.#fleet = fleet;
    this.kind = kind;
    this.id = id;
  }

  /** The job as it is now. */
  async view(): Promise<JobView> {
    return viewJob(this.#fleet, await findJob(this.#fleet, this.id));
  }

  /** Waits for the end, whatever it is. */
  wait(options?: WaitOptions): Promise<JobView> {
    return waitForJob(this.#fleet, this.id, options);
  }

  /**
   * Waits for the result and validates it.
   * @throws FleetError with the job's own code where it failed or was cancelled; JobError `wait-timeout`.
   */
  async result(options?: WaitOptions): Promise<ResultOf<K>> {
    const view = await this.wait(options);
    if (view.error !== undefined) throw failureError(view.error, this.id);
    return KINDS[this.kind].result.parse(view.result) as ResultOf<K>;
  }

  cancel(): Promise<void> {
    return cancelJob(this.#fleet, this.id);
  }
}
