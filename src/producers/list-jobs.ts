import type { JobType, Queue } from 'bullmq';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import type { KindName } from '../queues/registry.js';
import type { FleetClient } from './fleet-client.js';
import { type JobSummary, summarizeJobs } from './job-summaries.js';
import type { JobState } from './job-view.js';
import { listedQueues } from './listed-queues.js';

export interface ListFilter {
  /** Name of a kind, or of a pipeline queue. */
  readonly kind?: KindName;
  readonly state?: JobState;
  /** Only jobs with this `tags.run`. */
  readonly run?: string;
  /** Maximum number of jobs to return; default 100. */
  readonly limit?: number;
}

const FILTER_FIELDS: OptionNames<ListFilter> = { kind: true, state: true, run: true, limit: true };

/** BullMQ's lists that can contain a job of a state. A cancelled job that no worker has taken is still in another. */
const LISTS: Record<JobState, JobType[]> = {
  waiting: ['wait', 'prioritized'],
  delayed: ['delayed'],
  'waiting-children': ['waiting-children'],
  active: ['active'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['failed', 'wait', 'prioritized', 'delayed', 'waiting-children', 'active'],
};
/** Number of jobs, and of ids, that are read at once. */
const PAGE = 200;
const IDS_A_STEP = 5_000;

/**
 * Jobs of all kinds and pipeline queues that match the filter, without their results: newest first within each kind, whatever their state, and with several
 * kinds about equally many of each. Memory holds only the ids and times of all jobs in the lists at once.
 */
export async function listJobs(fleet: FleetClient, filter: ListFilter = {}): Promise<JobSummary[]> {
  rejectUnknownOptions(filter, FILTER_FIELDS);
  const limit = filter.limit ?? 100;
  const lists = filter.state === undefined ? [...new Set(Object.values(LISTS).flat())] : LISTS[filter.state];
  const kinds = (await listedQueues(fleet, filter.kind)).map(([kind, queue]) => ({
    found: [] as JobSummary[],
    more: views(fleet, kind, queue, lists, filter),
  }));
  let open = kinds;
  for (let count = 0; open.length > 0 && count < limit; ) {
    // Take one of each kind in rotation, so no kind fills the whole list.
    for (const kind of open) {
      const next = await kind.more.next();
      if (next.done) open = open.filter((other) => other !== kind);
      else kind.found.push(next.value);
      if (!next.done) count += 1;
      if (count === limit) break;
    }
  }
  return kinds.flatMap(({ found }) => found);
}

/** The jobs of one kind that match the filter, newest first, read on demand. */
async function* views(
  fleet: FleetClient,
  kind: KindName,
  queue: Queue,
  lists: JobType[],
  { state, run, limit = PAGE }: ListFilter,
): AsyncGenerator<JobSummary> {
  const ids = await newestFirst(fleet, queue, lists);
  const page = Math.min(PAGE, limit);
  for (let start = 0; start < ids.length; start += page) {
    const locations = ids.slice(start, start + page).map((id) => ({ kind, queue, id }));
    for (const view of await summarizeJobs(fleet, locations)) {
      if (view === undefined) continue;
      if ((state === undefined || view.state === state) && (run === undefined || view.tags.run === run))
        yield view;
    }
  }
}

/** Ids of all jobs in some lists. BullMQ sorts the lists differently: by priority, by time due, by time ended. */
async function newestFirst(fleet: FleetClient, queue: Queue, lists: JobType[]): Promise<string[]> {
  const madeAt = new Map<string, number>();
  for (const list of lists) {
    for (let start = 0; ; start += IDS_A_STEP) {
      const ids = await queue.getRanges([list], start, start + IDS_A_STEP - 1);
      const reading = fleet.client.pipeline();
      for (const id of ids) reading.hget(queue.toKey(id), 'timestamp');
      const replies = (await reading.exec()) ?? [];
      for (const [index, id] of ids.entries()) madeAt.set(id, Number(replies[index]?.[1] ?? 0));
      if (ids.length < IDS_A_STEP) break;
    }
  }
  return [...madeAt].sort(([, a], [, b]) => b - a).map(([id]) => id);
}
