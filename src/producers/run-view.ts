import { FleetError } from '../errors.js';
import { parseJobKey } from '../queues/job-key.js';
import { addUsage, NO_USAGE, type Usage } from '../queues/usage.js';
import { placeOf } from './find-job.js';
import type { FleetConnection } from './fleet-connection.js';
import { JOB_STATES, type JobState, type JobView, viewJob } from './job-view.js';
import type { ListFilter } from './list-jobs.js';
import { latestRunsKey, runKey } from './run-index.js';

/** A job of a run, without its result, above the jobs it waits for. */
export type RunJob = Omit<JobView, 'result'> & { readonly children: readonly RunJob[] };

/** Everything of one pipeline run. */
export interface RunView {
  readonly run: string;
  /** Jobs of the run that are still kept. */
  readonly total: number;
  readonly states: Readonly<Record<JobState, number>>;
  /** Sum over all jobs of the run. */
  readonly usage: Usage;
  /** The jobs as trees, oldest first; at most `limit` jobs, parents and children counted. */
  readonly jobs: readonly RunJob[];
  /** Whether jobs were left out of `jobs`; the sums are over all of them. */
  readonly truncated: boolean;
}

/** Jobs that are read at once: a result can have a megabyte. */
const CHUNK = 50;

/**
 * What became of a pipeline run: its jobs as trees, their states and what they cost. A run that nobody has heard of
 * has no jobs.
 */
export async function viewRun(
  fleet: FleetConnection,
  run: string,
  { limit = 1_000 }: { readonly limit?: number } = {},
): Promise<RunView> {
  const keys = await fleet.client.zrange(runKey(fleet.prefix, run), '0', '-1');
  const states = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>;
  let usage = NO_USAGE;
  let total = 0;
  const shown: JobView[] = [];
  for (let start = 0; start < keys.length; start += CHUNK) {
    const views = await Promise.all(
      keys.slice(start, start + CHUNK).map((key) => viewUnlessGone(fleet, key)),
    );
    for (const view of views) {
      if (view === undefined) continue;
      total += 1;
      states[view.state] += 1;
      usage = addUsage(usage, view.usage);
      if (shown.length < limit) shown.push(view);
    }
  }
  return { run, total, states, usage, jobs: asTrees(shown), truncated: total > shown.length };
}

/** Jobs of a run that fit, newest first, as far as they are still kept; reads no job of another run. */
export async function listRunJobs(
  fleet: FleetConnection,
  run: string,
  { kind, state, limit = 100 }: Pick<ListFilter, 'kind' | 'state' | 'limit'> = {},
): Promise<JobView[]> {
  const keys = await fleet.client.zrange(runKey(fleet.prefix, run), '0', '-1', 'REV');
  const wanted = keys.filter((key) => kind === undefined || parseJobKey(key).queue === kind);
  const found: JobView[] = [];
  for (let start = 0; start < wanted.length && found.length < limit; start += CHUNK) {
    const views = await Promise.all(
      wanted.slice(start, start + CHUNK).map((key) => viewUnlessGone(fleet, key)),
    );
    for (const view of views) {
      if (view !== undefined && (state === undefined || view.state === state)) found.push(view);
    }
  }
  return found.slice(0, limit);
}

/** Names of the runs with the newest jobs, newest first. */
export async function latestRuns(fleet: FleetConnection, count: number): Promise<string[]> {
  return fleet.client.zrange(latestRunsKey(fleet.prefix), '0', String(count - 1), 'REV');
}

async function viewUnlessGone(fleet: FleetConnection, key: string): Promise<JobView | undefined> {
  const { queue, id } = parseJobKey(key);
  try {
    const { result: _result, ...view } = await viewJob(fleet, placeOf(fleet, id, queue), {
      longTexts: false,
    });
    return view;
  } catch (thrown) {
    // Its retention time is over, or it was never submitted.
    if (thrown instanceof FleetError && thrown.code === 'job-not-found') return undefined;
    throw thrown;
  }
}

function asTrees(views: readonly JobView[]): RunJob[] {
  const nodes = new Map(views.map((view) => [view.id, { ...view, children: [] as RunJob[] }]));
  const roots: RunJob[] = [];
  for (const node of nodes.values()) {
    const parent = node.parent === undefined ? undefined : nodes.get(node.parent);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}
