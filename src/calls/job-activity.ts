/**
 * What of a job is under way at the same time. A job that must wait in the queue begins again afterward: what a call or a
 * conversation has not brought by then is paid for again.
 */
export class JobActivity {
  /** Admissions, calls and settlements. */
  #calls = 0;
  #conversations = 0;
  /** What waits until everything else has ended, one for each call that the job must wait for. */
  readonly #leaving = new Set<() => void>();

  /** Counts a call, or a part of one, until it has ended. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const end = this.begin();
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** Counts a call until the returned function is called. */
  begin(): () => void {
    this.#calls += 1;
    return () => {
      this.#calls -= 1;
      this.#noteIdle();
    };
  }

  /**
   * A conversation may take several calls to an answer that the next attempt finds: between them, no call is under way.
   * @returns what ends it
   */
  converse(): () => void {
    this.#conversations += 1;
    return () => {
      this.#conversations -= 1;
      this.#noteIdle();
    };
  }

  /** Ends once nothing is under way but what waits here too, or when the signal is aborted. */
  untilIdle(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.#leaving.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      signal.addEventListener('abort', end, { once: true });
      this.#leaving.add(end);
      if (signal.aborted) end();
      this.#noteIdle();
    });
  }

  #noteIdle(): void {
    // Each conversation that waits here has one call that waits.
    if (this.#calls > 0 || this.#conversations > this.#leaving.size) return;
    for (const end of this.#leaving) end();
  }
}
