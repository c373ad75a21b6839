import type { SummarizePayload } from '../queues/summarize.js';
import { addJob } from './add-job.js';
import type { AddOptions } from './add-options.js';
import type { FleetClient } from './fleet-client.js';
import type { JobHandle } from './job-handle.js';

/** Submits one `summarize` job. @throws PayloadError if the payload breaks the contract. */
export function addSummarize(
  fleet: FleetClient,
  payload: SummarizePayload,
  options?: AddOptions,
): Promise<JobHandle<'summarize'>> {
  return addJob(fleet, 'summarize', payload, options);
}
