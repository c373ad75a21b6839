import type { Redis } from 'ioredis';
import type { WriteRefusals } from './write-refusals.js';

/** How long workers have to renew their locks after an outage of Redis, in milliseconds: a worker is back within this time. */
const MAX_GRACE_MS = 15_000;

/**
 * When a worker may look for stalled jobs. After an outage of Redis all locks may have run out, while the workers that own
 * them live and renew them as soon as they are connected again: until then no job counts as stalled.
 */
export class StalledChecks {
  readonly #refusals: Pick<WriteRefusals, 'reason' | 'endedAt'>;
  readonly #graceMs: number;
  #isAway = false;
  #backAt = Number.NEGATIVE_INFINITY;

  /** @param client whose connection breaks when Redis is away; it is connected */
  constructor(client: Redis, refusals: Pick<WriteRefusals, 'reason' | 'endedAt'>, lockMs: number) {
    this.#refusals = refusals;
    this.#graceMs = Math.min(lockMs, MAX_GRACE_MS);
    client.on('close', () => {
      this.#isAway = true;
    });
    client.on('ready', () => {
      if (this.#isAway) this.#backAt = performance.now();
      this.#isAway = false;
    });
  }

  mayCheck(): boolean {
    const { reason, endedAt } = this.#refusals;
    if (this.#isAway || reason !== undefined) return false;
    return performance.now() - Math.max(this.#backAt, endedAt) >= this.#graceMs;
  }
}
