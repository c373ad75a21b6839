import { CallDeferred } from '../calls/call-deferred.js';
import { ERROR_TABLE, type ErrorCode, FleetError, InternalError, JobError } from '../errors.js';
import { KINDS } from '../queues/registry.js';

/** The error of a defect in a processor: it is the fleet's defect if the kind is built in, otherwise its author's. */
export function processorError(kind: string, message: string, cause: unknown): FleetError {
  if (Object.hasOwn(KINDS, kind)) return new InternalError(message, { cause });
  const code = codeOf(cause);
  // The module of a kind may have another copy of this package, and so another class of the same name.
  if (code !== undefined) return new FleetError(code, message, { cause });
  return new JobError('processor-failed', message, { cause });
}

function codeOf(thrown: unknown): ErrorCode | undefined {
  const { code } = (thrown ?? {}) as { readonly code?: unknown };
  const isOfTable = thrown instanceof Error && typeof code === 'string' && Object.hasOwn(ERROR_TABLE, code);
  return isOfTable ? (code as ErrorCode) : undefined;
}

/** Whether the fleet threw it, or an abort: it says itself what happens to the job. */
export function isOfFleet(thrown: unknown, signal: AbortSignal): boolean {
  return thrown instanceof FleetError || thrown instanceof CallDeferred || signal.aborted;
}
