import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Redis } from 'ioredis';
import { messageOf } from '../errors.js';
import { REPORT_MS, removeWorkerReport, writeWorkerReport } from '../queues/worker-report.js';
import type { Logger } from './logger.js';

const NANOSECONDS = 1e9;
/** Resolution of the event loop delay's measurement, in milliseconds: so often an idle worker wakes up for it. */
const RESOLUTION_MS = 50;

/** Reports the state of this worker's process to Redis at regular intervals, until it is stopped. */
export class WorkerReporter {
  readonly #client: Redis;
  readonly #prefix: string;
  readonly #name: string;
  readonly #kinds: readonly string[];
  readonly #logger: Logger;
  readonly #problem: () => string | undefined;
  readonly #delay: IntervalHistogram;
  readonly #timer: NodeJS.Timeout;

  /** @param problem what prevents the worker from working, if anything does */
  constructor(
    client: Redis,
    prefix: string,
    name: string,
    kinds: readonly string[],
    logger: Logger,
    problem: () => string | undefined = () => undefined,
  ) {
    this.#problem = problem;
    this.#client = client;
    this.#prefix = prefix;
    this.#name = name;
    this.#kinds = kinds;
    this.#logger = logger;
    this.#delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    this.#delay.enable();
    this.#timer = setInterval(() => this.#report(), REPORT_MS);
    this.#timer.unref();
    this.#report();
  }

  /** Removes the report: a worker that stops cleanly is not reported as missing. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#delay.disable();
    await removeWorkerReport(this.#client, this.#prefix, this.#name).catch((thrown: unknown) => {
      this.#logger.debug({ reason: messageOf(thrown) }, 'the report of this worker could not be removed');
    });
  }

  #report(): void {
    const p99 = this.#delay.count === 0 ? 0 : this.#delay.percentile(99) / NANOSECONDS;
    this.#delay.reset();
    const problem = this.#problem();
    writeWorkerReport(this.#client, this.#prefix, this.#name, {
      at: Date.now(),
      kinds: [...this.#kinds],
      eventLoopLagSeconds: Math.max(0, p99 - RESOLUTION_MS / 1_000),
      residentBytes: process.memoryUsage.rss(),
      upSeconds: Math.round(process.uptime()),
      ...(problem === undefined ? {} : { problem }),
    }).catch((thrown: unknown) => {
      this.#logger.debug({ reason: messageOf(thrown) }, 'this worker could not report');
    });
  }
}
