import type { Clock } from '../calls/clock.js';

/**
 * A clock that a test moves on, for the waits of agent calls. Pass it to the runner, for those between retries, and to the worker as
 * `calls: { clock, now: () => clock.now(), shortWaitMs: Infinity }`, for rate limits and quotas: a job that waits longer than
 * `shortWaitMs` goes back to the queue. Waits there, locks of jobs and leases of evaluations go by real time. Add
 * `cacheWaitMs: 0` unless the test also moves the clock for calls that wait for the prompt cache.
 */
export class TestClock implements Clock {
  #now: number;
  #next = 0;
  readonly #timers = new Map<number, { readonly at: number; readonly action: () => void }>();
  readonly #waiting = new Set<() => void>();

  /** @param now milliseconds since 1970 */
  constructor(now = Date.now()) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, action: () => void): () => void {
    this.#next += 1;
    const id = this.#next;
    this.#timers.set(id, { at: this.#now + ms, action });
    for (const check of this.#waiting) check();
    return () => this.#timers.delete(id);
  }

  /** Milliseconds until each timer that is set, shortest first. */
  get timers(): readonly number[] {
    return [...this.#timers.values()].map(({ at }) => at - this.#now).sort((a, b) => a - b);
  }

  /** Resolves once a timer is set that the function accepts. */
  async timer(accept: (ms: number) => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      const check = () => {
        if (!this.timers.some(accept)) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }

  /** Moves the time on by so many milliseconds and fires what is due, in order. */
  advance(ms: number): void {
    this.#now += ms;
    const due = [...this.#timers].filter(([, { at }]) => at <= this.#now);
    for (const [id, { action }] of due.sort(([, a], [, b]) => a.at - b.at)) {
      if (this.#timers.delete(id)) action();
    }
  }
}
