import type { Tags } from '../queues/common.js';
import type { KindRef, PayloadInputOf } from '../queues/registry.js';
import { type AddOptions, addJob } from './add-job.js';
import type { FleetClient } from './fleet-client.js';
import type { JobHandle } from './job-handle.js';

/** The job that a new one follows: BullMQ's job, or a view of one. */
export interface Predecessor {
  readonly id?: string | undefined;
  readonly data?: unknown;
  readonly tags?: Readonly<Record<string, string>>;
}

/** Tags that put a job after another in the same pipeline run. */
export function lineageTags(job: Predecessor): Record<string, string> {
  const tags = job.tags ?? (job.data as { tags?: Record<string, string> } | undefined)?.tags ?? {};
  return {
    ...(tags.run === undefined ? {} : { run: tags.run }),
    ...(tags.step === undefined ? {} : { step: tags.step }),
    ...(job.id === undefined ? {} : { parent: job.id }),
  };
}

/**
 * Submits a job that follows another: its tags and log lines have the other's `run` and `step` and name it as `parent`,
 * so all jobs of one pipeline run can be found. Tags of the payload take precedence.
 * @throws PayloadError, JobError as `addJob`.
 */
export function addFollowUp<K extends KindRef>(
  fleet: FleetClient,
  job: Predecessor,
  kind: K,
  payload: PayloadInputOf<K>,
  options?: AddOptions,
): Promise<JobHandle<K>> {
  return addJob(
    fleet,
    kind,
    { ...payload, tags: { ...lineageTags(job), ...(payload as { tags?: Tags }).tags } },
    options,
  );
}
