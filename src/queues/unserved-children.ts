import type { Redis } from 'ioredis';
import { z } from 'zod';
import { isJobKey, parseJobKey } from './job-key.js';
import { readRecord } from './read-record.js';
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

const StoredOptionsSchema = z.object({ fleet: z.object({ isKind: z.literal(true) }) });

/**
 * A child of a job that no worker can take. Workers of pipeline queues do not report, so only the children of kinds count:
 * of those that this program knows, and of those that the worker which added the child knew.
 * @param kinds The kinds of this program.
 */
export async function unservedChild(
  client: Redis,
  parentKey: string,
  kinds: (name: string) => boolean,
  served: ReadonlySet<string> = new Set(),
): Promise<UnservedChild | undefined> {
  const keys = await client.srandmember(`${parentKey}:dependencies`, MAX_LOOKED_AT);
  const unserved = keys
    .filter(isJobKey)
    .map((key) => ({ key, ...parseJobKey(key) }))
    .filter(({ queue }) => !served.has(queue));
  for (const { key, queue, id } of unserved) {
    const isKind = kinds(queue) || isStoredAsKind(await client.hget(key, 'opts'));
    if (isKind) return { kind: queue, id };
  }
  return undefined;
}

/** Whether the stored options of a child say that its queue is that of a kind. */
function isStoredAsKind(options: string | null): boolean {
  return readRecord(StoredOptionsSchema, options)?.value !== undefined;
}

export function describeUnserved({ kind, id }: UnservedChild): string {
  return `it waits for ${id}, and no connected worker serves the kind ${kind}`;
}

export function describeUnservedKind(kind: string): string {
  return `no connected worker serves the kind ${kind}`;
}
