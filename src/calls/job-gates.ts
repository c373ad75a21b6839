import type { CallControl } from './call-control.js';
import type { CallGate } from './call-gate.js';
import { type GatedJob, JobGate } from './job-gate.js';
import { CallCache } from './ledger/call-cache.js';

/** What every call of one run of a job passes on its way out. */
export function jobGates(control: CallControl, job: GatedJob): CallGate[] {
  const gate = new JobGate(control, job);
  return control.cache ? [new CallCache(control), gate] : [gate];
}
