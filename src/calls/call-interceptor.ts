import type { ReceivedMessage } from './message.js';
import type { CallOutcome } from './outcome.js';
import type { CallRequest } from './transport.js';

/** One call of a job, before it is sent. The same call has the same identity in every attempt of the job. */
export interface PlannedCall {
  /** The question it belongs to, as in `correct-2`. */
  readonly step: string;
  /** Number of the call within the question, from 1. */
  readonly ask: number;
  readonly model: string;
  readonly request: CallRequest;
  /** SHA-256 of the request, hexadecimal. */
  readonly digest: string;
}

/**
 * What stands between a call and the network: a ledger, a limiter, a budget. The hooks are called in this order
 * for each sending of a call: `admit` of all interceptors, `record` of all, the sending, `settle` of all in reverse.
 */
export interface CallInterceptor {
  readonly name: string;
  /**
   * Lets the call through, after a wait if there is no room, or throws to refuse it. An interceptor that holds the
   * call's answer already gives it back: then nothing is sent, and nothing is settled.
   */
  admit?(call: PlannedCall, signal?: AbortSignal): Promise<ReceivedMessage | undefined>;
  /** Takes back an admission of a call that was not sent, since a later interceptor refused or answered it. */
  release?(call: PlannedCall): Promise<void>;
  /** Last thing before the call leaves. */
  record?(call: PlannedCall): Promise<void>;
  /** Told when the response begins, where its status is one of success; must neither block nor throw. */
  accepted?(call: PlannedCall): void;
  /** First thing after its outcome is known, before the outcome is used. */
  settle?(call: PlannedCall, outcome: CallOutcome): Promise<void>;
  /**
   * Whether this interceptor decides when a call that ended like this is sent again: then it is admitted again at once,
   * and this interceptor makes it wait, or throws.
   */
  shouldDelayRetry?(outcome: CallOutcome): boolean;
}
