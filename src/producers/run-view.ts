import { isoTime, UNKNOWN_TIME } from '../queues/damaged-job.js';
import { parseJobKey } from '../queues/job-key.js';
import { latestRunsKey, runKey } from '../queues/redis-keys.js';
import { addUsage, NO_USAGE, type Usage } from '../queues/usage.js';
import { locationOf } from './find-job.js';
import type { FleetClient } from './fleet-client.js';
import { type JobSummary, SUMMARY_CHUNK, summarizeJobs } from './job-summaries.js';
import { JOB_STATES, type JobState, type JobView } from './job-view.js';
import type { ListFilter } from './list-jobs.js';

/** A job of a run, without its result, with the jobs it waits for. */
type RunJob = Omit<JobView, 'result'> & { readonly children: readonly RunJob[] };

/** All jobs of one pipeline run. */
export interface RunView {
  readonly run: string;
  /** Number of stored jobs of the run. */
  readonly total: number;
  readonly states: Readonly<Record<JobState, number>>;
  /** Sum over all jobs of the run. */
  readonly usage: Usage;
  /** The jobs as trees, oldest first; at most `limit` jobs, parents and children counted. */
  readonly jobs: readonly RunJob[];
  /** Whether jobs are left out of `jobs`; the sums include them. */
  readonly truncated: boolean;
}

/**
 * The view of a pipeline run: its jobs as trees, their states and their cost. An unknown run has no jobs. The jobs are
 * read in chunks, without payloads and results.
 * @param options.limit How many jobs are in `jobs` at most. Default: 1,000.
 * @param options.tenant Counts and shows only jobs that were submitted for this tenant.
 */
export async function viewRun(
  fleet: FleetClient,
  run: string,
  { limit = 1_000, tenant }: { readonly limit?: number; readonly tenant?: string | undefined } = {},
): Promise<RunView> {
  const states = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>;
  let usage = NO_USAGE;
  let total = 0;
  const shown: JobSummary[] = [];
  for await (const summaries of summariesOf(fleet, run)) {
    for (const summary of summaries) {
      if (tenant !== undefined && summary.tenant !== tenant) continue;
      total += 1;
      states[summary.state] += 1;
      usage = addUsage(usage, summary.usage);
      if (shown.length < limit) shown.push(summary);
    }
  }
  return { run, total, states, usage, jobs: asTrees(shown), truncated: total > shown.length };
}

/** Stored jobs of a run that match the filter, newest first; reads no job of another run. */
export async function listRunJobs(
  fleet: FleetClient,
  run: string,
  { kind, state, limit = 100 }: Pick<ListFilter, 'kind' | 'state' | 'limit'> = {},
): Promise<JobSummary[]> {
  const found: JobSummary[] = [];
  for await (const summaries of summariesOf(fleet, run, { kind, newestFirst: true })) {
    found.push(...summaries.filter((summary) => state === undefined || summary.state === state));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Names of the runs with the newest jobs, newest first. */
export async function latestRuns(fleet: FleetClient, count: number): Promise<string[]> {
  return (await latestRunTimes(fleet, 0, count)).map(({ run }) => run);
}

/** The same with the time of the newest job (ISO 8601). @param skip How many runs to leave out. */
export async function latestRunTimes(
  fleet: FleetClient,
  skip: number,
  count: number,
): Promise<{ readonly run: string; readonly newestAt: string }[]> {
  const [first, last] = [String(skip), String(skip + count - 1)];
  const found = await fleet.client.zrange(latestRunsKey(fleet.prefix), first, last, 'REV', 'WITHSCORES');
  return found.flatMap((run, at) =>
    at % 2 === 0 ? [{ run, newestAt: isoTime(Number(found[at + 1])) ?? UNKNOWN_TIME }] : [],
  );
}

/** The stored jobs of a run, in chunks. */
async function* summariesOf(
  fleet: FleetClient,
  run: string,
  { kind, newestFirst = false }: { readonly kind?: string | undefined; readonly newestFirst?: boolean } = {},
): AsyncGenerator<JobSummary[]> {
  const seen = new Set<string>();
  for (let start = 0; ; start += SUMMARY_CHUNK) {
    const range = [runKey(fleet.prefix, run), String(start), String(start + SUMMARY_CHUNK - 1)] as const;
    const keys = newestFirst
      ? await fleet.client.zrange(...range, 'REV')
      : await fleet.client.zrange(...range);
    // A job that is submitted meanwhile shifts those after it.
    const fresh = keys.filter((key) => !seen.has(key));
    for (const key of fresh) seen.add(key);
    const parsed = fresh.map(parseJobKey).filter(({ queue }) => kind === undefined || queue === kind);
    const summaries = await summarizeJobs(
      fleet,
      parsed.map(({ queue, id }) => locationOf(fleet, id, queue)),
    );
    // A job that is gone was never submitted, or its retention time is over.
    yield summaries.filter((summary) => summary !== undefined);
    if (keys.length < SUMMARY_CHUNK) return;
  }
}

function asTrees(summaries: readonly JobSummary[]): RunJob[] {
  const nodes = new Map(
    summaries.map(({ tenant: _, ...view }) => [view.id, { ...view, children: [] as RunJob[] }]),
  );
  const roots: RunJob[] = [];
  for (const node of nodes.values()) {
    const parent = node.parent === undefined ? undefined : nodes.get(node.parent);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}
