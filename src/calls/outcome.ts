import type { ErrorCode } from '../errors.js';
import type { ReceivedMessage, TokenCounts } from './message.js';

interface OutcomeRule {
  /** Code of the error that the caller gets; null where there is an answer. */
  readonly error: ErrorCode | null;
  /** A failure in passing: the same call is sent again in place. */
  readonly passing: boolean;
  /** What it means. */
  readonly meaning: string;
}

function rule(error: ErrorCode | null, passing: boolean, meaning: string): OutcomeRule {
  return { error, passing, meaning };
}

/**
 * How a call can end. Each class has one rule: which error it becomes, and whether the call is sent again in
 * place. A class that is not passing is not sent again as it is: asking it again costs the same for the same.
 */
export const OUTCOMES = {
  answered: rule(null, false, 'a whole message that ends as it should'),
  truncated: rule('answer-truncated', false, 'cut off by the token limit'),
  refused: rule('answer-refused', false, 'the model or the provider declined to answer'),
  'schema-invalid': rule('answer-invalid', false, 'a whole message that does not fit what was asked for'),
  'tool-loop': rule('tool-loop', false, 'tools called, or turns paused, without end'),
  'context-exceeded': rule('context-exceeded', false, 'the request does not fit the model'),
  'unknown-stop': rule('answer-unknown-stop', false, 'a stop reason that this version does not know'),
  incomplete: rule('answer-incomplete', true, 'the answer broke off before its end'),
  idle: rule('call-idle', true, 'the stream fell silent'),
  timeout: rule('call-timeout', false, 'no whole answer within the total time'),
  'rate-limited': rule('rate-limited', true, 'too many requests or tokens'),
  overloaded: rule('overloaded', true, 'the provider has too much to do, or failed inside'),
  unreachable: rule('unreachable', true, 'no Messages API answered'),
  unauthorised: rule('unauthorised', false, 'no key, a wrong key, or no permission'),
  'unknown-model': rule('unknown-model', false, 'the provider does not know the model'),
  'bad-request': rule('bad-request', false, 'the provider cannot take the request'),
  cancelled: rule('call-cancelled', false, 'the caller gave up'),
} as const satisfies Record<string, OutcomeRule>;

export type OutcomeClass = keyof typeof OUTCOMES;

/** How one request to the Messages API ended. */
export interface CallOutcome {
  readonly class: OutcomeClass;
  /** One clause for people, without a full stop. */
  readonly detail: string;
  /** The message, where a whole one was received. */
  readonly message?: ReceivedMessage;
  /** What the provider said it used, also where the answer broke off; absent where nothing was billed. */
  readonly tokens?: TokenCounts;
  /** HTTP status, where there was a response. */
  readonly status?: number;
  /** Headers that say when to come back: `retry-after`, `x-should-retry`, `anthropic-ratelimit-*`, `request-id`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Whether the same request may be sent again in place: a passing failure that the server did not call final. */
export function isPassing(outcome: CallOutcome): boolean {
  return OUTCOMES[outcome.class].passing && outcome.headers?.['x-should-retry'] !== 'false';
}

/** Carries a classified failure up to where the call is classified; it never leaves this folder. */
export class CallFault extends Error {
  readonly outcome: CallOutcome;

  constructor(outcome: CallOutcome, cause?: unknown) {
    super(outcome.detail, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
  }
}
