import { messageOf } from '../../errors.js';
import { runScript } from '../../queues/run-script.js';
import type { CallControl } from '../call-control.js';
import type { TokenCounts } from '../message.js';
import { renewRepeatedly } from '../renew-repeatedly.js';
import { RELEASE_PREFIX, RENEW_PREFIX } from './prefix-scripts.js';

/** By so much the fleet takes a cache entry for expired before the provider does, in milliseconds. */
const EXPIRY_MARGIN_MS = 10_000;

type PrefixState = 'cached' | 'uncached';

/** The cacheable prefix of a call that was sent, as its worker sees it. */
export interface PrefixOfCall {
  /** Key of the state of the prefix. */
  readonly key: string;
  /** How long the provider keeps it after each use, in milliseconds. */
  readonly ttlMs: number;
  /** The call, as the state names it. */
  readonly call: string;
  /** Whether it is the first with this prefix, so that others wait for it. */
  readonly isFirst: boolean;
}

/**
 * Tells the other calls with the same prefix when the answer to this one has begun, or that it has failed. No call depends on
 * these writes: without them the others wait until the lease expires.
 */
export class SentPrefix {
  readonly #control: CallControl;
  readonly #prefix: PrefixOfCall;
  readonly #warn: (message: string) => void;
  readonly #stopRenewing: () => void;
  #state: PrefixState | undefined;

  constructor(control: CallControl, prefix: PrefixOfCall, warn: (message: string) => void) {
    this.#control = control;
    this.#prefix = prefix;
    this.#warn = warn;
    this.#stopRenewing = prefix.isFirst ? this.#keepFirst() : () => undefined;
  }

  /** The answer has begun. @param tokens what the provider has counted so far */
  begun(tokens: TokenCounts): void {
    this.#stopRenewing();
    const state: PrefixState = tokens.cacheReadTokens + tokens.cacheWriteTokens > 0 ? 'cached' : 'uncached';
    if (state === this.#state) return;
    this.#state = state;
    const { key, ttlMs } = this.#prefix;
    this.#unawaited(this.#control.client.set(key, state, 'PX', ttlMs - EXPIRY_MARGIN_MS));
  }

  /** The call has ended. @param tokens undefined if the provider did not count any */
  ended(tokens: TokenCounts | undefined): void {
    this.#stopRenewing();
    if (tokens !== undefined) this.begun(tokens);
    if (this.#state !== undefined || !this.#prefix.isFirst) return;
    this.#unawaited(runScript(this.#control.client, RELEASE_PREFIX, [this.#prefix.key], [this.#prefix.call]));
  }

  /** Others stop waiting for an answer that does not begin, even if this process lives. */
  #keepFirst(): () => void {
    const { client, clock, cacheWaitMs } = this.#control;
    const until = clock.now() + cacheWaitMs;
    const { key, call } = this.#prefix;
    return renewRepeatedly(
      clock,
      async () => clock.now() < until && (await runScript(client, RENEW_PREFIX, [key], [call])) === 1,
      (thrown) => this.#warnOf(thrown),
    );
  }

  #unawaited(written: Promise<unknown>): void {
    written.catch((thrown: unknown) => this.#warnOf(thrown));
  }

  #warnOf(thrown: unknown): void {
    this.#warn(`calls with the same prompt prefix may wait for this one: ${messageOf(thrown)}`);
  }
}
