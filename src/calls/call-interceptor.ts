import type { ReceivedMessage, TokenCounts } from './message.js';
import type { CallOutcome } from './outcome.js';
import type { PriceList } from './prices.js';
import type { CallRequest, Provider } from './transport.js';

/** One call of a job, before it is sent. The same call has the same identity in every attempt of the job. */
export interface PlannedCall {
  /** Name of its conversation within the job, as in `correct-2`. */
  readonly step: string;
  /** Number of the call within the conversation, from 1. */
  readonly turn: number;
  readonly model: string;
  readonly request: CallRequest;
  /** SHA-256 of the request, hexadecimal. */
  readonly digest: string;
  /** Set if the conversation is held once in a job, even if it gives no usable answer. */
  readonly once?: true;
  /** Prices of the configuration, which come before those of the list. */
  readonly prices?: PriceList;
  /** Default: `anthropic`. */
  readonly provider?: Provider;
  /** Which server of the provider answers, and in which dialect; default: the usual one. */
  readonly server?: string;
  /** Set if the answer has to be the model's own, also where another job has asked the same. */
  readonly independent?: true;
}

/** The answer to a call that need not be sent. */
export interface RecordedAnswer {
  readonly message: ReceivedMessage;
  /** Set if it came in a batch and is used for the first time: its cost counts as that of a call. */
  readonly fromBatch?: true;
}

/**
 * Handles a call before and after it is sent: a ledger, a limiter, a budget. Each time a call is sent, the hooks run in
 * this order: `admit` of all interceptors, `record` of all, the send itself, `settle` of all in reverse.
 */
export interface CallInterceptor {
  readonly name: string;
  /** A conversation begins, in which several calls may be made. Returns what is called when it has ended. */
  converse?(): () => void;
  /**
   * Admits the call, after a wait if there is no room, or throws to reject it. An interceptor that already has the
   * call's answer returns it: then nothing is sent, and nothing is settled.
   */
  admit?(call: PlannedCall, signal?: AbortSignal): Promise<RecordedAnswer | undefined>;
  /** The answer of a batch is used for the first time; the outcome says whether it is usable. */
  use?(call: PlannedCall, outcome: CallOutcome): Promise<void>;
  /** Takes back the admission of a call that was not sent because a later interceptor rejected or answered it. */
  release?(call: PlannedCall): Promise<void>;
  /** The answer proved to be unusable after the conversation had ended: no other job gets it. */
  withdraw?(call: PlannedCall): Promise<void>;
  /** Last hook before the call is sent. */
  record?(call: PlannedCall): Promise<void>;
  /**
   * The answer has begun to come. Nothing waits for this hook, and it must not throw.
   *
   * @param tokens what the provider has counted so far
   */
  begin?(call: PlannedCall, tokens: TokenCounts): void;
  /** First hook after the outcome is known, before the outcome is used. */
  settle?(call: PlannedCall, outcome: CallOutcome): Promise<void>;
  /**
   * Whether this interceptor decides when a call with this outcome is sent again: then `admit` is called again at once,
   * and this interceptor waits or throws there.
   */
  shouldDelayRetry?(outcome: CallOutcome): boolean;
}
