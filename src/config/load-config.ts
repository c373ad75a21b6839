import { ConfigurationError } from '../errors.js';
import { rejectMisspelledSettings } from './setting-names.js';
import { type Config, SETTINGS, type Setting, type SettingName } from './settings.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of a setting, and where it came from. */
export interface ConfigEntry {
  readonly name: SettingName;
  readonly variable: string;
  readonly value: unknown;
  readonly source: 'default' | 'environment';
}

/** An empty variable counts as unset, unless empty is a value of its own. */
const EMPTY_IS_A_VALUE: ReadonlySet<SettingName> = new Set(['python']);

function readSetting(name: SettingName, environment: Environment): ConfigEntry {
  const { variable, schema }: Setting<unknown> = SETTINGS[name];
  const raw = environment[variable];
  const input = raw === '' && !EMPTY_IS_A_VALUE.has(name) ? undefined : raw;
  const parsed = schema.safeParse(input);
  if (!parsed.success) {
    const problem = parsed.error.issues[0]?.message ?? 'is not valid';
    throw new ConfigurationError(`${variable}: ${problem} (got ${JSON.stringify(raw)})`, { field: variable });
  }
  return { name, variable, value: parsed.data, source: input === undefined ? 'default' : 'environment' };
}

/**
 * The values of all settings.
 * @throws ConfigurationError naming the variable that cannot be used.
 */
export function describeConfig(environment: Environment = process.env): ConfigEntry[] {
  return (Object.keys(SETTINGS) as SettingName[]).map((name) => readSetting(name, environment));
}

/** Whether the environment sets a setting, even to its default. */
export function isSet(name: SettingName, environment: Environment = process.env): boolean {
  return readSetting(name, environment).source === 'environment';
}

/**
 * Reads the configuration from the environment.
 * @throws ConfigurationError naming the variable that cannot be used, or whose name is a misspelled one.
 */
export function loadConfig(environment: Environment = process.env): Config {
  rejectMisspelledSettings(environment);
  const entries = describeConfig(environment).map(({ name, value }) => [name, value]);
  return Object.fromEntries(entries) as Config;
}
