import { nameField } from '../queues/names.js';
import { latestRunsKey, runKey } from '../queues/redis-keys.js';
import type { FleetClient } from './fleet-client.js';

/** The fields of a job about to be submitted that name its run. */
export interface RunMember {
  readonly queue: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Maximum number of runs that `latestRuns` remembers, newest first. */
const MAX_RUNS = 10_000;
const RunName = nameField(512);

/**
 * The pipeline run that a job's data names in its tags. Data of jobs in pipeline queues follow no contract: a value that
 * cannot be a name is ignored.
 */
export function runOfData(data: unknown): string | undefined {
  const name = (data as { tags?: { run?: unknown } | null } | null | undefined)?.tags?.run;
  // Most jobs of a batch may have none, and a failed parse costs an error with its stack.
  return name === undefined ? undefined : RunName.safeParse(name).data;
}

/**
 * Records which jobs belong to which run, so the jobs of a run are found without reading every job. It is written before
 * the jobs: an entry without its job is harmless, a job without its entry would be missed.
 *
 * @param groups Jobs that are submitted together belong to the run that any of them names.
 */
export async function indexRuns(
  fleet: FleetClient,
  groups: readonly (readonly RunMember[])[],
): Promise<void> {
  const commands = fleet.client.pipeline();
  const now = Date.now();
  for (const group of groups) {
    const run = group.map(({ data }) => runOfData(data)).find((name) => name !== undefined);
    if (run === undefined) continue;
    const key = runKey(fleet.prefix, run);
    const members = group.flatMap(({ queue, id }) => [now, `${fleet.prefix}:${queue}:${id}`]);
    commands.zadd(key, 'NX', ...members);
    // A job is stored for the retention time after its end, which may be late.
    commands.expire(key, fleet.retentionSeconds * 3);
    commands.zadd(latestRunsKey(fleet.prefix), now, run);
  }
  if (commands.length === 0) return;
  commands.zremrangebyrank(latestRunsKey(fleet.prefix), 0, -MAX_RUNS - 1);
  for (const [error] of (await commands.exec()) ?? []) if (error) throw error;
}
