import type { Config } from '../config/settings.js';
import type { FleetClient } from '../producers/fleet-client.js';
import { BUILT_IN_CONTRACTS } from '../queues/registry.js';
import { escapeControlCharsInLine } from './terminal/escape-control-chars.js';
import { printNote } from './terminal/print.js';

/** Says on standard error that a job will wait, where nobody works on its kind. */
export async function warnWithoutWorker(fleet: FleetClient, config: Config, kind: string): Promise<void> {
  if (config.redisUrl === undefined) return;
  if ((await fleet.queue(kind).getWorkersCount()) > 0) return;
  printNote(
    `no worker is connected for ${kind} jobs; waiting for one (start it with: ${workerCommand(config, kind)})`,
  );
}

/** The command whose worker takes jobs of a kind. */
function workerCommand({ kindsFrom = [] }: Config, kind: string): string {
  if (BUILT_IN_CONTRACTS.has(kind)) return 'fleet worker';
  return `fleet worker --kinds-from ${escapeControlCharsInLine(kindsFrom.join(','))}`;
}
