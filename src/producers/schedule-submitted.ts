import { type SchedulingRequest, scheduleJobs } from '../queues/fairness/schedule-jobs.js';
import { DEFAULT_PRIORITY } from '../queues/fairness/schedule-script.js';
import type { FleetClient } from './fleet-client.js';
import { runOfData } from './run-index.js';

/** A job that was added with the priority `UNSCHEDULED`. */
export interface SubmittedJob {
  readonly queue: string;
  readonly id: string;
  readonly data: unknown;
  /** For whom the job is done; default: the run in its tags. */
  readonly tenant?: string | undefined;
  /** Who names the tenant. */
  readonly submitter?: string | undefined;
  /** Order within the tenant; default: `DEFAULT_PRIORITY`. */
  readonly priority?: number | undefined;
  readonly delayMs?: number | undefined;
}

/**
 * Gives jobs that were added as `UNSCHEDULED` their start tags. Delayed jobs get theirs from the workers when they become
 * due, and jobs of pipeline queues have none.
 * @throws what Redis refuses.
 */
export async function schedule(fleet: FleetClient, jobs: readonly SubmittedJob[]): Promise<void> {
  const requests = new Map<string, SchedulingRequest[]>();
  for (const { queue, id, data, tenant, submitter, priority, delayMs } of jobs) {
    if (!fleet.kinds.has(queue) || (delayMs ?? 0) > 0) continue;
    const ofQueue = requests.get(queue) ?? [];
    requests.set(queue, ofQueue);
    ofQueue.push({
      id,
      tenant: tenant ?? runOfData(data) ?? '',
      submitter: submitter ?? '',
      priority: priority ?? DEFAULT_PRIORITY,
    });
  }
  const scheduled = [...requests].map(([queue, ofQueue]) =>
    scheduleJobs(fleet.client, fleet.prefix, queue, ofQueue),
  );
  await Promise.all(scheduled);
}

/**
 * The same for jobs that were just submitted. They are accepted, so nobody waits for it: Redis runs it before any later command
 * of this connection. A job that could not be scheduled runs after all others until a worker schedules it, usually within
 * two seconds.
 */
export function scheduleSubmitted(fleet: FleetClient, jobs: readonly SubmittedJob[]): void {
  schedule(fleet, jobs).catch(() => undefined);
}
