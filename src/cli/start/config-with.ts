import { loadConfig } from '../../config/load-config.js';
import type { Config } from '../../config/settings.js';

/** Options of commands that say something else than a setting. */
export interface ConfigOptions {
  readonly kindsFrom?: readonly string[];
  readonly offline?: true;
}

/** The configuration of a command with such options. */
export function configWith({ kindsFrom, offline }: ConfigOptions): Config {
  const config = loadConfig();
  return {
    ...config,
    ...(kindsFrom === undefined ? {} : { kindsFrom: [...kindsFrom] }),
    ...(offline === undefined ? {} : { agent: 'offline' }),
  };
}
