import { CallDeferred } from '../calls/call-deferred.js';
import { FleetError, InternalError, JobError } from '../errors.js';
import { KINDS } from '../queues/registry.js';

/** The error of a defect in a processor: it is the fleet's defect if the kind is built in, otherwise its author's. */
export function processorError(kind: string, message: string, cause: unknown): FleetError {
  return Object.hasOwn(KINDS, kind)
    ? new InternalError(message, { cause })
    : new JobError('processor-failed', message, { cause });
}

/** Whether the fleet threw it, or an abort: it says itself what happens to the job. */
export function isOfFleet(thrown: unknown, signal: AbortSignal): boolean {
  return thrown instanceof FleetError || thrown instanceof CallDeferred || signal.aborted;
}
