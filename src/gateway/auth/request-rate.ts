import { RequestError } from '../../errors.js';
import { withDetails } from '../http/problem.js';

interface Bucket {
  tokens: number;
  at: number;
}

/** How many callers are remembered; the one idle for longest is dropped first, when its bucket is full again. */
const MAX_BUCKETS = 10_000;

/** Limits how many requests one caller sends: so many at once, refilled evenly over a minute (token bucket). */
export class RequestRate {
  readonly #perMinute: number;
  readonly #what: string;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /**
   * @param what What is limited, in the plural.
   * @param now Present time in milliseconds.
   */
  constructor(perMinute: number, what = 'requests', now: () => number = Date.now) {
    this.#perMinute = perMinute;
    this.#what = what;
    this.#now = now;
  }

  /** @throws RequestError `too-many-requests`, with the seconds until the next request is accepted. */
  take(caller: string): void {
    const now = this.#now();
    const before = this.#buckets.get(caller) ?? { tokens: this.#perMinute, at: now };
    const refilled = ((now - before.at) / 60_000) * this.#perMinute;
    const tokens = Math.min(this.#perMinute, before.tokens + refilled);
    // Deleting first moves the caller to the end, so that the first key is the one idle for longest.
    this.#buckets.delete(caller);
    this.#buckets.set(caller, { tokens: tokens < 1 ? tokens : tokens - 1, at: now });
    if (this.#buckets.size > MAX_BUCKETS) {
      for (const idle of this.#buckets.keys()) {
        this.#buckets.delete(idle);
        break;
      }
    }
    if (tokens >= 1) return;
    const retryAfter = Math.ceil(((1 - tokens) / this.#perMinute) * 60);
    throw withDetails(
      new RequestError('too-many-requests', `more than ${this.#perMinute} ${this.#what} in a minute`),
      { retryAfter },
    );
  }
}
