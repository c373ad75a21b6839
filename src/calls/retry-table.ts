import { DEFAULT_JOB } from '../queues/kind.js';
import type { CallOutcome, OutcomeClass } from './outcome.js';
import { DEFAULT_RETRY_POLICY } from './retry-policy.js';

/** How a call that ended badly is sent again while its job goes on. */
type InPlace =
  /** Not at all. */
  | 'never'
  /** After a wait that doubles (see `BACK_OFF`). */
  | 'back-off'
  /** When the model's limiter admits calls again; the job waits in the queue meanwhile. Uses up neither retry nor attempt. */
  | 'limiter';

export interface RetryRow {
  readonly inPlace: InPlace;
  /** What the job does when the call is not retried any more: another attempt, or its end. `-`: there is nothing to retry. */
  readonly thenJob: 'attempt' | 'end' | '-';
  /** Why, in one clause or two. */
  readonly why: string;
}

/**
 * Every way in which a call can end, and what is retried after it. `docs/retries.md` lists exactly these rows (tested both
 * ways).
 */
export const CALL_RETRIES = {
  answered: row('never', '-', 'There is an answer; a later attempt gets it from the ledger.'),
  truncated: row(
    'never',
    'end',
    'Retried once with twice the token limit; after that it would be cut again.',
  ),
  refused: row('never', 'end', 'The same request is refused again.'),
  'schema-invalid': row(
    'never',
    'end',
    'The request is retried with the problem; this is the last such answer.',
  ),
  'tool-loop': row('never', 'end', 'The agent does not come to an answer.'),
  'context-exceeded': row('never', 'end', 'The text does not become shorter.'),
  'unknown-stop': row('never', 'end', 'This version does not know what the provider said.'),
  incomplete: row('back-off', 'attempt', 'A connection broke.'),
  idle: row('back-off', 'attempt', 'A stream fell silent.'),
  timeout: row(
    'never',
    'attempt',
    'The total time is used up; sent again at once, the call would use it up again.',
  ),
  'rate-limited': row(
    'limiter',
    'attempt',
    'The whole fleet holds back until the provider takes calls again.',
  ),
  'no-credit': row(
    'limiter',
    'end',
    'Somebody has to pay. Until then jobs wait, and one call in a while is the probe.',
  ),
  overloaded: row(
    'back-off',
    'attempt',
    'The provider failed inside; 529 or a named time opens the circuit instead.',
  ),
  unreachable: row('back-off', 'attempt', 'No answer came.'),
  unauthorized: row('never', 'end', 'The key stays wrong.'),
  'unknown-model': row('never', 'end', 'The model stays unknown.'),
  'bad-request': row('never', 'end', 'The request stays bad.'),
  cancelled: row(
    'never',
    'attempt',
    'Cancelled jobs end; those of a stopping worker go back to the queue without an attempt.',
  ),
} as const satisfies Record<OutcomeClass, RetryRow>;

function row(inPlace: InPlace, thenJob: RetryRow['thenJob'], why: string): RetryRow {
  return { inPlace, thenJob, why };
}

/**
 * How many workers may crash in attempts of a job before it fails with `killed-its-worker`, if it runs in its worker's own
 * process. With an isolated process, the crash of that process is the second one, and proves that the job is the cause.
 */
export const MAX_CRASHES = 2;

/**
 * How often a job may stall, for whatever reason: its worker crashed, was paused, or lost its lock. BullMQ counts. This
 * bound ends a job whose crashes do not prove that it is the cause: its machines may have been taken away.
 */
export const MAX_STALLED_COUNT = 20;

/**
 * How many answers in a row may be billed and break off before they end the attempt. What a model answers costs from its first
 * word on, and an overload may be told after it every time.
 */
export const MAX_BROKEN_ANSWERS = 5;

/** Bounds of retries, as the documentation names them. */
export const RETRY_BOUNDS = {
  'calls.retries': DEFAULT_RETRY_POLICY.retries,
  'calls.baseDelayMs': DEFAULT_RETRY_POLICY.baseDelayMs,
  'calls.maxDelayMs': DEFAULT_RETRY_POLICY.maxDelayMs,
  'calls.maxRetryAfterMs': DEFAULT_RETRY_POLICY.maxRetryAfterMs,
  'calls.brokenAnswers': MAX_BROKEN_ANSWERS,
  'jobs.attempts': DEFAULT_JOB.attempts,
  'jobs.backoffMs': DEFAULT_JOB.backoffMs,
  'jobs.crashes': MAX_CRASHES,
  'jobs.stalledCount': MAX_STALLED_COUNT,
} as const;

/** Whether the same request may be sent again: a transient failure that the server did not call final. */
export function isPassing(outcome: CallOutcome): boolean {
  // The request itself is right: it succeeds as soon as the account has credit, whatever the header says.
  if (outcome.class === 'no-credit') return true;
  return CALL_RETRIES[outcome.class].inPlace !== 'never' && outcome.headers?.['x-should-retry'] !== 'false';
}

/**
 * Whether an outcome opens the circuit of the model for the whole fleet: 429, 529 (also as an error inside a stream), no credit, or any
 * passing failure that names a time to come back. A single 500 says nothing about the next call.
 */
export function opensCircuit(outcome: CallOutcome): boolean {
  if (!isPassing(outcome)) return false;
  if (outcome.class === 'rate-limited' || outcome.class === 'no-credit') return true;
  if (outcome.class !== 'overloaded') return false;
  return (
    outcome.status === undefined || outcome.status === 529 || outcome.headers?.['retry-after'] !== undefined
  );
}
