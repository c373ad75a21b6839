import { type Command, Option } from 'commander';
import type { Config } from '../config/settings.js';
import { BUILT_IN_CONTRACTS, type KindRegistry } from '../queues/registry.js';
import type { ConfigOptions } from './start/config-with.js';

export type KindsFromOption = Pick<ConfigOptions, 'kindsFrom'>;

/** Adds `--kinds-from`. Commands without it read FLEET_KINDS_FROM alone. */
export function withKindsFrom(command: Command): Command {
  return command.addOption(
    new Option(
      '--kinds-from <modules>',
      'modules with kinds of your own, separated by commas (default: FLEET_KINDS_FROM)',
    ).argParser((text) => text.split(',').map((path) => path.trim())),
  );
}

/**
 * The kinds that a command knows.
 * @throws KindError if a kind of the user's own cannot be used.
 */
export async function knownKinds({ kindsFrom }: Pick<Config, 'kindsFrom'>): Promise<KindRegistry> {
  if (kindsFrom === undefined) return BUILT_IN_CONTRACTS;
  // Most commands need no processors.
  const { loadKinds } = await import('../processors/load-kinds.js');
  return loadKinds(kindsFrom);
}
