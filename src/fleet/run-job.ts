import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import { runAccount } from '../calls/budget/run-account.js';
import { sweepReservations } from '../calls/budget/sweep-reservations.js';
import { CallDeferred } from '../calls/call-deferred.js';
import { MAX_CRASHES } from '../calls/retry-table.js';
import { redactSecrets } from '../config/redact.js';
import {
  AgentError,
  CallRefusedError,
  type FleetError,
  InternalError,
  JobError,
  toFleetError,
} from '../errors.js';
import type { PayloadStore } from '../payloads/payload-store.js';
import { childValues } from '../queues/child-values.js';
import { RESERVED_TAGS } from '../queues/common.js';
import { encodeFailure } from '../queues/failure.js';
import { forgetWait, readJobFlags, writeUsage } from '../queues/job-flags.js';
import { parseJobKey } from '../queues/job-key.js';
import type { ChildResult, JobKind } from '../queues/kind.js';
import { isKindName, KINDS, type KindName, type PayloadOf, type ResultOf } from '../queues/registry.js';
import { boundTenantOf, type Submission } from '../queues/submitter.js';
import { addUsage, NO_USAGE, UsageSchema } from '../queues/usage.js';
import { completePayload, parsePayload } from '../queues/validate.js';
import { ABORT_REASONS } from './abort-reasons.js';
import type { AttemptStarter } from './attempt-starter.js';
import { clearCrashMarker, resetCrashCount } from './crash-markers.js';
import type { FullRedis } from './full-redis.js';
import type { IsolatedProcess } from './isolation/isolated-process.js';
import { runIsolated } from './isolation/run-isolated.js';
import { JobDeadline, type JobLimits } from './job-deadline.js';
import { JobLog } from './job-log.js';
import type { Logger } from './logger.js';
import { type ProcessingParts, processJob } from './process-job.js';
import type { RunningJob, RunningJobs } from './running-jobs.js';

export interface JobContext extends ProcessingParts {
  readonly logger: Logger;
  readonly running: RunningJobs;
  /** Whether Redis refuses writes. */
  readonly full: FullRedis;
  readonly starter: AttemptStarter;
  readonly limits: JobLimits;
  /** Where long texts of payloads and results are kept. */
  readonly payloads: PayloadStore;
  /** How long a job of a newer contract waits for a newer worker before it is looked at again. */
  readonly newerContractDelayMs: number;
  /** Where jobs with crashes are processed; without it, in this process. */
  readonly isolatedProcess?: IsolatedProcess | undefined;
}

/** A job that this worker owns. */
interface JobInHand {
  readonly job: Job;
  /** Key of its hash in Redis. */
  readonly key: string;
  readonly token: string;
  readonly signal: AbortSignal;
}

/** How long a job stays away that could not write what it has to, in milliseconds. It is taken once Redis takes writes. */
const FULL_REDIS_WAIT_MS = 1_000;

/** How long a job stays away whose earlier attempt still runs in the same worker, in milliseconds. */
const STILL_RUNNING_WAIT_MS = 1_000;

/**
 * One attempt of a job: begin → refuse cancelled jobs and poison pills → validate → complete from children →
 * process → validate the result → end → report. What it throws tells BullMQ what to do: `UnrecoverableError` ends the
 * job, another error uses an attempt, `DelayedError` and `WaitingError` hand it back without one.
 */
export async function runJob<K extends KindName>(
  kind: K,
  job: Job,
  token: string,
  context: JobContext,
): Promise<ResultOf<K>> {
  const key = jobKey(job);
  const deadline = new JobDeadline(context.limits);
  context.running.register(key, deadline);
  const held: JobInHand = { job, key, token, signal: deadline.signal };
  const logger = context.logger.child({ jobId: job.id, kind, ...lineageOf(job) });
  const started = performance.now();
  logger.info({ attempt: job.attemptsMade + 1 }, 'job started');
  const log = new JobLog(job, logger, (thrown) => context.full.noted(thrown));
  let taken: StartedJob | undefined;
  try {
    taken = await context.full.persist(() => begin(held, context), held.signal);
    const payload = await payloadOf(kind, job, context.payloads);
    const work = process(kind, payload, held, taken, context, log);
    const result = await deadline.guard(work, (ms) =>
      logger.warn({ ms }, 'a handler that had ignored its abort has ended'),
    );
    const valid = checkResult(kind, result);
    const checked = await context.full.persist(() => storedResult(job, valid, context.payloads), held.signal);
    await context.full.persist(() => recordReuse(checked, held, context), held.signal);
    log.completed();
    logger.info({ ms: Math.round(performance.now() - started) }, 'job completed');
    return checked;
  } catch (thrown) {
    log.stopped();
    if (taken !== undefined && lostLock(thrown, held.signal))
      context.running.clearMarker(taken.running, logger);
    return await settleFailure(thrown, held, context, logger, log);
  } finally {
    context.running.release(key, deadline);
    if (taken !== undefined) context.running.remove(taken.running);
  }
}

/** Where in a pipeline run the job belongs, for its log lines. */
function lineageOf(job: Job): Record<string, string> {
  const { tags } = (job.data ?? {}) as { tags?: Readonly<Record<string, unknown>> | null };
  const lineage: Record<string, string> = {};
  if (typeof tags !== 'object' || tags === null) return lineage;
  for (const name of RESERVED_TAGS) {
    const tag = tags[name];
    if (typeof tag === 'string') lineage[name] = tag;
  }
  return lineage;
}

/** A job that has begun. */
interface StartedJob {
  readonly running: RunningJob;
  /** Whether the job has calls of earlier attempts in its ledger. */
  readonly hasLedger: boolean;
}

/**
 * Marks the job as running here.
 * @throws JobError `lock-lost`, `job-cancelled`, `killed-its-worker`; CallDeferred where it must run isolated and another such job
 *   runs here, or where it runs here already.
 */
async function begin(
  { job, key, token }: JobInHand,
  { calls, running, starter, isolatedProcess }: JobContext,
): Promise<StartedJob> {
  const earlier = running.attemptOf(key);
  if (earlier !== undefined) {
    // This worker was paused for longer than the lock lasts, and took its own stalled job. The attempt that still runs here is
    // no crash, and the answer to its call is for the next one: two at once would pay for it twice.
    await clearCrashMarker(calls.client, key, earlier);
    throw new CallDeferred(
      STILL_RUNNING_WAIT_MS,
      'an earlier attempt of it has not ended in this worker yet',
    );
  }
  const { attempt, ownsLock, cancelled, crashes, hasLedger } = await starter.begin(
    key,
    token,
    job.stalledCounter,
  );
  const jobId = job.id ?? '';
  if (!ownsLock) throw new JobError('lock-lost', 'another worker owns the job', { jobId });
  const started = { key, token, attempt, hasCrashed: crashes > 0 };
  // With an isolated process only the end of that process proves anything, however many workers crashed.
  const isPoisonPill = isolatedProcess === undefined && crashes >= MAX_CRASHES;
  if (cancelled || isPoisonPill) {
    await resetCrashCount(calls.client, key, attempt);
    // The job ends without opening its ledger, where the reservation of a crashed worker would be released.
    if (crashes > 0) await sweepReservations(calls.client, calls.prefix);
  }
  if (cancelled) throw new JobError('job-cancelled', 'the job was cancelled', { jobId });
  if (isPoisonPill) {
    throw new JobError(
      'killed-its-worker',
      `the job killed its worker: ${crashes} workers crashed while they ran it`,
      { jobId },
    );
  }
  if (running.add(started)) {
    // A worker that is already stopping may be killed at any time, and that would be no crash.
    if (running.draining) await clearCrashMarker(calls.client, key, attempt);
    return { running: started, hasLedger };
  }
  throw new CallDeferred(
    running.putOffMs(),
    'its last worker crashed; another such job runs here, so it waits',
  );
}

/** Key of the job's hash in Redis. */
function jobKey(job: Job): string {
  return `${job.queueQualifiedName}:${job.id}`;
}

async function payloadOf<K extends KindName>(
  kind: K,
  job: Job,
  payloads: PayloadStore,
): Promise<PayloadOf<K>> {
  const payload = parsePayload(kind, await payloads.restore(job.data as unknown, jobKey(job)));
  const supplied = Object.keys(KINDS[kind].suppliedByChild);
  if (supplied.every((field) => field in payload)) return payload;
  return completePayload(kind, payload, await childResults(job, payloads));
}

/**
 * What is kept as the job's result: references stand in the place of long texts. A parent in a queue of the pipeline's
 * own reads its children's results by itself, so that those stay whole.
 */
async function storedResult<R>(job: Job, result: R, payloads: PayloadStore): Promise<R> {
  const { parentKey } = job;
  if (parentKey === undefined) return payloads.offload(result, [jobKey(job)]);
  if (!isKindName(parseJobKey(parentKey).queue)) return result;
  // The parent may outlive its child.
  return payloads.offload(result, [jobKey(job), parentKey]);
}

/**
 * Records on the job what its ledger does not say of its usage: which answers were replayed. The sums of a run then need
 * no results.
 */
async function recordReuse(result: object, { key, token }: JobInHand, { calls }: JobContext): Promise<void> {
  const usage = UsageSchema.safeParse((result as { usage?: unknown }).usage).data;
  if (usage !== undefined && usage.reusedCalls > 0) await writeUsage(calls.client, key, token, usage);
}

/**
 * What the job's children returned. Long texts of children of the fleet's kinds were stored for this job too; what a child
 * in a queue of the pipeline's own returned is the pipeline's.
 */
async function childResults(job: Job, payloads: PayloadStore): Promise<ChildResult[]> {
  const values = await childValues(job);
  return Promise.all(
    Object.entries(values).map(async ([key, result]) => {
      const { queue } = parseJobKey(key);
      return {
        kind: queue,
        result: isKindName(queue) ? await payloads.restore(result, jobKey(job)) : result,
      };
    }),
  );
}

/** A job whose worker crashed is processed in the isolated process if there is one. */
async function process<K extends KindName>(
  kind: K,
  payload: PayloadOf<K>,
  { job, key, token, signal }: JobInHand,
  { running: { attempt, hasCrashed }, hasLedger }: StartedJob,
  context: JobContext,
  log: JobLog,
): Promise<ResultOf<K>> {
  const processed = { key, token, hasLedger, tenant: tenantOf(job), ...budgetOf(job) };
  if (!hasCrashed) return processJob(kind, payload, processed, signal, log, context);
  return runIsolated(kind, payload, { ...processed, attempt }, signal, log, context);
}

/** For whom the job is done, as its turn among waiting jobs was taken: its run's where no tenant is named. */
function tenantOf(job: Job): string {
  const { fleet } = job.opts as { fleet?: { tenant?: unknown } };
  return typeof fleet?.tenant === 'string' ? fleet.tenant : (lineageOf(job).run ?? '');
}

/**
 * Whose budget pays for the job's calls: its run's, or a bound tenant's part of it; a job with a budget and without a run is
 * a run of its own.
 */
function budgetOf(job: Job): { run?: string; runBudgetUsd?: number } {
  const { fleet } = job.opts as { fleet?: Submission & { readonly budgetUsd?: unknown } };
  const budget = fleet?.budgetUsd;
  const run = lineageOf(job).run ?? (typeof budget === 'number' ? `job ${job.id}` : undefined);
  if (run === undefined) return {};
  const account = { run: runAccount(run, boundTenantOf(fleet ?? {})) };
  return typeof budget === 'number' ? { ...account, runBudgetUsd: budget } : account;
}

function checkResult<K extends KindName>(kind: K, result: ResultOf<K>): ResultOf<K> {
  const { data, error }: { data?: unknown; error?: Error } = (KINDS[kind] as JobKind).result.safeParse(
    result,
  );
  if (error !== undefined) {
    throw new InternalError(
      `the processor of ${kind} returned a result that breaks its contract: ${error.message}`,
    );
  }
  return data as ResultOf<K>;
}

/** Decides what becomes of a job whose attempt threw. Never returns. */
async function settleFailure(
  thrown: unknown,
  { job, token, signal }: JobInHand,
  context: JobContext,
  logger: Logger,
  log: JobLog,
): Promise<never> {
  if (thrown instanceof JobError && thrown.code === 'handler-ignored-abort') {
    logger.error({ code: thrown.code }, `${thrown.message}; its slot is freed`);
  }
  if (lostLock(thrown, signal)) {
    logger.warn(
      'the lock of the job is lost: its call was aborted, and nothing more is written by this worker',
    );
    // Tells BullMQ to leave the job alone: another worker owns it.
    throw new WaitingError();
  }
  if (signal.aborted && signal.reason === ABORT_REASONS.draining && !isFinal(thrown)) {
    logger.info('the worker stops; the job goes back to the queue');
    await job.moveToWait(token);
    throw new WaitingError();
  }
  if (context.full.noted(thrown) && !signal.aborted) {
    logger.debug('Redis is full; the job gives its slot back and comes again');
    await job.moveToDelayed(Date.now() + FULL_REDIS_WAIT_MS, token);
    throw new DelayedError();
  }
  if (thrown instanceof CallDeferred && !signal.aborted) {
    logger.info(
      { waitMs: thrown.waitMs, reason: thrown.reason },
      'the job gives its slot back and comes again',
    );
    if (thrown.parked) log.warn(thrown.reason);
    log.progress(thrown.reason);
    log.stopped();
    await job.moveToDelayed(Date.now() + thrown.waitMs, token);
    throw new DelayedError();
  }
  const error = errorOf(thrown, job, signal, context.limits);
  if (error.code === 'newer-contract') {
    logger.warn(`${error.message}; it is left for a newer worker`);
    await job.moveToDelayed(Date.now() + context.newerContractDelayMs, token);
    throw new DelayedError();
  }
  // A cancelled job shows what its calls cost until then.
  await recordFailure(thrown instanceof AgentError ? thrown : error, { job, token }, context).catch(
    (refused: unknown) => {
      // The failure itself is stored all the same.
      if (!context.full.noted(refused)) throw refused;
    },
  );
  const final = !error.retryable || job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
  logger[final ? 'error' : 'warn'](
    { code: error.code, err: error },
    final ? 'job failed' : 'job will be tried again',
  );
  if (!error.retryable) throw new UnrecoverableError(encodeFailure(error));
  throw new Error(encodeFailure(error), { cause: error });
}

/** What a job failed with: an abort takes precedence over the error that the handler threw because of it. */
function errorOf(
  thrown: unknown,
  job: Job,
  { aborted, reason }: AbortSignal,
  { timeoutMs }: JobLimits,
): FleetError {
  const details = { jobId: job.id ?? '', cause: thrown };
  if (aborted && reason === ABORT_REASONS.cancelled) {
    return new JobError('job-cancelled', 'the job was cancelled', details);
  }
  const error = toFleetError(thrown);
  if (!aborted || reason !== ABORT_REASONS.timeout || error.code === 'handler-ignored-abort') return error;
  return new JobError('job-timeout', `the job ran for more than ${timeoutMs} ms`, details);
}

/**
 * Whether an attempt had failed for good before it was aborted. Returned to the queue, the job would ask again what was paid for
 * and could not be used, or send a call about which a person is to decide.
 */
function isFinal(thrown: unknown): boolean {
  if (thrown instanceof CallRefusedError) return thrown.code === 'call-in-doubt';
  return thrown instanceof AgentError && !thrown.retryable;
}

function lostLock(thrown: unknown, signal: AbortSignal): boolean {
  if (signal.aborted && signal.reason === ABORT_REASONS.lockLost) return true;
  return thrown instanceof JobError && thrown.code === 'lock-lost';
}

/**
 * Records what a failed attempt cost, and the answer that could not be used. Like all writes of an attempt it uses the durable
 * connection: a Redis that is slow or away must not become what the job failed with.
 */
async function recordFailure(
  error: FleetError,
  { job, token }: Pick<JobInHand, 'job' | 'token'>,
  { calls: { client } }: JobContext,
): Promise<void> {
  await forgetWait(client, jobKey(job));
  if (error instanceof AgentError && error.usage !== undefined) {
    const before = (await readJobFlags(client, jobKey(job))).usage ?? NO_USAGE;
    await writeUsage(client, jobKey(job), token, addUsage(before, error.usage));
  }
  if (error.rawAnswer !== undefined) {
    await job.log(`answer that could not be used:\n${redactSecrets(error.rawAnswer)}`);
  }
}
