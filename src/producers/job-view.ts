import type { Job } from 'bullmq';
import { FleetError } from '../errors.js';
import { type CallRecord, readCallRecords, usageOfRecords } from '../queues/call-record.js';
import { failureOf } from '../queues/child-failure.js';
import { brokenJob, isoTime, isTooDeep, readJob, UNKNOWN_TIME } from '../queues/damaged-job.js';
import type { JobFailure } from '../queues/failure.js';
import { type FollowUpOutcome, readOwnResult } from '../queues/follow-ups/own-result.js';
import { readJobFlags } from '../queues/job-flags.js';
import { describeUnservedQueue, servedQueues, untakenChild } from '../queues/served-queues.js';
import {
  describeUnserved,
  describeUnservedKind,
  servedKinds,
  unservedChild,
} from '../queues/unserved-children.js';
import { NO_USAGE, type Usage, UsageSchema } from '../queues/usage.js';
import { type JobLocation, jobNotFound, locationOf } from './find-job.js';
import type { FleetClient } from './fleet-client.js';
import type { FleetJobOptions } from './job-options.js';
import { storedTags } from './job-tags.js';

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

/** A job as users and other programs see it, the same in every API. Times are ISO 8601. */
export interface JobView {
  readonly id: string;
  /** Name of the kind, or of the pipeline queue. */
  readonly kind: string;
  readonly state: JobState;
  /** The key of its submission. */
  readonly key?: string;
  /** What came out, in a word: `clean`, `corrected`, `contaminated`, …; absent for kinds without a status. */
  readonly status?: string;
  readonly progress?: string;
  /** Why a job waits in vain: nobody serves its kind or its pipeline queue, or that of a child that it waits for. */
  readonly waitReason?: string;
  readonly result?: unknown;
  readonly error?: JobFailure;
  readonly usage: Usage;
  /** Agent calls in doubt, which may have been answered and billed, with their likely price. */
  readonly callsInDoubt?: readonly Pick<CallRecord, 'step' | 'turn' | 'model' | 'likelyUsd'>[];
  /** Agent calls that wait in a batch, or for one, with their likely price there. */
  readonly callsInBatches?: readonly Pick<CallRecord, 'step' | 'turn' | 'model' | 'likelyUsd'>[];
  readonly tags: Readonly<Record<string, string>>;
  readonly parent?: string;
  /** What became of the follow-ups, once the job has its result; its state is `waiting-children` until they have ended. */
  readonly followUps?: readonly FollowUpView[];
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly attempts: number;
}

/** A follow-up of a job. It was started and has an id, or was skipped, or could not be started. */
export interface FollowUpView extends FollowUpOutcome {
  /** The job, in a view of one job; absent in lists, and once the job is removed. */
  readonly job?: JobView;
}

const ENDED: ReadonlySet<JobState> = new Set(['completed', 'failed', 'cancelled']);

export function hasEnded(state: JobState): boolean {
  return ENDED.has(state);
}

export function publicState(state: string, cancelled: boolean): JobState {
  if (state === 'completed') return 'completed';
  if (cancelled) return 'cancelled';
  const known = JOB_STATES.find((name) => name === state);
  // A "prioritized" job of BullMQ waits like any other; "unknown" is a job between two lists.
  return known ?? 'waiting';
}

/** The usage in a job's result. */
function usageInResult(job: Job): Usage | undefined {
  return UsageSchema.safeParse((job.returnvalue as { usage?: unknown } | null)?.usage).data;
}

/** The ledger has the usage of all attempts; a job without calls in it has the usage that it reported. */
export function usageOf(reported: Usage, calls: readonly CallRecord[]): Usage {
  return calls.length === 0 ? reported : { ...usageOfRecords(calls), reusedCalls: reported.reusedCalls };
}

/** The calls of a job that have no end, as views show them. */
export function openCalls(calls: readonly CallRecord[]): Pick<JobView, 'callsInDoubt' | 'callsInBatches'> {
  const inState = (wanted: CallRecord['state']) => {
    const found = calls.filter(({ state }) => state === wanted);
    if (found.length === 0) return undefined;
    return found.map(({ step, turn, model, likelyUsd }) => ({ step, turn, model, likelyUsd }));
  };
  return defined({ callsInDoubt: inState('in-doubt'), callsInBatches: inState('in-batch') });
}

export function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

/**
 * The result of a completed job with its long texts, or why it cannot be shown: the view then contains the reason, and
 * the other fields are shown.
 */
async function resultOf(
  fleet: FleetClient,
  { kind, queue, id }: JobLocation,
  result: unknown,
): Promise<{ readonly result: unknown } | { readonly error: JobFailure }> {
  if (isTooDeep(result)) {
    const { code, message, retryable } = brokenJob(id, 'its result is nested too deep');
    return { error: { code, message, retryable } };
  }
  try {
    return { result: await withTexts(fleet, kind, result, queue.toKey(id)) };
  } catch (thrown) {
    return { error: unreadable(thrown) };
  }
}

/** The result of a job that waits for its follow-ups, or failed while it did. An unreadable one is not shown. */
async function resultWithFollowUps(
  fleet: FleetClient,
  location: JobLocation,
): Promise<{ readonly result?: unknown }> {
  const own = await readOwnResult(fleet.client, location.queue.toKey(location.id)).catch(
    (thrown: unknown) => {
      if (thrown instanceof FleetError && thrown.code === 'broken-record') return undefined;
      throw thrown;
    },
  );
  if (own === undefined) return {};
  const outcome = await resultOf(fleet, location, own.result);
  return 'result' in outcome ? outcome : {};
}

async function waitReasonOf(
  fleet: FleetClient,
  state: JobState,
  kind: string,
  key: string,
): Promise<string | undefined> {
  if (state !== 'waiting' && state !== 'waiting-children') return undefined;
  const isKind = (name: string) => fleet.kinds.has(name);
  if (state === 'waiting' && !isKind(kind)) return pipelineWaitReason(fleet, kind);
  const served = await servedKinds(fleet.client, fleet.prefix);
  if (state === 'waiting') return served?.has(kind) ? undefined : describeUnservedKind(kind);
  const child = await unservedChild(fleet.client, key, isKind, served);
  if (child !== undefined) return describeUnserved(child);
  const taken = await servedQueues(fleet.client, fleet.prefix);
  const untaken = taken && (await untakenChild(fleet.client, key, isKind, taken));
  return untaken && `it waits for ${untaken.id}, and ${describeUnservedQueue(untaken.queue, taken)}`;
}

/** Workers of pipeline queues do not report, but are connected; other programs claim. */
async function pipelineWaitReason(fleet: FleetClient, queue: string): Promise<string | undefined> {
  const served = await servedQueues(fleet.client, fleet.prefix);
  return served === undefined || served.has(queue) ? undefined : describeUnservedQueue(queue, served);
}

async function viewFollowUp(fleet: FleetClient, outcome: FollowUpOutcome): Promise<FollowUpView> {
  const { kind, id } = outcome;
  if (id === undefined) return outcome;
  try {
    return { ...outcome, job: await viewJob(fleet, locationOf(fleet, id, kind)) };
  } catch (thrown) {
    if (thrown instanceof FleetError && thrown.code === 'job-not-found') return outcome;
    throw thrown;
  }
}

/** Data of a job with their long texts. Only texts of the fleet's kinds are stored separately. */
export async function withTexts(
  fleet: FleetClient,
  queue: string,
  data: unknown,
  jobKey: string,
): Promise<unknown> {
  return fleet.kinds.has(queue) ? fleet.payloads.restore(data, jobKey) : data;
}

/** Why stored texts cannot be read, for a view; an error that concerns more than one job is thrown. */
export function unreadable(thrown: unknown): JobFailure {
  if (!(thrown instanceof FleetError)) throw thrown;
  if (thrown.code !== 'payload-missing' && thrown.code !== 'payload-too-large') throw thrown;
  return { code: thrown.code, message: thrown.message, retryable: thrown.retryable };
}

/** The failure of every cancelled job. */
export const CANCELLED: JobFailure = {
  code: 'job-cancelled',
  message: 'the job was cancelled',
  retryable: false,
};

export async function errorOf(
  fleet: FleetClient,
  state: JobState,
  failedReason: string | undefined,
  jobKey: string,
): Promise<JobFailure | undefined> {
  if (state === 'cancelled') return CANCELLED;
  if (state !== 'failed') return undefined;
  return failureOf(fleet.client, jobKey, failedReason ?? 'no reason was recorded');
}

/** State of a job whose fields may be newer than `state`: if it ended in between, they contain its outcome. */
export function stateWith(
  fields: { readonly finishedOn?: number | undefined; readonly failedReason?: string | undefined },
  state: string,
): string {
  if (state === 'completed' || state === 'failed' || fields.finishedOn === undefined) return state;
  return fields.failedReason === undefined ? 'completed' : 'failed';
}

/** How often a job is read again if it seems to change between two reads; a damaged job always seems so. */
export const MAX_REREADS = 5;

/** Whether a job ended, or was run again, between the reads of its state and its fields. */
export function isBetween(state: string, finishedOn: number | undefined): boolean {
  return (state === 'completed' || state === 'failed') && finishedOn === undefined;
}

/**
 * The current view of a job, in one round trip, and one more for each level of follow-ups. A completed job has its result, or the reason why that cannot be read.
 * @throws JobError `job-not-found` if it does not exist, or no longer; `broken-record` if it cannot be read.
 */
export async function viewJob(
  fleet: FleetClient,
  location: JobLocation,
  rereads = MAX_REREADS,
): Promise<JobView> {
  const { kind, queue, id } = location;
  const key = queue.toKey(id);
  const [state, job, flags, calls] = await Promise.all([
    queue.getJobState(id),
    readJob(queue, id),
    readJobFlags(fleet.client, key),
    readCallRecords(fleet.client, key),
  ]);
  if (job === undefined) throw jobNotFound(id);
  if (isBetween(state, job.finishedOn) && rereads > 0) return viewJob(fleet, location, rereads - 1);
  const shown = publicState(stateWith(job, state), flags.cancelled);
  const { followUps } = flags;
  const outcome =
    shown === 'completed'
      ? await resultOf(fleet, location, job.returnvalue)
      : {
          error: await errorOf(fleet, shown, job.failedReason, key),
          ...(followUps === undefined ? {} : await resultWithFollowUps(fleet, location)),
        };
  return {
    id,
    kind,
    state: shown,
    usage: usageOf(usageInResult(job) ?? flags.usage ?? NO_USAGE, calls),
    tags: storedTags(job.opts, job.data),
    createdAt: isoTime(job.timestamp) ?? UNKNOWN_TIME,
    attempts: Number.isFinite(job.attemptsMade) ? job.attemptsMade : 0,
    ...defined({
      key: (job.opts as FleetJobOptions).fleet?.key,
      status: flags.status,
      progress: typeof job.progress === 'string' ? job.progress : undefined,
      waitReason: await waitReasonOf(fleet, shown, kind, key),
      ...outcome,
      ...openCalls(calls),
      parent: job.parent?.id,
      followUps: followUps && (await Promise.all(followUps.map((outcome) => viewFollowUp(fleet, outcome)))),
      startedAt: isoTime(flags.startedOn ?? job.processedOn),
      endedAt: isoTime(job.finishedOn),
    }),
  } as JobView;
}
