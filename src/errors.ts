import { ERROR_TABLE, type ErrorCode, type ErrorEntry } from './error-table.js';
import type { Usage } from './queues/usage.js';

export { ERROR_TABLE, type ErrorCode, type ErrorEntry };

export interface ErrorDetails {
  /** Path of the field at fault, as in `solution.content`. */
  readonly field?: string;
  readonly jobId?: string;
  /** Raw text of an answer that could not be used. */
  readonly rawAnswer?: string;
  readonly cause?: unknown;
}

/** Base of all errors of the fleet: what happened (message), which kind (code), to what (field, jobId). */
export class FleetError extends Error {
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly jobId: string | undefined;
  readonly rawAnswer: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = code;
    this.field = details.field;
    this.jobId = details.jobId;
    this.rawAnswer = details.rawAnswer;
  }

  get entry(): ErrorEntry {
    return ERROR_TABLE[this.code];
  }

  /** Whether trying again without a change can help. */
  get retryable(): boolean {
    return this.entry.retryable;
  }
}

export class PayloadError extends FleetError {}
export class UsageError extends FleetError {}
export class ConfigurationError extends FleetError {
  constructor(message: string, details?: ErrorDetails) {
    super('invalid-configuration', message, details);
  }
}
/** A kind of a user's own cannot be used: it cannot be loaded, or its name or contract is not valid. */
export class KindError extends FleetError {
  constructor(message: string, details?: ErrorDetails) {
    super('invalid-kind', message, details);
  }
}
/** Thrown by `replaceBlock`: the old block is empty or is not in the solution (REQ-DM-010). */
export class BlockNotFoundError extends FleetError {
  constructor(message: string, details?: ErrorDetails) {
    super('block-not-found', message, details);
  }
}
/** Thrown by `extractCodeBlock`: a fence is opened and never closed, so the answer was cut off. */
export class UnclosedFenceError extends FleetError {
  constructor(message: string, details?: ErrorDetails) {
    super('unclosed-fence', message, details);
  }
}
export class PromptError extends FleetError {}
/** An agent gave no usable answer. `usage` is what the calls up to here used, so that it is not lost. */
export class AgentError extends FleetError {
  readonly usage: Usage | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails & { readonly usage?: Usage } = {}) {
    super(code, message, details);
    this.usage = details.usage;
  }
}
/** The static analysis of a text took more time or memory than it may have, and was ended. */
export class AnalysisLimitError extends FleetError {
  constructor(message: string, details?: ErrorDetails) {
    super('analysis-limit', message, details);
  }
}
/** Scripts cannot be tried out on this machine: it has no sandbox that isolates, or no Python with pandas. */
export class TrialError extends FleetError {
  constructor(message: string, details?: ErrorDetails) {
    super('trial-unavailable', message, details);
  }
}
/** The fleet refuses to send an agent call: no budget, no quota, or a person has to decide. */
export class CallRefusedError extends FleetError {}
export class JobError extends FleetError {}
/** A request that the HTTP API refuses before any job is concerned. */
export class RequestError extends FleetError {}
/**
 * Thrown on the evaluating side: the script of this job was not checked, or not this script (REQ-SF-022). The name is the
 * one by which BullMQ knows that another try cannot help, and the code comes before the message, as on every failed job.
 */
export class UncheckedSolutionError extends FleetError {
  constructor(
    message: string,
    details?: ErrorDetails,
    code: 'unchecked-solution' | 'solution-refused' = 'unchecked-solution',
  ) {
    super(code, `[${code}] ${message}`, details);
    this.name = 'UnrecoverableError';
  }
}
/** Thrown on the evaluating side: the script was checked, and the status of a check is not one that its evaluation requires. */
export class RefusedSolutionError extends UncheckedSolutionError {
  /** Of the leakage check, or of the contamination check. */
  readonly status: string;

  constructor(status: string, message: string, details?: ErrorDetails) {
    super(message, details, 'solution-refused');
    this.status = status;
  }
}
/** Thrown by the HTTP client: no gateway answers, or what answers is none. */
export class GatewayError extends FleetError {
  constructor(message: string, details?: ErrorDetails) {
    super('gateway-unreachable', message, details);
  }
}
export class RedisError extends FleetError {}
export class InternalError extends FleetError {
  constructor(message: string, details?: ErrorDetails) {
    super('internal', message, details);
  }
}

/** Whether an analysis was ended for its time or memory; from another process the error comes without its class. */
export function isAnalysisLimit(thrown: unknown): thrown is FleetError {
  return thrown instanceof FleetError && thrown.code === 'analysis-limit';
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Turns anything that was thrown into a `FleetError`; what is not ours becomes `internal`. */
export function toFleetError(thrown: unknown): FleetError {
  if (thrown instanceof FleetError) return thrown;
  return new InternalError(messageOf(thrown), { cause: thrown });
}
