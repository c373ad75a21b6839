import type { Clock } from '../../src/calls/clock.js';

/** A clock that the test advances; `waits` are the timers that were set, in order. */
export class ManualClock implements Clock {
  #now: number;
  readonly #timers = new Map<number, { readonly at: number; readonly action: () => void }>();
  readonly waits: number[] = [];
  #next = 0;
  #onTimer: (() => void) | undefined;

  constructor(now = Date.parse('2026-11-20T10:00:00Z')) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, action: () => void): () => void {
    this.#next += 1;
    const id = this.#next;
    this.waits.push(ms);
    this.#timers.set(id, { at: this.#now + ms, action });
    this.#onTimer?.();
    return () => this.#timers.delete(id);
  }

  /** Timers that are set and have not fired. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Resolves once a timer of exactly so many milliseconds is pending. */
  async armed(ms: number): Promise<void> {
    const isArmed = () => [...this.#timers.values()].some((timer) => timer.at - this.#now === ms);
    while (!isArmed()) {
      await new Promise<void>((resolve) => {
        this.#onTimer = resolve;
      });
    }
  }

  /** Moves the time on and fires what is due, in order. */
  advance(ms: number): void {
    this.#now += ms;
    const due = [...this.#timers].filter(([, timer]) => timer.at <= this.#now);
    for (const [id, timer] of due.sort(([, a], [, b]) => a.at - b.at)) {
      if (this.#timers.delete(id)) timer.action();
    }
  }
}

/** A clock on which the waits between retries pass at once, and the timers of a call never fire. */
export class HastyClock implements Clock {
  readonly waits: number[] = [];

  now(): number {
    return Date.now();
  }

  after(ms: number, action: () => void): () => void {
    // The idle and total timers of a call are longer than any wait between retries.
    if (ms >= 80_000) return () => undefined;
    this.waits.push(ms);
    const soon = setImmediate(action);
    return () => clearImmediate(soon);
  }
}
