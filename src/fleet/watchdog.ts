import type { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { messageOf } from '../errors.js';
import type { Logger } from './logger.js';
import type { RunningJobs } from './running-jobs.js';
import { allConnected, wakeWorker } from './worker-connections.js';
import type { WriteRefusals } from './write-refusals.js';

/** A worker that is unhealthy for this long does not recover by itself, in milliseconds. */
export const DEFAULT_UNHEALTHY_MS = 300_000;

/** If jobs wait, slots are free and no job was taken for this long, the worker does not poll, in milliseconds. */
const IDLE_MS = 20_000;

/** A worker is unhealthy when so many looks in a row have found no healthy one. */
const LATE_LOOKS = 3;

const notAbleFor = (ms: number) => `not able to work for ${Math.round(ms / 1_000)} s`;

export interface WatchdogParts {
  readonly workers: readonly Worker[];
  readonly durableClient: Redis;
  readonly subscriber: Redis;
  readonly logger: Logger;
  readonly running: Pick<RunningJobs, 'countOf'>;
  readonly refusals?: Pick<WriteRefusals, 'reason'>;
}

/**
 * Checks that a worker can work: its connections are open, Redis answers, and waiting jobs are taken. A worker that stopped
 * polling is woken; one that stays unhealthy resolves `unhealthy`, so its supervisor can start another.
 */
export class Watchdog {
  /** Resolves with the reason when the worker has been unhealthy for too long. */
  readonly unhealthy: Promise<string>;
  readonly #parts: WatchdogParts;
  readonly #timer: NodeJS.Timeout;
  readonly #idleMs: number;
  readonly #lateMs: number;
  readonly #lastTaken = new Map<Worker, number>();
  #healthyAt = performance.now();
  #looking = false;

  constructor(
    parts: WatchdogParts,
    unhealthyMs: number,
    lookMs = Math.min(5_000, unhealthyMs / 4),
    idleMs = IDLE_MS,
  ) {
    this.#parts = parts;
    this.#idleMs = idleMs;
    this.#lateMs = LATE_LOOKS * lookMs;
    for (const worker of parts.workers) this.#follow(worker);
    let giveUp: (reason: string) => void = () => undefined;
    this.unhealthy = new Promise((resolve) => {
      giveUp = resolve;
    });
    this.#timer = setInterval(() => {
      this.#excuse();
      const since = performance.now() - this.#healthyAt;
      if (since >= unhealthyMs) giveUp(notAbleFor(since));
      if (this.#looking) return;
      this.#looking = true;
      this.#look().then(
        () => {
          this.#looking = false;
        },
        (thrown: unknown) => {
          this.#looking = false;
          parts.logger.warn({ reason: messageOf(thrown) }, 'the health check of the worker failed');
        },
      );
    }, lookMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** What prevents the worker from working now; undefined if nothing does. */
  get problem(): string | undefined {
    const refused = this.#parts.refusals?.reason;
    if (refused !== undefined) return refused;
    const since = performance.now() - this.#healthyAt;
    return since < this.#lateMs ? undefined : notAbleFor(since);
  }

  #follow(worker: Worker): void {
    this.#lastTaken.set(worker, performance.now());
    worker.on('active', () => this.#lastTaken.set(worker, performance.now()));
  }

  /** Redis refuses writes: it would refuse those of another worker as well, and this one's answers would be lost. */
  #excuse(): boolean {
    if (this.#parts.refusals?.reason === undefined) return false;
    this.#healthyAt = performance.now();
    for (const worker of this.#parts.workers) this.#lastTaken.set(worker, performance.now());
    return true;
  }

  async #look(): Promise<void> {
    const { workers, durableClient, subscriber, logger } = this.#parts;
    if (!(await allConnected(workers, [durableClient, subscriber]))) return;
    await durableClient.ping();
    if (this.#excuse()) return;
    let healthy = true;
    for (const worker of workers) {
      if (!worker.isRunning()) healthy = false;
      else if (await this.#sleepsOverJobs(worker)) {
        healthy = false;
        logger.warn({ kind: worker.name }, 'jobs wait but none is taken; the worker is woken');
        this.#lastTaken.set(worker, performance.now());
        await wakeWorker(worker, durableClient);
      }
    }
    if (healthy) this.#healthyAt = performance.now();
  }

  async #sleepsOverJobs(worker: Worker): Promise<boolean> {
    const idleMs = performance.now() - (this.#lastTaken.get(worker) ?? 0);
    const { durableClient, running } = this.#parts;
    if (idleMs < this.#idleMs || running.countOf(worker.toKey('')) >= worker.concurrency) return false;
    const key = (rest: string) => worker.toKey(rest);
    const [waiting, prioritized, paused, most] = await Promise.all([
      durableClient.llen(key('wait')),
      durableClient.zcard(key('prioritized')),
      durableClient.hexists(key('meta'), 'paused'),
      durableClient.hexists(key('meta'), 'concurrency'),
    ]);
    return waiting + prioritized > 0 && paused === 0 && most === 0;
  }
}
