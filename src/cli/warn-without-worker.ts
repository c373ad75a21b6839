import type { Config } from '../config/settings.js';
import type { FleetClient } from '../producers/fleet-client.js';
import { printNote } from './terminal/print.js';

/** Says on standard error that a job will wait, where nobody works on its kind. */
export async function warnWithoutWorker(fleet: FleetClient, config: Config, kind: string): Promise<void> {
  if (config.redisUrl === undefined) return;
  if ((await fleet.queue(kind).getWorkersCount()) > 0) return;
  printNote(`no worker is connected for ${kind} jobs; waiting for one (start it with: fleet worker)`);
}
