import type { Job, Queue } from 'bullmq';
import type { ErrorCode } from '../errors.js';
import { FleetError, UsageError } from '../errors.js';
import { type CallRecord, readCallRecords } from '../queues/call-record.js';
import { readMarks } from '../queues/job-marks.js';
import type { KindName } from '../queues/registry.js';
import type { FleetJobOptions } from './add-job.js';
import { findJob } from './find-job.js';
import type { FleetConnection } from './fleet-connection.js';
import { type JobView, viewJob } from './job-view.js';
import { retryJob } from './retry-job.js';

/** Which dead letters are meant; what is left out does not matter. */
export interface DeadFilter {
  readonly ids?: readonly string[];
  readonly kind?: KindName;
  /** Only jobs of this pipeline run (`tags.run`). */
  readonly run?: string;
  readonly tenant?: string;
  /** Only jobs that failed with this code. */
  readonly code?: ErrorCode;
  /** Only jobs that failed at least so long ago, in milliseconds. */
  readonly olderThanMs?: number;
}

/** A job that failed for good, with everything that is needed to judge it and to run it again. */
export interface DeadLetter {
  /** With the error (cut at 8,000 characters) and the cost of all attempts. */
  readonly job: JobView;
  /** What was submitted, with its long texts. */
  readonly payload: unknown;
  /** The ledger: every agent call of every attempt. */
  readonly calls: readonly CallRecord[];
}

/** What became of the dead letters that a command was about. */
export interface DeadAction {
  readonly done: readonly string[];
  /** Those that could not be treated, and why. */
  readonly refused: readonly { readonly id: string; readonly reason: string }[];
}

const PAGE = 200;

/** Jobs that failed for good and were not cancelled, newest first within their kind. */
export async function listDead(
  fleet: FleetConnection,
  filter: DeadFilter = {},
  limit = 100,
): Promise<JobView[]> {
  const found: JobView[] = [];
  for await (const view of deadLetters(fleet, filter)) {
    found.push(view);
    if (found.length >= limit) break;
  }
  return found;
}

/** @throws JobError `job-not-found`; UsageError where the job has not failed. */
export async function showDead(fleet: FleetConnection, id: string): Promise<DeadLetter> {
  const found = await findJob(fleet, id);
  const [job, calls, payload] = await Promise.all([
    viewJob(fleet, found),
    readCallRecords(fleet.client, found.queue.toKey(id)),
    fleet.payloads.restore(found.job.data as unknown),
  ]);
  if (job.state !== 'failed') {
    throw new UsageError('usage', `job ${id} is ${job.state}, and so no dead letter`, { jobId: id });
  }
  return { job, payload, calls };
}

/**
 * Runs dead letters again with a fresh set of attempts; calls that were answered are not paid again.
 * @throws UsageError where nothing says which ones.
 */
export async function retryDead(fleet: FleetConnection, filter: DeadFilter): Promise<DeadAction> {
  demandFilter(filter, 'retry');
  return forEachDead(fleet, filter, (id) => retryJob(fleet, id));
}

/**
 * Removes dead letters for ever.
 * @throws UsageError where nothing says which ones.
 */
export async function dropDead(fleet: FleetConnection, filter: DeadFilter): Promise<DeadAction> {
  demandFilter(filter, 'drop');
  return forEachDead(fleet, filter, async (id) => {
    const { job } = await findJob(fleet, id);
    await job.remove({ removeChildren: false });
  });
}

function demandFilter(filter: DeadFilter, verb: string): void {
  const { ids, ...rest } = filter;
  if (ids !== undefined && ids.length > 0) return;
  if (Object.values(rest).some((value) => value !== undefined)) return;
  throw new UsageError('usage', `say which dead letters to ${verb}: ids, a kind, run, tenant, code or age`);
}

/** The ids are collected first, since what is done to a job takes it out of the list that is read. */
async function forEachDead(
  fleet: FleetConnection,
  filter: DeadFilter,
  action: (id: string) => Promise<void>,
): Promise<DeadAction> {
  const ids: string[] = [];
  for await (const { id } of deadLetters(fleet, filter)) ids.push(id);
  const done: string[] = [];
  const refused = (filter.ids ?? [])
    .filter((id) => !ids.includes(id))
    .map((id) => ({ id, reason: 'is no dead letter' }));
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

async function* deadLetters(fleet: FleetConnection, filter: DeadFilter): AsyncGenerator<JobView> {
  const wanted = filter.ids === undefined ? undefined : new Set(filter.ids);
  for (const [kind, queue] of fleet.kindQueues) {
    if (filter.kind !== undefined && filter.kind !== kind) continue;
    for await (const job of failedJobs(queue)) {
      if (wanted !== undefined && !wanted.has(job.id ?? '')) continue;
      const { tenant } = (job.opts as FleetJobOptions).fleet ?? {};
      if (filter.tenant !== undefined && (tenant ?? runTag(job)) !== filter.tenant) continue;
      if (filter.run !== undefined && runTag(job) !== filter.run) continue;
      if (filter.olderThanMs !== undefined && Date.now() - (job.finishedOn ?? 0) < filter.olderThanMs)
        continue;
      if ((await readMarks(fleet.client, queue.toKey(job.id ?? ''))).cancelled) continue;
      const view = await viewJob(fleet, { kind, queue, id: job.id ?? '' });
      if (view.state !== 'failed') continue;
      if (filter.code === undefined || view.error?.code === filter.code) yield view;
    }
  }
}

function runTag(job: Job): string | undefined {
  return (job.data as { tags?: { run?: string } } | null)?.tags?.run;
}

/** Page by page; a job that fails meanwhile shifts the pages, so that none is missed and one may be seen twice. */
async function* failedJobs(queue: Queue): AsyncGenerator<Job> {
  const seen = new Set<string>();
  for (let start = 0; ; start += PAGE) {
    const jobs: Job[] = await queue.getJobs(['failed'], start, start + PAGE - 1);
    for (const job of jobs) {
      if (job?.id === undefined || seen.has(job.id)) continue;
      seen.add(job.id);
      yield job;
    }
    if (jobs.length < PAGE) return;
  }
}
