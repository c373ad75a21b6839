import { RequestError } from '../../errors.js';

/** Requests that read many jobs, of one token and of all, that are served at the same time. */
const MAX_AT_ONCE = 1;
const MAX_AT_ONCE_IN_ALL = 4;
/** Requests of one token that may wait for their turn. */
const MAX_WAITING = 20;

interface Waiting {
  readonly owner: string;
  readonly begin: () => void;
}

/**
 * Turns of requests that read many jobs: whole runs, lists, pages of the board. Each of them is read a part at a time, so
 * that other requests come in between; here it is bounded how many of them are under way together.
 */
export class WholeReads {
  readonly #running = new Map<string, number>();
  #runningInAll = 0;
  readonly #waiting: Waiting[] = [];

  /**
   * Does the work when it is its turn.
   * @param owner Id of the token.
   * @returns undefined where the client had gone before its turn came.
   * @throws RequestError `gateway-busy` where too many requests of the token wait; and what the work throws.
   */
  async within<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    await this.#turn(owner);
    try {
      return signal.aborted ? undefined : await work();
    } finally {
      this.#end(owner);
    }
  }

  async #turn(owner: string): Promise<void> {
    if (this.#mayBegin(owner)) {
      this.#begin(owner);
      return;
    }
    if (this.#waiting.filter((other) => other.owner === owner).length >= MAX_WAITING) {
      throw new RequestError(
        'gateway-busy',
        `${MAX_WAITING} requests of this token that read many jobs wait already`,
      );
    }
    await new Promise<void>((resolve) => {
      this.#waiting.push({ owner, begin: resolve });
    });
  }

  #mayBegin(owner: string): boolean {
    return this.#runningInAll < MAX_AT_ONCE_IN_ALL && (this.#running.get(owner) ?? 0) < MAX_AT_ONCE;
  }

  #begin(owner: string): void {
    this.#runningInAll += 1;
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1);
  }

  #end(owner: string): void {
    this.#runningInAll -= 1;
    const left = (this.#running.get(owner) ?? 1) - 1;
    if (left === 0) this.#running.delete(owner);
    else this.#running.set(owner, left);
    const next = this.#waiting.findIndex((waiting) => this.#mayBegin(waiting.owner));
    if (next === -1) return;
    const [waiting] = this.#waiting.splice(next, 1);
    if (waiting === undefined) return;
    this.#begin(waiting.owner);
    waiting.begin();
  }
}
