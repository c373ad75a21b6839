import { abortable } from '../async.js';

/** Lets a number of pieces of work run at the same time; others wait in the order in which they came. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Does work once there is a slot for it.
   * @throws the reason of the signal if it is aborted before.
   */
  async use<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  async #take(signal: AbortSignal | undefined): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    let taken: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => {
      taken = resolve;
    });
    this.#waiting.push(taken);
    try {
      await (signal === undefined ? turn : abortable(turn, signal));
    } catch (thrown) {
      const at = this.#waiting.indexOf(taken);
      // Its turn came at the same moment.
      if (at === -1) this.#release();
      else this.#waiting.splice(at, 1);
      throw thrown;
    }
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
