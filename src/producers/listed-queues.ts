import type { Queue } from 'bullmq';
import { UsageError } from '../errors.js';
import { suggestionFor } from '../nearest-name.js';
import { rememberedQueues } from '../queues/pipeline-queues.js';
import type { FleetClient } from './fleet-client.js';

/** Names of the queues whose jobs lists show: those of the known kinds, and pipeline queues with jobs. */
export async function listedNames(fleet: FleetClient): Promise<string[]> {
  const pipeline = await rememberedQueues(fleet.client, fleet.prefix);
  return [...fleet.kinds.names, ...pipeline.filter((name) => !fleet.kinds.has(name))];
}

/**
 * The queues whose jobs lists show.
 * @param only Name of a kind or of a pipeline queue: the others are left out.
 * @throws UsageError `unknown-kind` if there is none with that name.
 */
export async function listedQueues(fleet: FleetClient, only?: string): Promise<[string, Queue][]> {
  if (only !== undefined && fleet.kinds.has(only)) return [[only, fleet.queue(only)]];
  const names = await listedNames(fleet);
  if (only === undefined) return names.map((name) => [name, fleet.queue(name)]);
  if (names.includes(only)) return [[only, fleet.queue(only)]];
  const shown = JSON.stringify(only.slice(0, 200));
  throw new UsageError(
    'unknown-kind',
    `${shown} is not a kind of job here, and no pipeline queue with jobs; ${suggestionFor(only, names)}`,
  );
}
