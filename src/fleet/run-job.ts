import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import type { Redis } from 'ioredis';
import type { AgentRunner } from '../agents/agent-runner.js';
import { AgentError, type FleetError, InternalError, JobError, toFleetError } from '../errors.js';
import { loadProcessor } from '../processors/registry.js';
import { RESERVED_TAGS, TagsSchema } from '../queues/common.js';
import { encodeFailure } from '../queues/failure.js';
import { parseJobKey } from '../queues/job-key.js';
import { readMarks, writeUsage } from '../queues/job-marks.js';
import type { ChildResult, JobKind } from '../queues/kind.js';
import { KINDS, type KindName, type PayloadOf, type ResultOf } from '../queues/registry.js';
import { addUsage, NO_USAGE } from '../queues/usage.js';
import { completePayload, parsePayload } from '../queues/validate.js';
import { ABORT_REASONS } from './abort-reasons.js';
import { jobLog } from './job-log.js';
import type { Logger } from './logger.js';

export interface JobContext {
  readonly runner: AgentRunner;
  readonly logger: Logger;
  /** For the fleet's own marks on jobs. */
  readonly client: Redis;
  /** How long a job of a newer contract waits for a newer worker before it is looked at again. */
  readonly newerContractDelayMs: number;
}

/** One job in the hands of this worker. */
interface Held {
  readonly job: Job;
  readonly token: string;
  readonly signal: AbortSignal;
}

/**
 * The run of one job: refuse what is cancelled → validate → complete from children → process → validate the
 * result → report. What it throws tells BullMQ what to do: `UnrecoverableError` ends the job, another error
 * uses an attempt, `DelayedError` and `WaitingError` hand it back without one.
 */
export async function runJob<K extends KindName>(
  kind: K,
  held: Held,
  context: JobContext,
): Promise<ResultOf<K>> {
  const { job } = held;
  const logger = context.logger.child({ jobId: job.id, kind, ...lineageOf(job) });
  const started = performance.now();
  logger.info({ attempt: job.attemptsMade + 1 }, 'job started');
  try {
    await refuseCancelled(held, context);
    const payload = await payloadOf(kind, job);
    const result = await process(kind, payload, held, context, logger);
    const checked = checkResult(kind, result);
    logger.info({ ms: Math.round(performance.now() - started) }, 'job completed');
    return checked;
  } catch (thrown) {
    return settleFailure(thrown, held, context, logger);
  }
}

/** Where in a pipeline run the job belongs, for its log lines. */
function lineageOf(job: Job): Record<string, string> {
  const tags = TagsSchema.safeParse((job.data as { tags?: unknown } | null)?.tags).data ?? {};
  return Object.fromEntries(
    RESERVED_TAGS.flatMap((name) => (tags[name] === undefined ? [] : [[name, tags[name]]])),
  );
}

async function refuseCancelled({ job }: Held, { client }: JobContext): Promise<void> {
  const { cancelled } = await readMarks(client, jobKey(job));
  if (cancelled) throw new JobError('job-cancelled', 'the job was cancelled', { jobId: job.id ?? '' });
}

/** Key of the job's hash in Redis. */
function jobKey(job: Job): string {
  return `${job.queueQualifiedName}:${job.id}`;
}

async function payloadOf<K extends KindName>(kind: K, job: Job): Promise<PayloadOf<K>> {
  const payload = parsePayload(kind, job.data);
  const supplied = Object.keys(KINDS[kind].suppliedByChild);
  const complete = supplied.every((field) => field in payload);
  return complete ? payload : completePayload(kind, payload, await childResults(job));
}

/** What the job's children returned. */
async function childResults(job: Job): Promise<ChildResult[]> {
  const values = await job.getChildrenValues<unknown>();
  return Object.entries(values).map(([key, result]) => ({ kind: parseJobKey(key).queue, result }));
}

async function process<K extends KindName>(
  kind: K,
  payload: PayloadOf<K>,
  { job, signal }: Held,
  { runner }: JobContext,
  logger: Logger,
): Promise<ResultOf<K>> {
  const processor = await loadProcessor(kind);
  if (processor === undefined) throw new InternalError(`this version has no processor for ${kind}`);
  const log = jobLog(job, logger);
  try {
    return await processor(payload, { runner, signal, log, progress: log.progress });
  } finally {
    await log.written();
  }
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
): Promise<never> {
  if (signal.aborted && signal.reason === ABORT_REASONS.draining) {
    logger.info('the worker stops; the job goes back to the queue');
    await job.moveToWait(token);
    throw new WaitingError();
  }
  const error =
    signal.aborted && signal.reason === ABORT_REASONS.cancelled
      ? new JobError('job-cancelled', 'the job was cancelled', { jobId: job.id ?? '', cause: thrown })
      : toFleetError(thrown);
  if (error.code === 'newer-contract') {
    logger.warn(`${error.message}; it is left for a newer worker`);
    await job.moveToDelayed(Date.now() + context.newerContractDelayMs, token);
    throw new DelayedError();
  }
  await keepEvidence(error, job, context);
  const final = !error.retryable || job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
  logger[final ? 'error' : 'warn'](
    { code: error.code, err: error },
    final ? 'job failed' : 'job will be tried again',
  );
  if (!error.retryable) throw new UnrecoverableError(encodeFailure(error));
  throw new Error(encodeFailure(error), { cause: error });
}

/** Keeps what a failed attempt cost, and the answer that could not be used. */
async function keepEvidence(error: FleetError, job: Job, { client }: JobContext): Promise<void> {
  if (error.rawAnswer !== undefined) await job.log(`answer that could not be used:\n${error.rawAnswer}`);
  if (!(error instanceof AgentError) || error.usage === undefined) return;
  const before = (await readMarks(client, jobKey(job))).usage ?? NO_USAGE;
  await writeUsage(client, jobKey(job), addUsage(before, error.usage));
}
