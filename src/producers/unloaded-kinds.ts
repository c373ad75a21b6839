import { ownKindsKey } from '../queues/redis-keys.js';
import type { FleetClient } from './fleet-client.js';

/** A kind with stored jobs that this program does not know. */
export interface UnloadedKind {
  readonly kind: string;
  /** Number of its stored jobs, in the states that were asked for. */
  readonly jobs: number;
}

/** @param states Which jobs count; default: all. */
export async function unloadedKinds(fleet: FleetClient, ...states: 'failed'[]): Promise<UnloadedKind[]> {
  const found = await Promise.all(
    (await unloadedNames(fleet)).map(async (kind): Promise<UnloadedKind> => {
      const counts = await fleet.queue(kind).getJobCounts(...states);
      return { kind, jobs: Object.values(counts).reduce((sum, count) => sum + count, 0) };
    }),
  );
  return found.filter(({ jobs }) => jobs > 0);
}

/**
 * Says which kind is missing here where a job id names one that other programs know.
 * @throws UsageError `unknown-kind`
 */
export async function assertKindLoaded(fleet: FleetClient, id: string): Promise<void> {
  if (fleet.kinds.ofJobId(id) !== undefined) return;
  const kind = (await unloadedNames(fleet)).find((name) => id.startsWith(`${name}-`));
  if (kind !== undefined) fleet.kinds.get(kind);
}

async function unloadedNames(fleet: FleetClient): Promise<string[]> {
  const names = await fleet.client.smembers(ownKindsKey(fleet.prefix));
  return names.filter((name) => !fleet.kinds.has(name)).sort();
}
