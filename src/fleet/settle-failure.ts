import { DelayedError, type Job, UnrecoverableError, WaitingChildrenError, WaitingError } from 'bullmq';
import { redactSecrets } from '../config/redact.js';
import { AgentError, type FleetError, JobError } from '../errors.js';
import { cancelChildren } from '../producers/cancel-job.js';
import { encodeFailure } from '../queues/failure.js';
import { clearThrottledSince, readJobFlags, writeUsage } from '../queues/job-flags.js';
import { addUsage, NO_USAGE } from '../queues/usage.js';
import { decideFailure, type FailureDecision } from './failure-decision.js';
import { type JobContext, jobKey, type OwnedJob } from './job-context.js';
import type { JobLog } from './job-log.js';
import type { Logger } from './logger.js';

/** Carries out the decision about a job whose attempt threw. Never returns: what it throws determines what BullMQ does. */
export async function settleFailure(
  thrown: unknown,
  { job, token, signal }: OwnedJob,
  context: JobContext,
  logger: Logger,
  log: JobLog,
): Promise<never> {
  if (thrown instanceof JobError && thrown.code === 'handler-ignored-abort') {
    logger.error({ code: thrown.code }, `${thrown.message}; its slot is freed`);
  }
  const decision = decideFailure(thrown, {
    jobId: job.id ?? '',
    attemptsMade: job.attemptsMade,
    attempts: job.opts.attempts ?? 1,
    signal,
    redisIsFull: context.refusals.noted(thrown),
    timeoutMs: context.limits.timeoutMs,
    newerContractDelayMs: context.newerContractDelayMs,
  });
  switch (decision.action) {
    case 'leave':
      logger.warn('the lock of the job is lost: its call was aborted, and this worker writes nothing more');
      throw new WaitingError();
    case 'wait':
      logger.info('the job frees its slot and waits for its children');
      if (await waitForChildren(job, token, context)) throw new WaitingChildrenError();
      // They have ended in the meantime.
      await job.moveToWait(token);
      throw new WaitingError();
    case 'requeue':
      logger.info('the worker stops; the job returns to the queue');
      await job.moveToWait(token);
      throw new WaitingError();
    case 'delay':
      logDelay(decision, logger, log);
      await job.moveToDelayed(Date.now() + decision.waitMs, token);
      throw new DelayedError();
    default:
      return await failAttempt(decision, thrown, { job, token }, context, logger);
  }
}

/**
 * Moves the job to those that wait for children. A cancellation before the last child was added has not cancelled that one;
 * a later one does. If this worker is killed here, such a child is cancelled when a worker takes it.
 */
async function waitForChildren(job: Job, token: string, context: JobContext): Promise<boolean> {
  const [isWaiting, { cancelled }] = await Promise.all([
    job.moveToWaitingChildren(token),
    readJobFlags(context.calls.client, jobKey(job)),
  ]);
  if (isWaiting && cancelled) await cancelOpenChildren(job, context);
  return isWaiting;
}

function logDelay(
  { waitMs, cause }: FailureDecision & { action: 'delay' },
  logger: Logger,
  log: JobLog,
): void {
  switch (cause.kind) {
    case 'redis-full':
      logger.debug('Redis is full; the job frees its slot and returns later');
      break;
    case 'newer-contract':
      logger.warn(`${cause.message}; it is left for a newer worker`);
      break;
    default:
      logger.info({ waitMs, reason: cause.reason }, 'the job frees its slot and returns later');
      if (cause.parked) log.warn(cause.reason);
      log.progress(cause.reason);
      log.stopped();
  }
}

/** Cancels children that no job waits for any more. */
async function cancelOpenChildren(job: Job, { calls, childProducer }: JobContext): Promise<void> {
  if ((await calls.client.scard(`${jobKey(job)}:dependencies`)) === 0) return;
  const { fleet } = await childProducer();
  await cancelChildren(fleet, jobKey(job));
}

async function failAttempt(
  { action, error }: FailureDecision & { action: 'retry' | 'fail' },
  thrown: unknown,
  job: Pick<OwnedJob, 'job' | 'token'>,
  context: JobContext,
  logger: Logger,
): Promise<never> {
  // A cancelled job shows what its calls cost until then.
  await recordFailure(thrown instanceof AgentError ? thrown : error, job, context).catch(
    (rejected: unknown) => {
      // The failure itself is stored anyway.
      if (!context.refusals.noted(rejected)) throw rejected;
    },
  );
  if (action === 'fail') await cancelOpenChildren(job.job, context);
  logger[action === 'fail' ? 'error' : 'warn'](
    { code: error.code, err: error },
    action === 'fail' ? 'job failed' : 'job will be tried again',
  );
  if (action === 'fail') throw new UnrecoverableError(encodeFailure(error));
  throw new Error(encodeFailure(error), { cause: error });
}

/**
 * Records what a failed attempt cost, and the answer that could not be used. Like all writes of an attempt it uses the
 * durable connection: a slow or unreachable Redis must not become the failure of the job.
 */
async function recordFailure(
  error: FleetError,
  { job, token }: Pick<OwnedJob, 'job' | 'token'>,
  { calls: { client } }: JobContext,
): Promise<void> {
  await clearThrottledSince(client, jobKey(job));
  if (error instanceof AgentError && error.usage !== undefined) {
    const before = (await readJobFlags(client, jobKey(job))).usage ?? NO_USAGE;
    await writeUsage(client, jobKey(job), token, addUsage(before, error.usage));
  }
  if (error.rawAnswer !== undefined) {
    await job.log(`answer that could not be used:\n${redactSecrets(error.rawAnswer)}`);
  }
}
