import { assignPriorities, inOrderOfTurns, type TurnRequest } from '../queues/fairness/assign-priorities.js';
import { MAX_TAG } from '../queues/fairness/priority-script.js';
import { isKindName } from '../queues/registry.js';
import type { FleetClient } from './fleet-client.js';
import { attemptOf } from './run-index.js';

/** A job whose turn is to be found. */
export interface TurnTaker {
  readonly queue: string;
  readonly id: string;
  readonly data: unknown;
  /** For whom the job is done; default: the run in its tags. */
  readonly tenant?: string | undefined;
  /** Who submits, where the tenant is only its word. */
  readonly submitter?: string | undefined;
  /** Order within the tenant; default: before all that have one. */
  readonly priority?: number | undefined;
}

/** What a job's turn is asked with. */
export function turnRequest({ id, data, tenant, submitter, priority }: TurnTaker): TurnRequest {
  return { id, tenant: tenant ?? attemptOf(data) ?? '', submitter: submitter ?? '', priority: priority ?? 0 };
}

/**
 * Finds the turns of jobs that are about to be submitted. Jobs of the pipeline's own queues have none: their order is
 * the pipeline's affair.
 * @returns BullMQ priorities by job id.
 */
export async function turnsOf(
  fleet: FleetClient,
  jobs: readonly TurnTaker[],
): Promise<ReadonlyMap<string, number>> {
  const turns = new Map<string, number>();
  const takeIn = async (queue: string) => {
    const takers = jobs.filter((job) => job.queue === queue);
    const requests = inOrderOfTurns(takers.map(turnRequest));
    const tags = await assignPriorities(fleet.client, fleet.prefix, queue, requests);
    for (const [index, { id }] of requests.entries()) turns.set(id, tags[index] ?? MAX_TAG);
  };
  const queues = [...new Set(jobs.map((job) => job.queue))];
  await Promise.all(queues.filter((queue) => isKindName(queue)).map(takeIn));
  return turns;
}
