import { CallDeferred } from '../calls/call-deferred.js';
import { AgentError, CallRefusedError, type FleetError, JobError, toFleetError } from '../errors.js';
import { ABORT_REASONS } from './abort-reasons.js';
import { WaitForChildren } from './children/wait-for-children.js';

/** What happens to a job whose attempt threw. */
export type FailureDecision =
  /** Another worker owns the job: nothing more is written. */
  | { readonly action: 'leave' }
  /** The job runs again when its children have ended. */
  | { readonly action: 'wait' }
  /** The worker drains: the job returns to the queue without using an attempt. */
  | { readonly action: 'requeue' }
  /** The job returns to the queue later, without using an attempt. */
  | { readonly action: 'delay'; readonly waitMs: number; readonly cause: DelayCause }
  /** The attempt counts. `retry` runs the job again, `fail` ends it. */
  | { readonly action: 'retry' | 'fail'; readonly error: FleetError };

type DelayCause =
  | { readonly kind: 'redis-full' }
  | { readonly kind: 'newer-contract'; readonly message: string }
  | { readonly kind: 'call-deferred'; readonly reason: string; readonly parked: boolean };

/** What the decision depends on besides the error. */
export interface FailedAttempt {
  readonly jobId: string;
  /** Attempts that were used before this one, and how many the job has. */
  readonly attemptsMade: number;
  readonly attempts: number;
  /** Why the attempt was aborted, if it was. */
  readonly signal: Pick<AbortSignal, 'aborted' | 'reason'>;
  /** Whether a full Redis rejected a write. */
  readonly redisIsFull: boolean;
  /** Maximum duration of an attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** How long a job of a newer contract waits for a newer worker, in milliseconds. */
  readonly newerContractDelayMs: number;
}

/** Delay of a job that could not write, in milliseconds. It is taken again once Redis accepts writes. */
const FULL_REDIS_DELAY_MS = 1_000;

/** Decides what happens to a job whose attempt threw. */
export function decideFailure(thrown: unknown, attempt: FailedAttempt): FailureDecision {
  const { signal, redisIsFull } = attempt;
  if (hasLostLock(thrown, signal)) return { action: 'leave' };
  if (thrown instanceof WaitForChildren && signal.reason !== ABORT_REASONS.cancelled)
    return { action: 'wait' };
  if (signal.aborted && signal.reason === ABORT_REASONS.draining && !isFinal(thrown)) {
    return { action: 'requeue' };
  }
  if (redisIsFull && !signal.aborted) {
    return { action: 'delay', waitMs: FULL_REDIS_DELAY_MS, cause: { kind: 'redis-full' } };
  }
  if (thrown instanceof CallDeferred && !signal.aborted) {
    const { waitMs, reason, parked } = thrown;
    return { action: 'delay', waitMs, cause: { kind: 'call-deferred', reason, parked } };
  }
  const error = errorOf(thrown, attempt);
  if (error.code === 'newer-contract') {
    const cause = { kind: 'newer-contract', message: error.message } as const;
    return { action: 'delay', waitMs: attempt.newerContractDelayMs, cause };
  }
  const isLast = attempt.attemptsMade + 1 >= attempt.attempts;
  // A failed child has used its own attempts: this job would meet the same failure again.
  const mayRetry = error.retryable && !isLast && error.code !== 'child-failed';
  return { action: mayRetry ? 'retry' : 'fail', error };
}

/** Whether the attempt ended because another worker owns the job. */
export function hasLostLock(thrown: unknown, signal: FailedAttempt['signal']): boolean {
  if (signal.aborted && signal.reason === ABORT_REASONS.lockLost) return true;
  return thrown instanceof JobError && thrown.code === 'lock-lost';
}

/** The error of a failed job: an abort takes precedence over the error that the handler threw because of it. */
function errorOf(thrown: unknown, { jobId, signal, timeoutMs }: FailedAttempt): FleetError {
  const { aborted, reason } = signal;
  const details = { jobId, cause: thrown };
  if (aborted && reason === ABORT_REASONS.cancelled) {
    return new JobError('job-cancelled', 'the job was cancelled', details);
  }
  const error = toFleetError(thrown);
  if (!aborted || reason !== ABORT_REASONS.timeout || error.code === 'handler-ignored-abort') return error;
  return new JobError('job-timeout', `the job ran for more than ${timeoutMs} ms`, details);
}

/**
 * Whether an attempt had failed permanently before it was aborted. If it returned to the queue, the job would pay again for
 * an unusable answer, or send a call in doubt that a person must decide about.
 */
function isFinal(thrown: unknown): boolean {
  if (thrown instanceof CallRefusedError) return thrown.code === 'call-in-doubt';
  return thrown instanceof AgentError && !thrown.retryable;
}
