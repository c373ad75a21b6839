import { JobError } from '../errors.js';
import type { BuiltInKindName, PayloadInputOf } from '../queues/registry.js';
import { addJob } from './add-job.js';
import { NOW } from './add-options.js';
import { findJob } from './find-job.js';
import type { FleetClient } from './fleet-client.js';
import { type JobView, viewJob } from './job-view.js';
import { waitForSummary } from './wait-for-job.js';

/** What tools need to know of a job. */
export interface ShownJob extends Pick<JobView, 'id' | 'kind' | 'state' | 'result' | 'usage'> {
  readonly status?: string | undefined;
  readonly progress?: string | undefined;
  readonly waitReason?: string | undefined;
  readonly error?: JobView['error'] | undefined;
}

/** Jobs of a fleet, however it is reached. */
export interface JobService {
  /** Submits a job; returns its id. */
  add<K extends BuiltInKindName>(kind: K, payload: PayloadInputOf<K>): Promise<string>;
  /**
   * The job once it has ended, or as it is when the time is over.
   * @param waitMs At most so many milliseconds; 0: as it is now.
   * @throws JobError `job-not-found`; the signal's reason if it is aborted.
   */
  view(id: string, waitMs: number, signal: AbortSignal): Promise<ShownJob>;
}

/** The jobs of a fleet by its Redis. */
export function jobsOf(fleet: FleetClient): JobService {
  return {
    // An agent waits for it: no call goes into a batch.
    add: async (kind, payload) => (await addJob(fleet, kind, payload, { deadline: NOW })).id,
    view: async (id, waitMs, signal) => {
      if (waitMs > 0) await waitUntilOver(fleet, id, waitMs, signal);
      return viewJob(fleet, await findJob(fleet, id));
    },
  };
}

/** Waits for the end of a job, or for the end of a time. @throws as `waitForSummary`, except for `wait-timeout`. */
export async function waitUntilOver(
  fleet: FleetClient,
  id: string,
  timeoutMs: number,
  signal: AbortSignal,
  queue?: string,
): Promise<void> {
  try {
    await waitForSummary(fleet, id, { timeoutMs, signal }, queue);
  } catch (thrown) {
    if (!(thrown instanceof JobError && thrown.code === 'wait-timeout')) throw thrown;
  }
}
