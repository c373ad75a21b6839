import type { ContaminationPayload } from '../queues/contamination.js';
import { addJob } from './add-job.js';
import type { AddOptions } from './add-options.js';
import type { FleetClient } from './fleet-client.js';
import type { JobHandle } from './job-handle.js';

/** Submits one `contamination` job. @throws PayloadError if the payload breaks the contract. */
export function addContamination(
  fleet: FleetClient,
  payload: ContaminationPayload,
  options?: AddOptions,
): Promise<JobHandle<'contamination'>> {
  return addJob(fleet, 'contamination', payload, options);
}
