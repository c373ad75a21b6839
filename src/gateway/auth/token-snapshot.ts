/** Least pause between two readings, in milliseconds. */
const PAUSE_MS = 100;

/**
 * A copy of all tokens for rejecting wrong ones: however many wrong tokens are sent, they cost one reading in `PAUSE_MS`. A
 * new token is never rejected, because a reading that began after it was sent decides.
 */
export class TokenSnapshot<T> {
  readonly #read: () => Promise<ReadonlyMap<string, T>>;
  #known: ReadonlyMap<string, T> = new Map();
  #next: Promise<void> | undefined;
  #readableAt = 0;

  constructor(read: () => Promise<ReadonlyMap<string, T>>) {
    this.#read = read;
  }

  /** The last reading. */
  get(id: string): T | undefined {
    return this.#known.get(id);
  }

  /** Resolves after a reading that began later than this call. */
  refresh(): Promise<void> {
    this.#next ??= this.#readNext();
    return this.#next;
  }

  async #readNext(): Promise<void> {
    const pause = this.#readableAt - performance.now();
    // At least one turn of the event loop, so that `#next` is set before it is cleared.
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, pause)));
    this.#readableAt = performance.now() + PAUSE_MS;
    // Later callers may have a token that this reading does not include.
    this.#next = undefined;
    this.#known = await this.#read();
  }
}
