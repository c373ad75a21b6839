import type { RefinementLoopPayload } from '../queues/refinement-loop.js';
import { addJob } from './add-job.js';
import type { AddOptions } from './add-options.js';
import type { FleetClient } from './fleet-client.js';
import type { JobHandle } from './job-handle.js';

/** Submits one `refinement-loop` job. @throws PayloadError if the payload breaks the contract. */
export function addRefinementLoop(
  fleet: FleetClient,
  payload: RefinementLoopPayload,
  options?: AddOptions,
): Promise<JobHandle<'refinement-loop'>> {
  return addJob(fleet, 'refinement-loop', payload, options);
}
