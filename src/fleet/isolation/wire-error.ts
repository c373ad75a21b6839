import { CallDeferred } from '../../calls/call-deferred.js';
import {
  AgentError,
  CallRefusedError,
  type ErrorCode,
  FleetError,
  JobError,
  toFleetError,
} from '../../errors.js';
import type { Usage } from '../../queues/usage.js';
import { WaitForChildren } from '../children/wait-for-children.js';

/** An error that a job threw in another process, as plain data. */
export type WireError =
  | { readonly kind: 'wait-for-children' }
  | { readonly kind: 'deferred'; readonly waitMs: number; readonly reason: string; readonly parked: boolean }
  | {
      readonly kind: 'error';
      readonly code: ErrorCode;
      readonly message: string;
      readonly field?: string;
      readonly jobId?: string;
      readonly rawAnswer?: string;
      readonly usage?: Usage;
    };

export function toWire(thrown: unknown): WireError {
  if (thrown instanceof CallDeferred) {
    const { waitMs, reason, parked } = thrown;
    return { kind: 'deferred', waitMs, reason, parked };
  }
  if (thrown instanceof WaitForChildren) return { kind: 'wait-for-children' };
  const error = toFleetError(thrown);
  const { code, message, field, jobId, rawAnswer } = error;
  return {
    kind: 'error',
    code,
    message,
    ...(field === undefined ? {} : { field }),
    ...(jobId === undefined ? {} : { jobId }),
    ...(rawAnswer === undefined ? {} : { rawAnswer }),
    ...(error instanceof AgentError && error.usage !== undefined ? { usage: error.usage } : {}),
  };
}

/** The same error, or one of the same code; of its class only if callers check that class. */
export function fromWire(wire: WireError): Error {
  if (wire.kind === 'wait-for-children') return new WaitForChildren();
  if (wire.kind === 'deferred') return new CallDeferred(wire.waitMs, wire.reason, wire.parked);
  const { code, message, kind: _, ...details } = wire;
  const error = new FleetError(code, message, details);
  switch (error.entry.class) {
    case 'AgentError':
      return new AgentError(code, message, details);
    case 'JobError':
      return new JobError(code, message, details);
    case 'CallRefusedError':
      return new CallRefusedError(code, message, details);
    default:
      return error;
  }
}
