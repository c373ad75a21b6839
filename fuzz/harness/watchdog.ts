import { Worker } from 'node:worker_threads';

/** What the process writes to standard error before it is killed for its processor time. */
export const TOO_SLOW = 'fuzz: the input was ended for its processor time';

/** Ends this process if the guarded code uses more processor time than allowed. */
export class Watchdog {
  readonly #cells: Float64Array;

  constructor() {
    const memory = new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT);
    this.#cells = new Float64Array(memory);
    new Worker(new URL('./watchdog.mjs', import.meta.url), {
      workerData: { memory, message: TOO_SLOW },
      execArgv: [],
    }).unref();
  }

  async guard<T>(allowedMs: number, run: () => Promise<T>): Promise<T> {
    const { user, system } = process.cpuUsage();
    this.#cells[1] = allowedMs;
    this.#cells[0] = (user + system) / 1_000;
    try {
      return await run();
    } finally {
      this.#cells[0] = 0;
    }
  }
}
