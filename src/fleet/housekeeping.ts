import type { Redis } from 'ioredis';
import { sweepReservations } from '../calls/budget/sweep-reservations.js';
import { messageOf } from '../errors.js';
import { sweepPayloads } from '../payloads/sweep-payloads.js';
import { forgetEmptyQueues } from '../queues/own-queues.js';
import type { Logger } from './logger.js';

/** How often money reserved for dead workers and stored texts that no job names are looked for, in milliseconds. */
export const HOUSEKEEPING_MS = 600_000;

/** Work that some worker of the fleet does now and then, and no two at once. */
export class Housekeeping {
  readonly #timer: NodeJS.Timeout;
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: Redis,
    private readonly prefix: string,
    private readonly logger: Logger,
    private readonly intervalMs: number = HOUSEKEEPING_MS,
  ) {
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#keep());
    }, intervalMs);
    this.#timer.unref();
  }

  /** Starts no more work, and waits until the present one has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped.abort();
    await this.#running;
  }

  async #keep(): Promise<void> {
    if (this.#stopped.signal.aborted || this.client.status !== 'ready') return;
    try {
      // Its expiry is the lease: whoever comes within the interval leaves the work to the one who did it.
      const lease = `${this.prefix}::housekeeping`;
      if ((await this.client.set(lease, '1', 'PX', this.intervalMs, 'NX')) === null) return;
      await sweepReservations(this.client, this.prefix);
      const swept = await sweepPayloads(this.client, this.prefix, { signal: this.#stopped.signal });
      await forgetEmptyQueues(this.client, this.prefix);
      if (swept.length > 0) this.logger.info({ texts: swept.length }, 'texts that no job names were removed');
    } catch (thrown) {
      this.logger.warn({ reason: messageOf(thrown) }, 'the fleet could not be kept in order');
    }
  }
}
