import type { ExtractPayload } from '../queues/extract.js';
import { addJob } from './add-job.js';
import type { AddOptions } from './add-options.js';
import type { FleetClient } from './fleet-client.js';
import type { JobHandle } from './job-handle.js';

/** Submits one `extract` job. @throws PayloadError if the payload breaks the contract. */
export function addExtract(
  fleet: FleetClient,
  payload: ExtractPayload,
  options?: AddOptions,
): Promise<JobHandle<'extract'>> {
  return addJob(fleet, 'extract', payload, options);
}
