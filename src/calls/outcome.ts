import type { ErrorCode } from '../errors.js';
import type { ReceivedMessage, TokenCounts } from './message.js';

interface OutcomeRule {
  /** Code of the error that the caller gets; null where there is an answer. */
  readonly error: ErrorCode | null;
  /** What it means. */
  readonly meaning: string;
}

function rule(error: ErrorCode | null, meaning: string): OutcomeRule {
  return { error, meaning };
}

/** How a call can end. Each class has one error that it becomes; the retry table says whether it is sent again. */
export const OUTCOMES = {
  answered: rule(null, 'a whole message that ends as it should'),
  truncated: rule('answer-truncated', 'cut off by the token limit'),
  refused: rule('answer-refused', 'the model or the provider declined to answer'),
  'schema-invalid': rule('answer-invalid', 'a whole message that does not fit the request'),
  'tool-loop': rule('tool-loop', 'tools called, or turns paused, without end'),
  'context-exceeded': rule('context-exceeded', 'the request does not fit the model'),
  'unknown-stop': rule('answer-unknown-stop', 'a stop reason that this version does not know'),
  incomplete: rule('answer-incomplete', 'the answer broke off before its end'),
  idle: rule('call-idle', 'the stream fell silent'),
  timeout: rule('call-timeout', 'no whole answer within the total time'),
  'rate-limited': rule('rate-limited', 'too many requests or tokens'),
  'no-credit': rule('quota-exhausted', 'the account at the provider has no credit left'),
  overloaded: rule('overloaded', 'the provider has too much to do, or failed inside'),
  unreachable: rule('unreachable', 'the API of the provider did not answer'),
  unauthorized: rule('unauthorized', 'no key, a wrong key, or no permission'),
  'unknown-model': rule('unknown-model', 'the provider does not know the model'),
  'bad-request': rule('bad-request', 'the provider cannot take the request'),
  cancelled: rule('call-cancelled', 'the caller gave up'),
} as const satisfies Record<string, OutcomeRule>;

export type OutcomeClass = keyof typeof OUTCOMES;

/** How one request to the Messages API ended. */
export interface CallOutcome {
  readonly class: OutcomeClass;
  /** One clause for people, without a full stop. */
  readonly detail: string;
  /** The message, where a whole one was received. */
  readonly message?: ReceivedMessage;
  /** What the provider said it used, even if the answer broke off; absent if nothing was billed. */
  readonly tokens?: TokenCounts;
  /** Set if an answer had begun and the provider has not said what it used: it may have billed it. */
  readonly mayBeBilled?: true;
  /** Set if the request certainly never reached the server, so nothing can have been billed. */
  readonly neverSent?: true;
  /** Set if the answer came in a batch, at half the price. */
  readonly inBatch?: true;
  /** HTTP status, where there was a response. */
  readonly status?: number;
  /** Headers that say when to come back: `retry-after`, `x-should-retry`, `anthropic-ratelimit-*`, `request-id`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Carries a classified failure to `sendCall`; it never leaves this folder. */
export class CallFault extends Error {
  readonly outcome: CallOutcome;

  constructor(outcome: CallOutcome, cause?: unknown) {
    super(outcome.detail, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
  }
}
