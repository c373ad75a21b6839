import { z } from 'zod';
import { readCallRecords } from '../queues/call-record.js';
import { isoTime, storedNumber, UNKNOWN_TIME } from '../queues/damaged-job.js';
import { readJobFlags } from '../queues/job-flags.js';
import { isJobKey, parseJobKey } from '../queues/job-key.js';
import { readRecord } from '../queues/read-record.js';
import { NO_USAGE } from '../queues/usage.js';
import { type JobLocation, jobNotFound } from './find-job.js';
import type { FleetClient } from './fleet-client.js';
import { tagsOf } from './job-tags.js';
import {
  defined,
  errorOf,
  isBetween,
  type JobView,
  MAX_REREADS,
  openCalls,
  publicState,
  stateWith,
  usageOf,
} from './job-view.js';

/** A job in a list. */
export type JobSummary = Omit<JobView, 'result'> & {
  /** For whom the job is done, if its submission says so. */
  readonly tenant?: string;
};

/** Number of jobs that are read at once. */
export const SUMMARY_CHUNK = 100;

/** Bytes of jobs' data that are read at once, for jobs whose options do not contain their labels. */
const MAX_DATA_BYTES = 4 * 2 ** 20;

/** Maximum length of a progress text that is read. */
const MAX_PROGRESS = 8_000;

const FIELDS = [
  ...['opts', 'timestamp', 'atm', 'processedOn', 'finishedOn', 'failedReason', 'progress', 'parentKey'],
] as const;

/** The fleet's part of a job's options; `tags` is null if the job has none, and absent in jobs of older versions. */
const OptionsSchema = z.looseObject({
  fleet: z
    .looseObject({
      tags: z.record(z.string(), z.string()).nullish(),
      tenant: z.string().optional(),
      key: z.string().optional(),
    })
    .optional(),
});

interface Summary {
  readonly location: JobLocation;
  readonly view: Omit<JobSummary, 'tags'>;
  readonly tags: Readonly<Record<string, string>> | undefined;
}

/**
 * Summaries of jobs, in the order of the locations; undefined for a job that is gone. Payloads and results are not read,
 * so the cost of a list does not depend on their size.
 */
export async function summarizeJobs(
  fleet: FleetClient,
  locations: readonly JobLocation[],
): Promise<(JobSummary | undefined)[]> {
  const found: (JobSummary | undefined)[] = [];
  for (let start = 0; start < locations.length; start += SUMMARY_CHUNK) {
    const chunk = await Promise.all(
      locations.slice(start, start + SUMMARY_CHUNK).map((location) => summarize(fleet, location)),
    );
    const tags = await tagsInData(
      fleet,
      chunk.filter((summary) => summary !== undefined && summary.tags === undefined),
    );
    for (const summary of chunk) {
      found.push(
        summary && {
          ...summary.view,
          tags: summary.tags ?? tags.get(summary.location.queue.toKey(summary.location.id)) ?? {},
        },
      );
    }
  }
  return found;
}

/** Summary of one job. @throws JobError `job-not-found`. */
export async function summarizeJob(fleet: FleetClient, location: JobLocation): Promise<JobSummary> {
  const [summary] = await summarizeJobs(fleet, [location]);
  if (summary === undefined) throw jobNotFound(location.id);
  return summary;
}

async function summarize(
  fleet: FleetClient,
  location: JobLocation,
  rereads = MAX_REREADS,
): Promise<Summary | undefined> {
  const { kind, queue, id } = location;
  const key = queue.toKey(id);
  // A key of another type is not a job: it is not shown.
  if ((await fleet.client.type(key)) !== 'hash') return undefined;
  const [state, fields, flags, calls] = await Promise.all([
    queue.getJobState(id),
    fleet.client.hmget(key, ...FIELDS),
    readJobFlags(fleet.client, key),
    readCallRecords(fleet.client, key),
  ]);
  const [opts, timestamp, attempts, processedOn, finishedOn, failedReason, progress, parentKey] = fields;
  if (timestamp === null || timestamp === undefined) return undefined;
  const endedAt = storedNumber(finishedOn);
  if (isBetween(state, endedAt) && rereads > 0) return summarize(fleet, location, rereads - 1);
  const ended = { finishedOn: endedAt, failedReason: failedReason ?? undefined };
  const shown = publicState(stateWith(ended, state), flags.cancelled);
  const fleetOptions = readRecord(OptionsSchema, opts)?.value?.fleet;
  return {
    location,
    tags: fleetOptions?.tags === null ? {} : fleetOptions?.tags,
    view: {
      id,
      kind,
      state: shown,
      usage: usageOf(flags.usage ?? NO_USAGE, calls),
      createdAt: isoTime(storedNumber(timestamp)) ?? UNKNOWN_TIME,
      attempts: storedNumber(attempts) ?? 0,
      ...defined({
        progress: progressOf(progress),
        error: await errorOf(fleet, shown, failedReason ?? undefined, key),
        ...openCalls(calls),
        parent: parentOf(parentKey),
        startedAt: isoTime(flags.startedOn ?? storedNumber(processedOn)),
        endedAt: isoTime(endedAt),
        followUps: flags.followUps,
        key: fleetOptions?.key,
        status: flags.status,
        tenant: fleetOptions?.tenant,
      }),
    } as Omit<JobSummary, 'tags'>,
  };
}

function parentOf(key: string | null | undefined): string | undefined {
  return key && isJobKey(key) ? parseJobKey(key).id : undefined;
}

function progressOf(field: string | null | undefined): string | undefined {
  if (field === null || field === undefined || field.length > MAX_PROGRESS) return undefined;
  return readRecord(z.string(), field)?.value;
}

/** Labels of jobs from versions that stored them only in the data, of which a bounded part is read at a time. */
async function tagsInData(
  fleet: FleetClient,
  summaries: readonly (Summary | undefined)[],
): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const tags = new Map<string, Readonly<Record<string, string>>>();
  const keys = summaries.flatMap((summary) =>
    summary === undefined ? [] : [summary.location.queue.toKey(summary.location.id)],
  );
  const sizes = await Promise.all(keys.map((key) => fleet.client.hstrlen(key, 'data')));
  for (let start = 0; start < keys.length; ) {
    let end = start;
    for (
      let bytes = 0;
      end < keys.length && (end === start || bytes + (sizes[end] ?? 0) <= MAX_DATA_BYTES);
    ) {
      bytes += sizes[end] ?? 0;
      end += 1;
    }
    await Promise.all(
      keys.slice(start, end).map(async (key) => {
        const data = readRecord(z.unknown(), await fleet.client.hget(key, 'data'))?.value;
        tags.set(key, tagsOf(data));
      }),
    );
    start = end;
  }
  return tags;
}
