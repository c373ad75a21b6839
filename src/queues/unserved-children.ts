import type { Redis } from 'ioredis';
import { isJobKey, parseJobKey } from './job-key.js';
import { readWorkerReports } from './worker-report.js';

/** Maximum number of children of one job that are looked at. */
const MAX_LOOKED_AT = 100;

/** The kinds that workers serve, as they reported lately; undefined if no worker did. */
export async function servedKinds(client: Redis, prefix: string): Promise<ReadonlySet<string> | undefined> {
  const reports = await readWorkerReports(client, prefix);
  return reports.size === 0 ? undefined : new Set([...reports.values()].flatMap(({ kinds }) => kinds));
}

/** A child that a job waits for, and whose kind no worker serves. */
export interface UnservedChild {
  readonly kind: string;
  readonly id: string;
}

/**
 * A child of a job that no worker can take. Workers of pipeline queues do not report.
 * @param kinds The kinds of the fleet.
 */
export async function unservedChild(
  client: Redis,
  parentKey: string,
  kinds: (name: string) => boolean,
  served: ReadonlySet<string> = new Set(),
): Promise<UnservedChild | undefined> {
  const children = await client.srandmember(`${parentKey}:dependencies`, MAX_LOOKED_AT);
  return children
    .filter(isJobKey)
    .map(parseJobKey)
    .map(({ queue, id }) => ({ kind: queue, id }))
    .find(({ kind }) => kinds(kind) && !served.has(kind));
}

export function describeUnserved({ kind, id }: UnservedChild): string {
  return `it waits for ${id}, and no connected worker serves the kind ${kind}`;
}
