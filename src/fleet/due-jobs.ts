import type { Redis } from 'ioredis';
import { messageOf } from '../errors.js';
import { scheduleDueJobs } from '../queues/fairness/schedule-due-jobs.js';
import type { Logger } from './logger.js';
import type { WriteRefusals } from './write-refusals.js';

/** How often one worker of the fleet for each kind schedules jobs that become due, in milliseconds. */
const LOOK_MS = 1_000;
/** The lease is a little shorter, so the next run is not skipped. */
const LEASE_MS = LOOK_MS * 0.9;

/** Schedules delayed jobs as they become due. A due job that is not scheduled yet runs after all others. */
export class DueJobs {
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;

  constructor(
    private readonly client: Redis,
    private readonly prefix: string,
    private readonly kinds: readonly string[],
    private readonly logger: Logger,
    private readonly refusals: Pick<WriteRefusals, 'reason'>,
  ) {
    this.#timer = setInterval(() => {
      this.#running ??= this.#look().finally(() => {
        this.#running = undefined;
      });
    }, LOOK_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async #look(): Promise<void> {
    if (this.client.status !== 'ready' || this.refusals.reason !== undefined) return;
    for (const kind of this.kinds) {
      try {
        await scheduleDueJobs(this.client, this.prefix, kind, LEASE_MS);
      } catch (thrown) {
        const reason = messageOf(thrown);
        this.logger.warn({ kind, reason }, 'delayed jobs could not be scheduled');
      }
    }
  }
}
