import type { Worker as QueueWorker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { AgentRunner } from '../agents/agent-runner.js';
import { NO_WORKSPACES, type WorkspacePolicy } from '../agents/workspace/workspace-policy.js';
import { succeedsWithin } from '../async.js';
import { type CallControlOptions, callControl } from '../calls/call-control.js';
import { messageOf } from '../errors.js';
import { RedisPayloadStore } from '../payloads/payload-store.js';
import type { Kind } from '../processors/define-kind.js';
import { loadKinds, moduleUrl } from '../processors/load-kinds.js';
import { connectProducer, type RedisWaitOptions, workerConnection } from '../queues/connection.js';
import { endClient } from '../queues/end-client.js';
import { DurableRedis } from '../queues/fleet-redis.js';
import { assertPrefixFitsCluster } from '../queues/redis-address.js';
import { cancelChannel } from '../queues/redis-keys.js';
import { type KindName, kindNameOf } from '../queues/registry.js';
import { type TextLimits, totalTextBytes } from '../queues/validate.js';
import type { TrialSettings } from '../trial/settings.js';
import { Trials } from '../trial/trials.js';
import { ABORT_REASONS } from './abort-reasons.js';
import { AnalysisThread } from './analysis-thread.js';
import { AttemptStarter } from './attempt-starter.js';
import { Batches, type BatchesOptions } from './batches.js';
import { childProducer } from './children/child-submission.js';
import { ContaminationThreads } from './contamination-threads.js';
import { DueJobs } from './due-jobs.js';
import { ExtraSlots } from './extra-slots.js';
import { Housekeeping } from './housekeeping.js';
import { IsolatedProcess } from './isolation/isolated-process.js';
import { DEFAULT_JOB_LIMITS } from './job-deadline.js';
import { startKindWorker } from './kind-worker.js';
import type { Logger } from './logger.js';
import { checkRedis } from './redis-check.js';
import { runJob } from './run-job.js';
import { RunningJobs } from './running-jobs.js';
import { StalledChecks } from './stalled-checks.js';
import type { FleetTelemetry } from './telemetry.js';
import { type ComputeLimits, DEFAULT_COMPUTE_LIMITS } from './two-lanes.js';
import { DEFAULT_UNHEALTHY_MS, Watchdog } from './watchdog.js';
import { unlessAway, untilConnected } from './worker-connections.js';
import { workerName } from './worker-name.js';
import { assertWorkerOptions } from './worker-options.js';
import { WorkerReporter } from './worker-reporter.js';
import { WriteRefusals } from './write-refusals.js';

export interface WorkerOptions extends RedisWaitOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly runner: AgentRunner;
  readonly logger: Logger;
  /** Kinds to work on: names, or definitions of one's own kinds; default: all built-in kinds and those of `kindsFrom`. */
  readonly kinds?: readonly (KindName | Kind)[];
  /** Modules that export kinds of one's own. The isolated process loads them too. */
  readonly kindsFrom?: readonly string[];
  /** How long Redis may be away while the worker starts, in milliseconds; then it does not start. Default: five seconds. */
  readonly redisTimeoutMs?: number;
  /** Number of concurrent jobs of each kind. */
  readonly concurrency: number;
  /** How long the lock of a running job lasts without a renewal, in milliseconds. */
  readonly lockMs: number;
  /** How long a job of a newer contract is delayed before it is tried again, in milliseconds. */
  readonly newerContractDelayMs?: number;
  /** Controls of agent calls: budget, limits, what happens to calls in doubt. */
  readonly calls?: CallControlOptions;
  /** Maximum duration of an attempt in milliseconds; default: four hours. */
  readonly jobTimeoutMs?: number;
  /** Limits for computing over one text; default: 30 seconds, and a heap of 512 MiB. */
  readonly analysis?: ComputeLimits;
  /** How long a job may run after its abort, in milliseconds; default: ten seconds. */
  readonly abortGraceMs?: number;
  /** How long the worker may be unable to work before `unhealthy` resolves, in milliseconds; default: five minutes. */
  readonly unhealthyMs?: number;
  /** Texts of results above this many bytes are stored separately from their job; default 65,536. */
  readonly offloadBytes?: number;
  /** Limits of texts in payloads, as the producers have them. */
  readonly textLimits?: TextLimits;
  /** How long finished jobs are stored, in days; default 7. */
  readonly retentionDays?: number;
  /** BullMQ's telemetry, which writes its spans; default: none. */
  readonly telemetry?: FleetTelemetry;
  /** Where agents may read, also for jobs that this program submits; default: nowhere. */
  readonly workspaces?: WorkspacePolicy;
  /** How scripts of jobs with `trial` are run; default: in the first sandbox that this machine has. */
  readonly trials?: Partial<TrialSettings>;
  /** Program of the isolated process (it calls `serveIsolatedProcess`); default: jobs with crashes run in this process. */
  readonly isolatedProcess?: URL;
}

/** How long Redis may be away while a worker starts, in milliseconds, if the options do not say it. */
const DEFAULT_REDIS_TIMEOUT_MS = 5_000;
/** Time after the drain for the last writes and for closing connections, in milliseconds. */
const SHUTDOWN_GRACE_MS = 15_000;
/** Time for closing a queue worker that could not start, in milliseconds. */
const ABANDON_MS = 1_000;

/** The parts of a running worker. */
interface WorkerParts {
  readonly client: Redis;
  readonly subscriber: Redis;
  readonly durableClient: Redis;
  readonly running: RunningJobs;
  readonly contamination: ContaminationThreads;
  readonly analysis: AnalysisThread;
  readonly workers: readonly QueueWorker[];
  readonly extraSlots: ExtraSlots;
  readonly kinds: readonly string[];
  readonly logger: Logger;
  readonly housekeeping: Housekeeping;
  readonly dueJobs: DueJobs;
  readonly batches: Batches | undefined;
  readonly reporter: WorkerReporter;
  readonly watchdog: Watchdog;
  readonly isolatedProcess: IsolatedProcess | undefined;
  readonly refusals: WriteRefusals;
}

/** Looks after the batches, if the runner's provider has them. */
function batchesOf(
  { runner: { batches: provider }, prefix, logger }: WorkerOptions,
  parts: Pick<BatchesOptions, 'client' | 'name' | 'calls' | 'refusals'>,
): Batches | undefined {
  const timing = parts.calls.batches;
  if (provider === undefined || timing === undefined) return undefined;
  return new Batches({ ...parts, prefix, logger, provider, timing });
}

/** A running worker: takes jobs of its kinds until it is stopped. */
export class FleetWorker {
  readonly kinds: readonly string[];
  readonly #parts: WorkerParts;
  #stopping: Promise<void> | undefined;

  private constructor(parts: WorkerParts) {
    this.kinds = parts.kinds;
    this.#parts = parts;
  }

  /**
   * Starts a worker.
   * @throws PayloadError naming an option that does not exist; UsageError or ConfigurationError naming one that cannot be used; PromptError naming a prompt of FLEET_PROMPTS that cannot; KindError if a kind of one's own cannot be used; UsageError `unknown-kind`; RedisError if Redis is unreachable, too old, or may drop jobs: the message says what to do.
   */
  static async start(options: WorkerOptions): Promise<FleetWorker> {
    assertWorkerOptions(options);
    const { redisUrl, prefix, logger, lockMs, concurrency } = options;
    const kindsFrom = (options.kindsFrom ?? []).map(moduleUrl);
    const registry = await loadKinds(
      options.kindsFrom,
      options.kinds?.filter((kind) => typeof kind !== 'string'),
    );
    const kinds = (options.kinds ?? registry.names).map((kind) => registry.get(kindNameOf(kind)).name);
    assertPrefixFitsCluster(redisUrl, prefix);
    const { waitForSlow, redisTimeoutMs = DEFAULT_REDIS_TIMEOUT_MS } = options;
    await checkRedis(redisUrl, { waitForSlow, timeoutMs: redisTimeoutMs });
    const client = await connectProducer(redisUrl, { waitForSlow, timeoutMs: redisTimeoutMs });
    const connection = workerConnection(redisUrl, { waitForSlow });
    const subscriber = new DurableRedis(connection);
    // Waits while Redis is unreachable or refuses: a paid answer must not be lost.
    const durableClient = new DurableRedis(connection);
    const running = new RunningJobs(durableClient);
    const refusals = new WriteRefusals(durableClient, prefix, logger);
    for (const opened of [client, subscriber, durableClient]) {
      opened.on('error', (error) => {
        if (!refusals.noted(error)) logger.warn({ reason: error.message }, 'connection to Redis');
      });
    }
    durableClient.on('refused', (error) => refusals.noted(error));
    const stalledChecks = new StalledChecks(durableClient, refusals, lockMs);
    const computeLimits = options.analysis ?? DEFAULT_COMPUTE_LIMITS;
    const contamination = new ContaminationThreads({ redisUrl, prefix, waitForSlow }, computeLimits);
    const analysis = new AnalysisThread(computeLimits);
    const workspaces = options.workspaces ?? NO_WORKSPACES;
    const graceMs = options.abortGraceMs ?? DEFAULT_JOB_LIMITS.graceMs;
    const submission = {
      redisUrl,
      prefix,
      ...(options.textLimits && { limits: options.textLimits }),
      ...(options.retentionDays !== undefined && { retentionDays: options.retentionDays }),
      ...(options.offloadBytes !== undefined && { offloadBytes: options.offloadBytes }),
    };
    const isolatedProcess =
      options.isolatedProcess === undefined
        ? undefined
        : new IsolatedProcess({
            program: options.isolatedProcess,
            redisUrl,
            prefix,
            workspaces,
            computeLimits,
            graceMs,
            kindsFrom,
            submission,
            trials: options.trials ?? {},
          });
    const context = {
      kinds: registry,
      isolatedProcess,
      runner: options.runner,
      workspaces,
      trials: new Trials(options.trials),
      contamination,
      analysis,
      logger,
      running,
      refusals,
      starter: new AttemptStarter(durableClient),
      limits: {
        timeoutMs: options.jobTimeoutMs ?? DEFAULT_JOB_LIMITS.timeoutMs,
        graceMs,
      },
      payloads: new RedisPayloadStore(durableClient, prefix, {
        offloadBytes: options.offloadBytes,
        dataBytes: totalTextBytes(options.textLimits),
      }),
      calls: callControl(durableClient, prefix, options.calls, options.runner.batches !== undefined),
      childProducer: childProducer(durableClient, submission, registry),
      newerContractDelayMs: options.newerContractDelayMs ?? 30_000,
    };
    const name = workerName();
    const { telemetry } = options;
    const shared = {
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
    };
    const startWorker = (kind: string, slots: number): QueueWorker =>
      startKindWorker(
        kind,
        slots,
        (job, token) => {
          const definition = registry.get(kind);
          // The slots of a kind with a limit of its own are never more, even while its jobs wait for a computation.
          const isLimited = definition.limits.concurrency !== undefined;
          return runJob(definition, job, token, isLimited ? context : { ...context, extraSlots });
        },
        shared,
      );
    const extraSlots = new ExtraSlots({
      concurrency,
      startWorker,
      onError: (thrown) =>
        logger.warn(
          { reason: messageOf(thrown) },
          'the extra worker for idle slots could not be paused or resumed',
        ),
    });
    const workers = kinds.map((kind) =>
      startWorker(kind, Math.min(concurrency, registry.get(kind).limits.concurrency ?? concurrency)),
    );
    const fleetWorker = new FleetWorker({
      isolatedProcess,
      refusals,
      client,
      subscriber,
      durableClient,
      running,
      contamination,
      analysis,
      workers,
      extraSlots,
      kinds,
      logger,
      housekeeping: new Housekeeping(client, prefix, registry.names, logger, {
        refusals,
        retentionDays: options.retentionDays ?? 7,
      }),
      dueJobs: new DueJobs(client, prefix, kinds, logger, refusals),
      batches: batchesOf(options, { client: durableClient, name, calls: context.calls, refusals }),
      reporter: new WorkerReporter(client, prefix, name, kinds, logger, () => refusals.reason),
      watchdog: new Watchdog(
        { workers, durableClient, subscriber, logger, running, refusals },
        options.unhealthyMs ?? DEFAULT_UNHEALTHY_MS,
      ),
    });
    const ready = async () => {
      await fleetWorker.#listenForCancellations(prefix);
      await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    };
    try {
      await unlessAway(ready(), [client, subscriber, durableClient], { redisUrl, redisTimeoutMs });
    } catch (thrown) {
      await fleetWorker.#abandon();
      throw thrown;
    }
    return fleetWorker;
  }

  /** Resolves with a reason when the worker has been unable to work for too long: it should end and be replaced. */
  get unhealthy(): Promise<string> {
    return this.#parts.watchdog.unhealthy;
  }

  /** What prevents the worker from working now, for example that Redis is away; undefined if nothing does. */
  get problem(): string | undefined {
    return this.#parts.watchdog.problem;
  }

  /**
   * Stops: takes no new job, lets the running ones end within `drainMs`, and returns the rest to the queue without using an
   * attempt. Calling it again returns the same promise.
   */
  stop(drainMs: number): Promise<void> {
    this.#stopping ??= this.#stop(drainMs);
    return this.#stopping;
  }

  /** Returns the running jobs to the queue now. */
  abortRunning(): void {
    this.#parts.running.stopAll(ABORT_REASONS.draining);
  }

  /** Ends a worker that could not start: it has taken no job, and waits for no Redis. */
  async #abandon(): Promise<void> {
    const { workers, extraSlots, refusals } = this.#parts;
    refusals.stopTaking();
    extraSlots.stop();
    await Promise.all(workers.map((worker) => succeedsWithin(worker.close(true), ABANDON_MS)));
    await this.#closeParts();
  }

  async #stop(drainMs: number): Promise<void> {
    this.#parts.refusals.stopTaking();
    this.#parts.running.clearAllCrashMarkers().catch((thrown: unknown) => {
      this.#parts.logger.warn(
        { reason: messageOf(thrown) },
        'crash markers of running jobs could not be cleared',
      );
    });
    const deadline = setTimeout(() => {
      this.#parts.logger.warn({ drainMs }, 'the time to drain is over; running jobs return to the queue');
      this.abortRunning();
    }, drainMs);
    try {
      await this.#closeWorkers(drainMs);
    } finally {
      clearTimeout(deadline);
      await this.#closeParts();
    }
  }

  async #closeParts(): Promise<void> {
    this.#parts.watchdog.stop();
    this.#parts.refusals.stop();
    await this.#parts.isolatedProcess?.close();
    await this.#parts.housekeeping.stop();
    await this.#parts.dueJobs.stop();
    await this.#stopBatches();
    await this.#parts.reporter.stop();
    await Promise.all([this.#parts.contamination.close(), this.#parts.analysis.close()]);
    endClient(this.#parts.subscriber);
    endClient(this.#parts.durableClient);
    endClient(this.#parts.client);
  }

  /** A batch that is being sent is looked up by the next worker if this takes too long. */
  async #stopBatches(): Promise<void> {
    const { batches, logger } = this.#parts;
    if (batches === undefined || (await succeedsWithin(batches.stop(), SHUTDOWN_GRACE_MS))) return;
    logger.warn('a batch was still being sent; the next worker looks it up');
  }

  async #closeWorkers(drainMs: number): Promise<void> {
    const { durableClient, running, logger, extraSlots } = this.#parts;
    extraSlots.stop();
    const workers = [...this.#parts.workers, ...extraSlots.workers];
    // From here on none of them takes a job; running jobs keep their locks.
    await Promise.all(workers.map((worker) => worker.pause(true)));
    const maxWaitMs = running.size === 0 ? 0 : drainMs + SHUTDOWN_GRACE_MS;
    if (await untilConnected(workers, [durableClient], Math.max(maxWaitMs, SHUTDOWN_GRACE_MS))) {
      const closed = Promise.all(workers.map((worker) => worker.close()));
      if (await succeedsWithin(closed, drainMs + SHUTDOWN_GRACE_MS)) return;
    }
    logger.error('the worker could not stop cleanly: its running jobs stall and another worker takes them');
    await succeedsWithin(Promise.all(workers.map((worker) => worker.close(true))), SHUTDOWN_GRACE_MS);
  }

  async #listenForCancellations(prefix: string): Promise<void> {
    const cancel = (jobId: string) => {
      for (const kind of this.kinds)
        this.#parts.running.stop(`${prefix}:${kind}:${jobId}`, ABORT_REASONS.cancelled);
    };
    this.#parts.subscriber.on('message', (_channel, jobId) => cancel(jobId));
    this.#parts.subscriber.on('ready', () => {
      this.#parts.running.cancelledIds().then(
        (ids) => ids.forEach(cancel),
        (thrown: unknown) =>
          this.#parts.logger.warn({ reason: messageOf(thrown) }, 'missed cancellations could not be read'),
      );
    });
    try {
      await this.#parts.subscriber.subscribe(cancelChannel(prefix));
    } catch (thrown) {
      this.#parts.logger.warn(
        { reason: messageOf(thrown) },
        'cancellations of running jobs are not received',
      );
      throw thrown;
    }
  }
}
