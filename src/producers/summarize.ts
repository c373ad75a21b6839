import type { SummarizePayload } from '../queues/summarize.js';
import { type AddOptions, addJob } from './add-job.js';
import type { FleetConnection } from './fleet-connection.js';
import type { JobHandle } from './job-handle.js';

/** Submits one `summarize` job. @throws PayloadError where the payload breaks the contract. */
export function addSummarize(
  fleet: FleetConnection,
  payload: SummarizePayload,
  options?: AddOptions,
): Promise<JobHandle<'summarize'>> {
  return addJob(fleet, 'summarize', payload, options);
}
