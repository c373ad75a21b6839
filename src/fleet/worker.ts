import { Worker as QueueWorker } from 'bullmq';
import { Redis } from 'ioredis';
import type { AgentRunner } from '../agents/agent-runner.js';
import { messageOf } from '../errors.js';
import { PROCESSED_KINDS } from '../processors/registry.js';
import { cancelChannel } from '../queues/cancel-channel.js';
import { connectProducer, workerConnection } from '../queues/connection.js';
import type { KindName } from '../queues/registry.js';
import { ABORT_REASONS } from './abort-reasons.js';
import type { Logger } from './logger.js';
import { reviveParent } from './parent-link.js';
import { checkRedis } from './redis-check.js';
import { runJob } from './run-job.js';

export interface WorkerOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly runner: AgentRunner;
  readonly logger: Logger;
  /** Kinds to work on; default: all that this version can process. */
  readonly kinds?: readonly KindName[];
  /** Jobs of each kind at once. */
  readonly concurrency: number;
  /** Lease of a running job in milliseconds. */
  readonly lockMs: number;
  /** How long a job of a newer contract is left alone before it is looked at again, in milliseconds. */
  readonly newerContractDelayMs?: number;
}

/** How often a job whose worker died may be taken over before it is given up. */
const MOST_TAKEOVERS = 3;

/** A running worker: takes jobs of its kinds until it is stopped. */
export class FleetWorker {
  readonly kinds: readonly KindName[];
  readonly #workers: readonly QueueWorker[];
  readonly #client: Redis;
  readonly #subscriber: Redis;
  readonly #logger: Logger;
  #stopping: Promise<void> | undefined;

  private constructor(
    client: Redis,
    subscriber: Redis,
    workers: QueueWorker[],
    kinds: readonly KindName[],
    logger: Logger,
  ) {
    this.#client = client;
    this.#subscriber = subscriber;
    this.#workers = workers;
    this.kinds = kinds;
    this.#logger = logger;
  }

  /**
   * Starts a worker.
   * @throws RedisError where Redis is away, too old, or may drop jobs: the message says what to do.
   */
  static async start(options: WorkerOptions): Promise<FleetWorker> {
    const { redisUrl, prefix, logger, lockMs, concurrency } = options;
    const kinds = options.kinds ?? PROCESSED_KINDS;
    await checkRedis(redisUrl);
    const client = await connectProducer(redisUrl);
    const subscriber = new Redis(workerConnection(redisUrl));
    for (const connection of [client, subscriber]) {
      connection.on('error', (error) => logger.warn({ reason: error.message }, 'connection to Redis'));
    }
    const context = {
      runner: options.runner,
      logger,
      client,
      newerContractDelayMs: options.newerContractDelayMs ?? 30_000,
    };
    const workers = kinds.map((kind) => {
      const worker = new QueueWorker(
        kind,
        async (job, token, signal) => {
          if (token === undefined || signal === undefined)
            throw new TypeError('BullMQ gave no token or signal');
          return runJob(kind, { job, token, signal }, context);
        },
        {
          connection: workerConnection(redisUrl),
          prefix,
          concurrency,
          lockDuration: lockMs,
          stalledInterval: lockMs,
          maxStalledCount: MOST_TAKEOVERS,
        },
      );
      worker.on('error', (error) => logger.warn({ kind, reason: error.message }, 'worker'));
      worker.on('completed', (job) => {
        reviveParent(client, job).catch((thrown: unknown) => {
          logger.warn(
            { kind, jobId: job.id, reason: messageOf(thrown) },
            'its failed parent could not be run again',
          );
        });
      });
      worker.on('stalled', (jobId) =>
        logger.warn({ kind, jobId }, 'the worker of this job died; it is taken over'),
      );
      return worker;
    });
    const fleetWorker = new FleetWorker(client, subscriber, workers, kinds, logger);
    await fleetWorker.#listenForCancellations(prefix);
    await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    return fleetWorker;
  }

  /**
   * Stops: takes no new job, lets the running ones end within `drainMs`, and hands the rest back to the queue
   * without a used attempt. Calling it again returns the same promise.
   */
  stop(drainMs: number): Promise<void> {
    this.#stopping ??= this.#stop(drainMs);
    return this.#stopping;
  }

  /** Hands the running jobs back now. */
  abortRunning(): void {
    for (const worker of this.#workers) worker.cancelAllJobs(ABORT_REASONS.draining);
  }

  async #stop(drainMs: number): Promise<void> {
    const deadline = setTimeout(() => {
      this.#logger.warn({ drainMs }, 'the time to drain is over; running jobs go back to the queue');
      this.abortRunning();
    }, drainMs);
    try {
      await Promise.all(this.#workers.map((worker) => worker.close()));
    } finally {
      clearTimeout(deadline);
      this.#subscriber.disconnect();
      this.#client.disconnect();
    }
  }

  async #listenForCancellations(prefix: string): Promise<void> {
    this.#subscriber.on('message', (_channel, jobId) => {
      for (const worker of this.#workers) worker.cancelJob(jobId, ABORT_REASONS.cancelled);
    });
    try {
      await this.#subscriber.subscribe(cancelChannel(prefix));
    } catch (thrown) {
      this.#logger.warn({ reason: messageOf(thrown) }, 'cancellations of running jobs are not heard');
      throw thrown;
    }
  }
}
