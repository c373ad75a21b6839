import { setMaxListeners } from 'node:events';
import type { TokenStore } from './token-store.js';

/** When a gateway requires tokens, as its owner set it (`FLEET_AUTH`). */
export type AuthMode = 'auto' | 'required' | 'open';

/** How long a reading that no tokens are needed is used, in milliseconds. */
const OPEN_MS = 250;
/** How often an open gateway looks for tokens while no requests come, in milliseconds. */
const LOOK_MS = 1_000;

export interface AccessStart {
  readonly needsTokens: boolean;
  readonly hasTokens: boolean;
  /** Whether the fleet had tokens at some time. */
  readonly hadTokens: boolean;
}

/**
 * Whether this gateway requires tokens. It does as soon as one exists, and from then on: neither revoking the last token nor
 * losing Redis opens it again while the process lives. Redis records that a fleet had tokens.
 */
export class Access {
  readonly #tokens: TokenStore;
  readonly #opensAfterTokens: boolean;
  readonly #closed = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking: Promise<void> | undefined;

  /** @param isLocal Whether only this machine reaches the gateway. */
  constructor(tokens: TokenStore, mode: AuthMode, isLocal: boolean) {
    this.#tokens = tokens;
    // Every open request listens for it.
    setMaxListeners(0, this.#closed.signal);
    this.#opensAfterTokens = mode === 'open';
    if (mode === 'required' || !isLocal) this.#closed.abort();
    // Streams that were opened without a token end soon after one exists. A failed look is repeated.
    this.#timer = setInterval(() => this.needsToken().catch(() => undefined), LOOK_MS);
    this.#timer.unref();
  }

  /** Aborted once tokens are needed: what was opened without one ends. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Whether a request must bring a token. */
  async needsToken(): Promise<boolean> {
    if (this.#closed.signal.aborted) return true;
    if (performance.now() - this.#checkedAt >= OPEN_MS) {
      this.#checking ??= this.#check();
      await this.#checking;
    }
    return this.#closed.signal.aborted;
  }

  /** Whether tokens are needed when the gateway starts. */
  async start(): Promise<AccessStart> {
    const { hasTokens, hadTokens } = await this.#tokens.state();
    // Tokens of a version that did not record this yet.
    if (hasTokens && !hadTokens) await this.#tokens.rememberUse();
    return { needsTokens: await this.needsToken(), hasTokens, hadTokens };
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    try {
      const startedAt = performance.now();
      const { hasTokens, hadTokens } = await this.#tokens.state();
      if (hasTokens || (hadTokens && !this.#opensAfterTokens)) {
        this.#closed.abort();
        this.close();
      }
      this.#checkedAt = startedAt;
    } finally {
      this.#checking = undefined;
    }
  }
}
