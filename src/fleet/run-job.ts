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
import { parseJobKey } from '../queues/job-key.js';
import { forgetWait, readMarks, writeUsage } from '../queues/job-marks.js';
import type { ChildResult, JobKind } from '../queues/kind.js';
import { isKindName, KINDS, type KindName, type PayloadOf, type ResultOf } from '../queues/registry.js';
import { boundTenantOf, type Submission } from '../queues/submitter.js';
import { addUsage, NO_USAGE, UsageSchema } from '../queues/usage.js';
import { completePayload, parsePayload } from '../queues/validate.js';
import { ABORT_REASONS } from './abort-reasons.js';
import type { FullRedis } from './full-redis.js';
import { JobDeadline, type JobLimits } from './job-deadline.js';
import { JobLog } from './job-log.js';
import type { Logger } from './logger.js';
import { type ProcessingParts, processJob } from './process-job.js';
import type { Quarantine } from './quarantine/quarantine.js';
import { runSuspect } from './quarantine/run-suspect.js';
import { forgetDeaths, forgiveRun } from './run-marks.js';
import type { RunStarter } from './run-starter.js';
import type { RunningJob, RunningJobs } from './running-jobs.js';

export interface JobContext extends ProcessingParts {
  readonly logger: Logger;
  readonly running: RunningJobs;
  /** Whether Redis refuses writes. */
  readonly full: FullRedis;
  readonly starter: RunStarter;
  readonly limits: JobLimits;
  /** Where long texts of payloads and results are kept. */
  readonly payloads: PayloadStore;
  /** How long a job of a newer contract waits for a newer worker before it is looked at again. */
  readonly newerContractDelayMs: number;
  /** Where jobs in whose runs a worker died are processed; without it, in this process. */
  readonly quarantine?: Quarantine | undefined;
}

/** One job in the hands of this worker. */
interface Held {
  readonly job: Job;
  /** Key of its hash in Redis. */
  readonly key: string;
  readonly token: string;
  readonly signal: AbortSignal;
}

/** How long a job stays away that could not write what it has to, in milliseconds. It is taken once Redis takes writes. */
const FULL_REDIS_WAIT_MS = 1_000;

/** How long a job stays away whose earlier run still goes on in the same worker, in milliseconds. */
const STILL_RUNNING_WAIT_MS = 1_000;

/**
 * The run of one job: begin → refuse what is cancelled or kills its workers → validate → complete from children →
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
  context.running.hear(key, deadline);
  const held: Held = { job, key, token, signal: deadline.signal };
  const logger = context.logger.child({ jobId: job.id, kind, ...lineageOf(job) });
  const started = performance.now();
  logger.info({ attempt: job.attemptsMade + 1 }, 'job started');
  const log = new JobLog(job, logger, (thrown) => context.full.noted(thrown));
  let begun: Begun | undefined;
  try {
    begun = await context.full.persist(() => begin(held, context), held.signal);
    const payload = await payloadOf(kind, job, context.payloads);
    const work = process(kind, payload, held, begun, context, log);
    const result = await deadline.guard(work, (ms) =>
      logger.warn({ ms }, 'a handler that had ignored its abort has ended'),
    );
    const valid = checkResult(kind, result);
    const checked = await context.full.persist(() => storedResult(job, valid, context.payloads), held.signal);
    await context.full.persist(() => keepReuse(checked, held, context), held.signal);
    log.completed();
    logger.info({ ms: Math.round(performance.now() - started) }, 'job completed');
    return checked;
  } catch (thrown) {
    log.stopped();
    if (begun !== undefined && lostTheJob(thrown, held.signal))
      context.running.forgive(begun.running, logger);
    return await settleFailure(thrown, held, context, logger, log);
  } finally {
    context.running.release(key, deadline);
    if (begun !== undefined) context.running.remove(begun.running);
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
interface Begun {
  readonly running: RunningJob;
  /** Whether agent calls of earlier runs are written on the job. */
  readonly hasLedger: boolean;
}

/**
 * Marks the job as running here.
 * @throws JobError `lock-lost`, `job-cancelled`, `killed-its-worker`; CallDeferred where it must run apart, or runs here
 *   already.
 */
async function begin(
  { job, key, token }: Held,
  { calls, running, starter, quarantine }: JobContext,
): Promise<Begun> {
  const earlier = running.runOf(key);
  if (earlier !== undefined) {
    // This worker stood still for longer than the lease, and took its own job over. The run that goes on here is no
    // death, and what its call brings is for the next one: two at once would pay for it twice.
    await forgiveRun(calls.client, key, earlier);
    throw new CallDeferred(STILL_RUNNING_WAIT_MS, 'an earlier run of it has not ended in this worker yet');
  }
  const { run, held, cancelled, deaths, hasLedger } = await starter.begin(key, token, job.stalledCounter);
  const jobId = job.id ?? '';
  if (!held) throw new JobError('lock-lost', 'another worker holds the job', { jobId });
  const begun = { key, token, run, suspect: deaths > 0 };
  // Where a suspect can run apart, only the end of its own process proves anything; however many workers died.
  const guilty = quarantine === undefined && deaths >= MAX_CRASHES;
  if (cancelled || guilty) {
    await forgetDeaths(calls.client, key, run);
    // The job ends without opening its ledger, where a dead worker's reservation would have come back.
    if (deaths > 0) await sweepReservations(calls.client, calls.prefix);
  }
  if (cancelled) throw new JobError('job-cancelled', 'the job was cancelled', { jobId });
  if (guilty) {
    throw new JobError(
      'killed-its-worker',
      `the job killed its worker: ${deaths} workers died while they ran it`,
      { jobId },
    );
  }
  if (running.add(begun)) {
    // A worker that is already stopping may be killed at any time, and that would be no death.
    if (running.draining) await forgiveRun(calls.client, key, run);
    return { running: begun, hasLedger };
  }
  throw new CallDeferred(running.putOffMs(), 'its last worker died; it runs apart from others like it');
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
 * Keeps on the job what its ledger does not tell of its usage: which answers were used again. Whoever adds up a run then
 * need not read its results.
 */
async function keepReuse(result: object, { key, token }: Held, { calls }: JobContext): Promise<void> {
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

/** A job with workers' deaths behind it is processed apart where that is possible. */
async function process<K extends KindName>(
  kind: K,
  payload: PayloadOf<K>,
  { job, key, token, signal }: Held,
  { running: { run: mark, suspect }, hasLedger }: Begun,
  context: JobContext,
  log: JobLog,
): Promise<ResultOf<K>> {
  const processed = { key, token, hasLedger, tenant: tenantOf(job), ...budgetOf(job) };
  if (!suspect) return processJob(kind, payload, processed, signal, log, context);
  return runSuspect(kind, payload, { ...processed, mark }, signal, log, context);
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

/** Decides what becomes of a job whose run threw. Never returns. */
async function settleFailure(
  thrown: unknown,
  { job, token, signal }: Held,
  context: JobContext,
  logger: Logger,
  log: JobLog,
): Promise<never> {
  if (thrown instanceof JobError && thrown.code === 'handler-ignored-abort') {
    logger.error({ code: thrown.code }, `${thrown.message}; its slot is freed`);
  }
  if (lostTheJob(thrown, signal)) {
    logger.warn(
      'the lock of the job is lost: its call was aborted, and nothing more is written by this worker',
    );
    // Tells BullMQ to leave the job alone: it is another worker's.
    throw new WaitingError();
  }
  if (signal.aborted && signal.reason === ABORT_REASONS.draining && !isVerdict(thrown)) {
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
  await keepEvidence(thrown instanceof AgentError ? thrown : error, { job, token }, context).catch(
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

/** What a job failed with: that it was told to stop outweighs what its handler made of that. */
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
 * Whether a run had come to its end before it was told to stop. Handed back, the job would ask again what was paid for
 * and could not be used, or send a call about which a person is to decide.
 */
function isVerdict(thrown: unknown): boolean {
  if (thrown instanceof CallRefusedError) return thrown.code === 'call-in-doubt';
  return thrown instanceof AgentError && !thrown.retryable;
}

function lostTheJob(thrown: unknown, signal: AbortSignal): boolean {
  if (signal.aborted && signal.reason === ABORT_REASONS.lockLost) return true;
  return thrown instanceof JobError && thrown.code === 'lock-lost';
}

/**
 * Keeps what a failed attempt cost, and the answer that could not be used. Like all that a run writes, over the connection
 * that waits: a Redis that is slow or away must not become what the job failed with.
 */
async function keepEvidence(
  error: FleetError,
  { job, token }: Pick<Held, 'job' | 'token'>,
  { calls: { client } }: JobContext,
): Promise<void> {
  await forgetWait(client, jobKey(job));
  if (error instanceof AgentError && error.usage !== undefined) {
    const before = (await readMarks(client, jobKey(job))).usage ?? NO_USAGE;
    await writeUsage(client, jobKey(job), token, addUsage(before, error.usage));
  }
  if (error.rawAnswer !== undefined) {
    await job.log(`answer that could not be used:\n${redactSecrets(error.rawAnswer)}`);
  }
}
