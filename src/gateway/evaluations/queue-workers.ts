import { Worker } from 'bullmq';
import type { Logger } from 'pino';
import { messageOf } from '../../errors.js';
import { workerConnection } from '../../queues/connection.js';

/** How often an evaluation may be claimed again after its lease expired before it fails. */
const MAX_STALLED_COUNT = 3;
/** How many queues are open at the same time; each costs two connections to Redis. */
const MAX_WORKERS = 50;
/** How long a queue without claims stays open, in milliseconds. */
const IDLE_MS = 300_000;

/** What a BullMQ worker of a pipeline's queue needs. */
export interface QueueWorkersOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly logger: Logger;
  /** How often to look for expired leases, in milliseconds. */
  readonly stalledCheckMs: number;
  readonly maxWorkers?: number | undefined;
}

interface OpenWorker {
  readonly worker: Worker;
  readonly ready: Promise<void>;
  usedAt: number;
}

/**
 * The BullMQ workers through which evaluations are claimed: one for each queue, the most recently used ones only.
 * They run no jobs by themselves.
 */
export class QueueWorkers {
  readonly #options: QueueWorkersOptions;
  /** In the order of their last use. */
  readonly #workers = new Map<string, OpenWorker>();
  readonly #closing = new Set<Promise<void>>();
  readonly #idleTimer: NodeJS.Timeout;
  #isClosed = false;

  constructor(options: QueueWorkersOptions) {
    this.#options = options;
    this.#idleTimer = setInterval(() => this.#closeIdle(), IDLE_MS / 5);
    this.#idleTimer.unref();
  }

  /** The worker of a queue; undefined once this is closed. */
  async get(queue: string): Promise<Worker | undefined> {
    if (this.#isClosed) return undefined;
    // No await between the look-up and the entry: two claims at once would open two workers, and one of them would never be
    // closed.
    const open = this.#workers.get(queue) ?? this.#open(queue);
    open.usedAt = Date.now();
    // The last entry of the map was used last.
    this.#workers.delete(queue);
    this.#workers.set(queue, open);
    await open.ready;
    return open.worker;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#idleTimer);
    for (const queue of [...this.#workers.keys()]) this.#close(queue);
    await Promise.all(this.#closing);
  }

  #open(queue: string): OpenWorker {
    const { redisUrl, prefix, logger, stalledCheckMs, maxWorkers = MAX_WORKERS } = this.#options;
    const [oldest] = this.#workers.keys();
    // Leases are in Redis and continue without the worker.
    if (oldest !== undefined && this.#workers.size >= maxWorkers) this.#close(oldest);
    const worker = new Worker(queue, null, {
      connection: workerConnection(redisUrl),
      prefix,
      autorun: false,
      maxStalledCount: MAX_STALLED_COUNT,
      stalledInterval: stalledCheckMs,
    });
    worker.on('error', (error) => logger.warn({ queue, reason: error.message }, 'evaluations'));
    worker.on('stalled', (jobId) => logger.warn({ queue, jobId }, 'the lease of this evaluation expired'));
    return { worker, ready: worker.startStalledCheckTimer(), usedAt: Date.now() };
  }

  #closeIdle(): void {
    for (const [queue, { usedAt }] of this.#workers) {
      if (Date.now() - usedAt < IDLE_MS) return;
      this.#close(queue);
    }
  }

  #close(queue: string): void {
    const open = this.#workers.get(queue);
    if (open === undefined) return;
    this.#workers.delete(queue);
    const closing: Promise<void> = this.#end(queue, open).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #end(queue: string, { worker }: OpenWorker): Promise<void> {
    try {
      await worker.close(true);
    } catch (thrown) {
      this.#options.logger.warn(
        { queue, reason: messageOf(thrown) },
        'a queue of evaluations could not be closed',
      );
    }
  }
}
