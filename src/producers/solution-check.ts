import type { SolutionCheckPayload } from '../queues/solution-check.js';
import { addJob } from './add-job.js';
import type { AddOptions } from './add-options.js';
import type { FleetClient } from './fleet-client.js';
import type { JobHandle } from './job-handle.js';

/** Submits one `solution-check` job. @throws PayloadError if the payload breaks the contract. */
export function addSolutionCheck(
  fleet: FleetClient,
  payload: SolutionCheckPayload,
  options?: AddOptions,
): Promise<JobHandle<'solution-check'>> {
  return addJob(fleet, 'solution-check', payload, options);
}
