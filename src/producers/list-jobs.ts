import type { Job, JobType } from 'bullmq';
import type { KindName } from '../queues/registry.js';
import type { FleetConnection } from './fleet-connection.js';
import { type JobState, type JobView, viewJob } from './job-view.js';

export interface ListFilter {
  readonly kind?: KindName;
  readonly state?: JobState;
  /** Only jobs whose `tags.run` is this. */
  readonly run?: string;
  /** Most jobs to return; default 100. */
  readonly limit?: number;
}

/** BullMQ's lists that can hold a job of a state. A cancelled job that no worker has met is still in another. */
const LISTS: Record<JobState, JobType[]> = {
  waiting: ['wait', 'prioritized'],
  delayed: ['delayed'],
  'waiting-children': ['waiting-children'],
  active: ['active'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['failed', 'wait', 'prioritized', 'delayed', 'waiting-children', 'active'],
};
const PAGE = 200;

/** Jobs that fit the filter, newest first within their kind. Read page by page, so memory stays bounded. */
export async function listJobs(fleet: FleetConnection, filter: ListFilter = {}): Promise<JobView[]> {
  const limit = filter.limit ?? 100;
  const lists = filter.state === undefined ? [...new Set(Object.values(LISTS).flat())] : LISTS[filter.state];
  const found: JobView[] = [];
  for (const [kind, queue] of fleet.kindQueues) {
    if (filter.kind !== undefined && filter.kind !== kind) continue;
    for (const list of lists) {
      for (let start = 0; found.length < limit; start += PAGE) {
        const jobs: Job[] = await queue.getJobs([list], start, start + PAGE - 1);
        const present = jobs.filter((job) => job !== undefined && job !== null);
        const views = await Promise.all(present.map((job) => viewJob(fleet, { kind, queue, job })));
        found.push(
          ...views.filter(
            (view) =>
              (filter.state === undefined || view.state === filter.state) &&
              (filter.run === undefined || view.tags.run === filter.run),
          ),
        );
        if (jobs.length < PAGE) break;
      }
    }
  }
  return found.slice(0, limit);
}
