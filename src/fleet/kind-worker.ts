import { type Job, Worker as QueueWorker } from 'bullmq';
import type { Redis } from 'ioredis';
import { MAX_STALLED_COUNT } from '../calls/retry-table.js';
import { messageOf } from '../errors.js';
import type { RedisConnectionOptions } from '../queues/redis-address.js';
import { useSharedScripts } from './bullmq-connections.js';
import { resetStalledCount } from './crash-markers.js';
import type { Logger } from './logger.js';
import { reviveParent } from './parent-link.js';
import type { RunningJobs } from './running-jobs.js';
import type { StalledChecks } from './stalled-checks.js';
import type { FleetTelemetry } from './telemetry.js';
import { watchLocks } from './watch-locks.js';
import { workerBackend } from './worker-backend.js';
import type { WriteRefusals } from './write-refusals.js';

export interface KindWorkerOptions {
  readonly name: string;
  /** Options from `workerConnection`. */
  readonly connection: RedisConnectionOptions;
  readonly prefix: string;
  readonly lockMs: number;
  readonly telemetry?: FleetTelemetry | undefined;
  readonly logger: Logger;
  /** For the fleet's fields of jobs. */
  readonly client: Redis;
  /** Waits while Redis is unreachable. */
  readonly durableClient: Redis;
  readonly running: RunningJobs;
  readonly refusals: WriteRefusals;
  readonly stalledChecks: StalledChecks;
}

/** Interval between checks for stalled jobs, as a fraction of the lock's duration: a crash is noticed soon. */
const CHECKS_PER_LOCK = 0.25;

/** Makes the queue worker of one kind, with this concurrency. */
export function startKindWorker(
  kind: string,
  concurrency: number,
  run: (job: Job, token: string) => Promise<unknown>,
  {
    name,
    connection,
    prefix,
    lockMs,
    telemetry,
    logger,
    client,
    durableClient,
    running,
    refusals,
    stalledChecks,
  }: KindWorkerOptions,
): QueueWorker {
  useSharedScripts();
  const worker = new QueueWorker(
    kind,
    async (job, token) => {
      if (token === undefined) throw new TypeError('BullMQ gave no token');
      return run(job, token);
    },
    {
      name,
      ...(telemetry === undefined ? {} : { telemetry }),
      connection,
      prefix,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: Math.ceil(lockMs * CHECKS_PER_LOCK),
      maxStalledCount: MAX_STALLED_COUNT,
    },
    workerBackend({ client: durableClient, refusals, stalledChecks, lockMs }),
  );
  watchLocks(worker, `${prefix}:${kind}`, running, lockMs, logger);
  worker.on('error', (error) => {
    if (!refusals.noted(error)) logger.warn({ kind, reason: error.message }, 'worker');
  });
  worker.on('completed', (job) => {
    if (job.parentKey === undefined) return;
    reviveParent(client, job).catch((thrown: unknown) => {
      refusals.noted(thrown);
      logger.warn(
        { kind, jobId: job.id, reason: messageOf(thrown) },
        'its failed parent could not be run again',
      );
    });
  });
  worker.on('failed', (job) => {
    if (job === undefined || job.stalledCounter <= MAX_STALLED_COUNT) return;
    resetStalledCount(client, `${prefix}:${kind}:${job.id}`).catch((thrown: unknown) => {
      refusals.noted(thrown);
      logger.warn({ kind, jobId: job.id, reason: messageOf(thrown) }, 'its stalled count could not be reset');
    });
  });
  worker.on('stalled', (jobId) =>
    logger.warn({ kind, jobId }, 'the job stalled: its lock ran out, and it returns to the queue'),
  );
  return worker;
}
