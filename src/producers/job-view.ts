import type { Job } from 'bullmq';
import { type CallRecord, readCallRecords, usageOfRecords } from '../queues/call-record.js';
import { childFailure, failedChildOf } from '../queues/child-failure.js';
import { decodeFailure, type JobFailure } from '../queues/failure.js';
import { type JobMarks, readMarks } from '../queues/job-marks.js';
import { NO_USAGE, type Usage, UsageSchema } from '../queues/usage.js';
import { type JobPlace, jobNotFound } from './find-job.js';
import type { FleetConnection } from './fleet-connection.js';

export const JOB_STATES = [
  'waiting',
  'delayed',
  'waiting-children',
  'active',
  'completed',
  'failed',
  'cancelled',
] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A job as people and other programs see it, whichever door they look through. Times are ISO 8601. */
export interface JobView {
  readonly id: string;
  /** Name of the kind, or of the pipeline's own queue. */
  readonly kind: string;
  readonly state: JobState;
  readonly progress?: string;
  readonly result?: unknown;
  readonly error?: JobFailure;
  readonly usage: Usage;
  /** Agent calls of which nobody knows whether they were answered and billed, with what they probably cost. */
  readonly unknownCalls?: readonly Pick<CallRecord, 'step' | 'ask' | 'model' | 'likelyUsd'>[];
  readonly tags: Readonly<Record<string, string>>;
  readonly parent?: string;
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly attempts: number;
}

const ENDED: ReadonlySet<JobState> = new Set(['completed', 'failed', 'cancelled']);

export function hasEnded(state: JobState): boolean {
  return ENDED.has(state);
}

function publicState(state: string, cancelled: boolean): JobState {
  if (state === 'completed') return 'completed';
  if (cancelled) return 'cancelled';
  const known = JOB_STATES.find((name) => name === state);
  // What BullMQ calls "prioritized" waits like any other; "unknown" is a job between two lists.
  return known ?? 'waiting';
}

const isoTime = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());

/** The ledger knows what all attempts were billed; without calls of its own a job has what its result says. */
function usageOf(job: Job, marks: JobMarks, calls: readonly CallRecord[]): Usage {
  const inResult = UsageSchema.safeParse((job.returnvalue as { usage?: unknown } | null)?.usage);
  const reported = inResult.data ?? marks.usage ?? NO_USAGE;
  return calls.length === 0 ? reported : { ...usageOfRecords(calls), reusedCalls: reported.reusedCalls };
}

function unknownCalls(calls: readonly CallRecord[]): JobView['unknownCalls'] {
  const unknown = calls.filter(({ state }) => state === 'unknown');
  if (unknown.length === 0) return undefined;
  return unknown.map(({ step, ask, model, likelyUsd }) => ({ step, ask, model, likelyUsd }));
}

function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

async function resultOf(fleet: FleetConnection, job: Job, longTexts: boolean): Promise<unknown> {
  return longTexts ? fleet.payloads.restore(job.returnvalue as unknown) : job.returnvalue;
}

async function errorOf(fleet: FleetConnection, state: JobState, job: Job): Promise<JobFailure | undefined> {
  if (state === 'cancelled') {
    return { code: 'job-cancelled', message: 'the job was cancelled', retryable: false };
  }
  if (state !== 'failed') return undefined;
  const reason = job.failedReason ?? 'no reason was recorded';
  const childKey = failedChildOf(reason);
  return childKey === undefined ? decodeFailure(reason) : childFailure(fleet.client, childKey);
}

/** State of a job whose fields may be newer than `state`: one that ended in between has its outcome in them. */
function stateWith(fields: Job, state: string): string {
  if (state === 'completed' || state === 'failed' || fields.finishedOn === undefined) return state;
  return fields.failedReason === undefined ? 'completed' : 'failed';
}

/**
 * The present view of a job, in one round trip. A job shown as completed always has its result.
 * @param options.longTexts False where the result's long texts are not needed: they then stay references.
 * @throws JobError `job-not-found` where it is not there, or not any more.
 */
export async function viewJob(
  fleet: FleetConnection,
  place: JobPlace,
  options: { readonly longTexts?: boolean } = {},
): Promise<JobView> {
  const { kind, queue, id } = place;
  const [state, job, marks, calls] = await Promise.all([
    queue.getJobState(id),
    queue.getJob(id) as Promise<Job | undefined>,
    readMarks(fleet.client, queue.toKey(id)),
    readCallRecords(fleet.client, queue.toKey(id)),
  ]);
  if (job === undefined) throw jobNotFound(id);
  // It ended, or was run again, between the reads.
  if ((state === 'completed' || state === 'failed') && job.finishedOn === undefined) {
    return viewJob(fleet, place, options);
  }
  const shown = publicState(stateWith(job, state), marks.cancelled);
  const error = await errorOf(fleet, shown, job);
  return {
    id,
    kind,
    state: shown,
    usage: usageOf(job, marks, calls),
    tags: (job.data as { tags?: Record<string, string> } | null)?.tags ?? {},
    createdAt: new Date(job.timestamp).toISOString(),
    attempts: job.attemptsMade,
    ...defined({
      progress: typeof job.progress === 'string' ? job.progress : undefined,
      result: shown === 'completed' ? await resultOf(fleet, job, options.longTexts ?? true) : undefined,
      error,
      unknownCalls: unknownCalls(calls),
      parent: job.parent?.id,
      startedAt: isoTime(job.processedOn),
      endedAt: isoTime(job.finishedOn),
    }),
  } as JobView;
}
