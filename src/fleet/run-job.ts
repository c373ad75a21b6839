import type { Job } from 'bullmq';
import type { Logger } from 'pino';
import { z } from 'zod';
import { sweepReservations } from '../calls/budget/sweep-reservations.js';
import { CallDeferred } from '../calls/call-deferred.js';
import { MAX_CRASHES } from '../calls/retry-table.js';
import { JobError, messageOf } from '../errors.js';
import { followUpsOf } from '../queues/follow-ups/contract.js';
import { writeStatus, writeUsage } from '../queues/job-flags.js';
import type { JobKind } from '../queues/kind.js';
import { resultStatusOf } from '../queues/result-status.js';
import { UsageSchema } from '../queues/usage.js';
import { checkedResult } from '../queues/validate.js';
import type { ParentJob } from './children/child-jobs.js';
import type { StartedChild } from './children/child-script.js';
import { clearCrashMarker, resetCrashCount } from './crash-markers.js';
import { hasLostLock } from './failure-decision.js';
import { runFollowUps } from './follow-ups/run-follow-ups.js';
import { runIsolated } from './isolation/run-isolated.js';
import { type JobContext, jobKey, type OwnedJob } from './job-context.js';
import {
  budgetOf,
  deadlineOfJob,
  heritageOf,
  lineageOf,
  payloadOf,
  reuseOf,
  storedResult,
  tenantOf,
} from './job-data.js';
import { JobDeadline } from './job-deadline.js';
import { JobLog } from './job-log.js';
import { processJob } from './process-job.js';
import { processorError } from './processor-error.js';
import type { RunningJob } from './running-jobs.js';
import { settleFailure } from './settle-failure.js';

/** Delay of a job whose earlier attempt still runs in the same worker, in milliseconds. */
const STILL_RUNNING_WAIT_MS = 1_000;

/**
 * One attempt of a job: begin → reject cancelled jobs and poison pills → validate → complete from children → process →
 * validate the result → end → report. What it throws determines what BullMQ does: `UnrecoverableError` ends the job,
 * another error uses an attempt, `DelayedError` and `WaitingError` return the job without using one.
 */
export async function runJob(kind: JobKind, job: Job, token: string, shared: JobContext): Promise<unknown> {
  const key = jobKey(job);
  const { timeoutMs = shared.limits.timeoutMs } = kind.limits;
  const context = { ...shared, limits: { ...shared.limits, timeoutMs } };
  const deadline = new JobDeadline(context.limits);
  context.running.register(key, deadline);
  const owned: OwnedJob = { job, key, token, signal: deadline.signal };
  const logger = context.logger.child({ jobId: job.id, kind: kind.name, ...lineageOf(job) });
  const started = performance.now();
  logger.info({ attempt: job.attemptsMade + 1 }, 'job started');
  const log = new JobLog(job, logger, (thrown) => context.refusals.noted(thrown));
  let taken: StartedJob | undefined;
  try {
    taken = await context.refusals.persist(() => begin(owned, context), owned.signal);
    const payload = await payloadOf(kind, job, context);
    const begun = taken;
    const then = followUpsOf(payload);
    const process = async (): Promise<unknown> => {
      const work = processAttempt(kind.name, payload, owned, begun, context, log);
      const result = await deadline.guard(work, (ms) =>
        logger.warn({ ms }, 'a handler that had ignored its abort has ended'),
      );
      const valid = checkedResult(kind, result, (message, cause) =>
        processorError(kind.name, message, cause),
      );
      noteStatus(kind.name, valid, owned, context, logger);
      const stored = await context.refusals.persist(() => storedResult(job, valid, context), owned.signal);
      await context.refusals.persist(() => recordReuse(stored, owned, context), owned.signal);
      return stored;
    };
    const checked =
      then === undefined
        ? await process()
        : await runFollowUps(
            { ...parentOf(owned, begun), payload, then },
            {
              kinds: context.kinds,
              client: context.calls.client,
              childProducer: context.childProducer,
              restore: (result) => context.payloads.restore(result, key),
              persist: (write) => context.refusals.persist(write, owned.signal),
            },
            process,
          );
    log.completed();
    logger.info({ ms: Math.round(performance.now() - started) }, 'job completed');
    return checked;
  } catch (thrown) {
    log.stopped();
    if (taken !== undefined && hasLostLock(thrown, owned.signal))
      context.running.clearMarker(taken.running, logger);
    return await settleFailure(thrown, owned, context, logger, log);
  } finally {
    context.running.release(key, deadline);
    if (taken !== undefined) context.running.remove(taken.running);
  }
}

/** A job that has begun. */
interface StartedJob {
  readonly running: RunningJob;
  /** Whether the job has calls of earlier attempts in its ledger. */
  readonly hasLedger: boolean;
  readonly startedChildren: readonly StartedChild[];
}

/**
 * Records that the job runs here.
 * @throws JobError `lock-lost`, `job-cancelled`, `killed-its-worker`; CallDeferred if it must run isolated and another such
 *   job runs here, or if it already runs here.
 */
async function begin(
  { job, key, token }: OwnedJob,
  { calls, running, starter, isolatedProcess }: JobContext,
): Promise<StartedJob> {
  const earlier = running.attemptOf(key);
  if (earlier !== undefined) {
    // This worker was paused for longer than the lock lasts, and took its own stalled job. The attempt that still runs here
    // is not a crash, and the next one needs the answer to its call: two at once would pay for it twice.
    await clearCrashMarker(calls.client, key, earlier);
    throw new CallDeferred(
      STILL_RUNNING_WAIT_MS,
      'an earlier attempt of it has not ended in this worker yet',
    );
  }
  const { attempt, ownsLock, cancelled, crashes, hasLedger, startedChildren } = await starter.begin(
    key,
    token,
    job.stalledCounter,
    job.parentKey,
  );
  const jobId = job.id ?? '';
  if (!ownsLock) throw new JobError('lock-lost', 'another worker owns the job', { jobId });
  const started = { key, token, attempt, hasCrashed: crashes > 0 };
  // With an isolated process only the end of that process is proof, no matter how many workers crashed.
  const isPoisonPill = isolatedProcess === undefined && crashes >= MAX_CRASHES;
  if (cancelled || isPoisonPill) {
    await resetCrashCount(calls.client, key, attempt);
    // The job ends without opening its ledger, which would release the reservation of a crashed worker.
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
    // A worker that is already stopping may be killed at any time, and that would not be a crash.
    if (running.draining) await clearCrashMarker(calls.client, key, attempt);
    return { running: started, hasLedger, startedChildren };
  }
  throw new CallDeferred(
    running.putOffMs(),
    'its last worker crashed; another such job runs here, so it waits',
  );
}

const WithUsageSchema = z.object({ usage: UsageSchema });

/**
 * Records the part of the job's usage that its ledger does not contain: the number of replayed answers. The totals of a run
 * can then be computed without reading results.
 */
async function recordReuse(result: unknown, { key, token }: OwnedJob, { calls }: JobContext): Promise<void> {
  const usage = WithUsageSchema.safeParse(result).data?.usage;
  if (usage !== undefined && usage.reusedCalls > 0) await writeUsage(calls.client, key, token, usage);
}

/** The attempt does not wait for it: without a status only lists lack it. */
function noteStatus(
  kind: string,
  result: unknown,
  { key }: OwnedJob,
  { calls }: JobContext,
  logger: Logger,
): void {
  const status = resultStatusOf(kind, result);
  if (status === undefined) return;
  writeStatus(calls.client, key, status).catch((thrown: unknown) =>
    logger.debug({ reason: messageOf(thrown) }, 'the status of a job was not stored'),
  );
}

/** The job as a parent of children. */
function parentOf({ job, key, token }: OwnedJob, { startedChildren }: StartedJob): ParentJob {
  return { key, token, id: job.id ?? '', startedChildren, heritage: heritageOf(job) };
}

/** A job whose worker crashed is processed in the isolated process if there is one. */
async function processAttempt(
  kind: string,
  payload: Record<string, unknown>,
  owned: OwnedJob,
  begun: StartedJob,
  context: JobContext,
  log: JobLog,
): Promise<unknown> {
  const { job, signal } = owned;
  const {
    running: { attempt, hasCrashed },
    hasLedger,
  } = begun;
  const processed = {
    ...parentOf(owned, begun),
    hasLedger,
    tenant: tenantOf(job),
    ...budgetOf(job),
    ...reuseOf(job),
    ...deadlineOfJob(job, context.calls.batches?.afterMs),
  };
  if (!hasCrashed) return processJob(kind, payload, processed, signal, log, context);
  return runIsolated(kind, payload, { ...processed, attempt }, signal, log, context);
}
