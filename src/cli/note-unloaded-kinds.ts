import type { FleetClient } from '../producers/fleet-client.js';
import { unloadedKinds } from '../producers/unloaded-kinds.js';
import { plural } from './terminal/amounts.js';
import { escapeControlCharsInLine } from './terminal/escape-control-chars.js';
import { printNote } from './terminal/print.js';

/** Says on standard error that a list leaves out jobs, since their kinds are not loaded. */
export async function noteUnloadedKinds(fleet: FleetClient, ...states: 'failed'[]): Promise<void> {
  const kinds = await unloadedKinds(fleet, ...states);
  if (kinds.length === 0) return;
  const jobs = kinds.reduce((sum, kind) => sum + kind.jobs, 0);
  const names = kinds.map(({ kind }) => escapeControlCharsInLine(kind)).join(', ');
  printNote(
    `not listed: ${plural(jobs, 'job')} of kinds that are not loaded here (${names}); name their modules in FLEET_KINDS_FROM`,
  );
}
