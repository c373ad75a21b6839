import type { Queue } from 'bullmq';
import type { ErrorCode } from '../errors.js';
import { FleetError, JobError, UsageError } from '../errors.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import { type CallRecord, readCallRecords } from '../queues/call-record.js';
import { brokenJob, isTooDeep } from '../queues/damaged-job.js';
import type { JobFailure } from '../queues/failure.js';
import type { KindName } from '../queues/registry.js';
import { findJob, locationOf, queueOfJobId } from './find-job.js';
import type { FleetClient } from './fleet-client.js';
import { type JobSummary, summarizeJobs } from './job-summaries.js';
import { type JobView, unreadable, viewJob, withTexts } from './job-view.js';
import { listedQueues } from './listed-queues.js';
import { retryJob } from './retry-job.js';

/** Selects dead letters; a field that is left out matches all. */
export interface DeadLetterFilter {
  readonly ids?: readonly string[];
  /** Name of a kind, or of a pipeline queue. */
  readonly kind?: KindName;
  /** Only jobs of this pipeline run (`tags.run`). */
  readonly run?: string;
  readonly tenant?: string;
  /** Only jobs that failed with this code. */
  readonly code?: ErrorCode;
  /** Only jobs that failed at least this long ago, in milliseconds. */
  readonly olderThanMs?: number;
}

const FILTER_FIELDS: OptionNames<DeadLetterFilter> = {
  ids: true,
  kind: true,
  run: true,
  tenant: true,
  code: true,
  olderThanMs: true,
};

/** A job that failed permanently, with all data that are needed to diagnose it and to run it again. */
export interface DeadLetter {
  /** With the error (cut at 8,000 characters) and the cost of all attempts. */
  readonly job: JobView;
  /** The submitted payload, with its long texts. */
  readonly payload: unknown;
  /** Why the long texts of the payload cannot be read; the payload then contains references instead. */
  readonly payloadError?: JobFailure;
  /** The call ledger: every agent call of every attempt. */
  readonly calls: readonly CallRecord[];
}

/** The outcome of a command for the dead letters that it selected. */
export interface DeadLetterAction {
  readonly done: readonly string[];
  /** Dead letters that the command could not be applied to, and why. */
  readonly refused: readonly { readonly id: string; readonly reason: string }[];
}

const PAGE = 200;

/** Jobs that failed permanently and were not cancelled, newest first within their kind. */
export async function listDeadLetters(
  fleet: FleetClient,
  filter: DeadLetterFilter = {},
  limit = 100,
): Promise<JobView[]> {
  const found: JobView[] = [];
  for await (const { tenant: _, ...view } of deadLetters(fleet, filter)) {
    found.push(view);
    if (found.length >= limit) break;
  }
  return found;
}

/** @throws JobError `job-not-found`; UsageError if the job has not failed. */
export async function getDeadLetter(fleet: FleetClient, id: string): Promise<DeadLetter> {
  const found = await findJob(fleet, id);
  const key = found.queue.toKey(id);
  const [job, calls, payload] = await Promise.all([
    viewJob(fleet, found),
    readCallRecords(fleet.client, key),
    payloadOf(fleet, found.kind, found.job.data, key, id),
  ]);
  if (job.state !== 'failed') {
    throw new UsageError('usage', `job ${id} is ${job.state}, so it is not a dead letter`, { jobId: id });
  }
  return { job, ...payload, calls };
}

/** The payload with its long texts; if these cannot be read, the payload as it is stored, and why. */
async function payloadOf(
  fleet: FleetClient,
  kind: string,
  data: unknown,
  key: string,
  id: string,
): Promise<Pick<DeadLetter, 'payload' | 'payloadError'>> {
  if (isTooDeep(data)) {
    const { code, message, retryable } = brokenJob(id, 'its data are nested too deep');
    return { payload: null, payloadError: { code, message, retryable } };
  }
  try {
    return { payload: await withTexts(fleet, kind, data, key) };
  } catch (thrown) {
    return { payload: data, payloadError: unreadable(thrown) };
  }
}

/**
 * Runs dead letters again with a fresh set of attempts; answered calls are replayed and not billed again.
 * @throws UsageError if the filter is empty.
 */
export async function retryDeadLetters(
  fleet: FleetClient,
  filter: DeadLetterFilter,
): Promise<DeadLetterAction> {
  demandFilter(filter, 'retry');
  return forEachDead(fleet, filter, async (id) => {
    try {
      await retryJob(fleet, id);
    } catch (thrown) {
      if (!(thrown instanceof JobError && thrown.code === 'job-not-retryable')) throw thrown;
      // A retry of its child or of its parent has run it again.
      if ((await locationOf(fleet, id).queue.getJobState(id)) === 'failed') throw thrown;
    }
  });
}

/**
 * Removes dead letters permanently.
 * @throws UsageError if the filter is empty.
 */
export async function discardDeadLetters(
  fleet: FleetClient,
  filter: DeadLetterFilter,
): Promise<DeadLetterAction> {
  demandFilter(filter, 'drop');
  return forEachDead(fleet, filter, async (id) => {
    const { queue } = locationOf(fleet, id);
    // A job that cannot be read can be removed as well.
    const removed = await queue.remove(id, { removeChildren: false });
    if (removed === 0) throw new UsageError('usage', `job ${id} is locked by a worker`, { jobId: id });
  });
}

function demandFilter(filter: DeadLetterFilter, verb: string): void {
  const { ids, ...rest } = filter;
  if (ids !== undefined && ids.length > 0) return;
  if (Object.values(rest).some((value) => value !== undefined)) return;
  throw new UsageError('usage', `say which dead letters to ${verb}: ids, a kind, run, tenant, code or age`);
}

/** The ids are collected first, because the action removes a job from the list that is read. */
async function forEachDead(
  fleet: FleetClient,
  filter: DeadLetterFilter,
  action: (id: string) => Promise<void>,
): Promise<DeadLetterAction> {
  const ids: string[] = [];
  for await (const { id } of deadLetters(fleet, filter)) ids.push(id);
  const done: string[] = [];
  const refused = (filter.ids ?? [])
    .filter((id) => !ids.includes(id))
    .map((id) => ({ id, reason: 'is not a dead letter' }));
  for (const id of ids) {
    try {
      await action(id);
      done.push(id);
    } catch (thrown) {
      if (!(thrown instanceof FleetError)) throw thrown;
      refused.push({ id, reason: thrown.message });
    }
  }
  return { done, refused };
}

async function* deadLetters(fleet: FleetClient, filter: DeadLetterFilter): AsyncGenerator<JobSummary> {
  rejectUnknownOptions(filter, FILTER_FIELDS);
  for (const [kind, queue] of await listedQueues(fleet, filter.kind)) {
    for await (const ids of failedIds(fleet, queue, kind, filter.ids)) {
      const summaries = await summarizeJobs(
        fleet,
        ids.map((id) => ({ kind, queue, id })),
      );
      for (const summary of summaries) if (summary !== undefined && isMeant(summary, filter)) yield summary;
    }
  }
}

function isMeant(job: JobSummary, { tenant, run, code, olderThanMs }: DeadLetterFilter): boolean {
  if (job.state !== 'failed') return false;
  if (tenant !== undefined && (job.tenant ?? job.tags.run) !== tenant) return false;
  if (run !== undefined && job.tags.run !== run) return false;
  if (code !== undefined && job.error?.code !== code) return false;
  return olderThanMs === undefined || Date.now() - Date.parse(job.endedAt ?? '') >= olderThanMs;
}

/**
 * Ids of failed jobs, page by page: those in the filter, or all. A job that fails meanwhile shifts the pages: no job is
 * missed, and one may be returned twice.
 */
async function* failedIds(
  fleet: FleetClient,
  queue: Queue,
  kind: string,
  named: readonly string[] | undefined,
): AsyncGenerator<string[]> {
  if (named !== undefined) {
    yield [...new Set(named)].filter((id) => queueOfJobId(fleet, id) === kind);
    return;
  }
  const seen = new Set<string>();
  for (let start = 0; ; start += PAGE) {
    const ids = await queue.getRanges(['failed'], start, start + PAGE - 1);
    yield ids.filter((id) => !seen.has(id));
    for (const id of ids) seen.add(id);
    if (ids.length < PAGE) return;
  }
}
