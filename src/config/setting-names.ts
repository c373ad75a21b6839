import { ConfigurationError } from '../errors.js';
import { nearestName } from '../nearest-name.js';
import { SETTINGS } from './settings.js';

const PREFIX = 'FLEET_';

/** Variables that are no settings of this program: of clients, of the Python package, and of docker-compose.yml. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set([
  'FLEET_URL',
  'FLEET_TOKEN',
  'FLEET_CLI',
  'FLEET_GATEWAY_PORT',
  'FLEET_METRICS_TOKEN',
  'FLEET_REDIS_MEMORY',
]);

/** Names of earlier versions. */
const RENAMED: Readonly<Record<string, string>> = {
  FLEET_UNWELL_MS: 'FLEET_UNHEALTHY_MS',
  FLEET_UNKNOWN: 'FLEET_IN_DOUBT',
  FLEET_CALL_CACHE: 'FLEET_REUSE',
};

/** What Kubernetes sets in every container for a service whose name begins with `fleet`. */
const SERVICE_LINK = /_SERVICE_(?:HOST|PORT)(?:$|_)|_PORT(?:$|_\d+_)/;

/** The last word of a name, where it is a unit. */
const UNIT = /_(?:MS|S|SECS?|SECONDS|MINUTES|HOURS|DAYS|USD|EUR|BYTES|KB|MB|MIB|GB|PERCENT)$/;

const SETTING_NAMES: readonly string[] = Object.values(SETTINGS).map(({ variable }) => variable);
const KNOWN_NAMES: ReadonlySet<string> = new Set([...SETTING_NAMES, ...OTHER_VARIABLES]);

/**
 * Rejects variables whose names are misspelled names of settings: they would be ignored.
 * @throws ConfigurationError with the name that is meant.
 */
export function rejectMisspelledSettings(environment: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(environment)) {
    const meant = value === undefined || value === '' ? undefined : meantSetting(name);
    if (meant === undefined) continue;
    const problem = Object.hasOwn(RENAMED, name)
      ? `this setting is called ${meant} now`
      : `there is no such setting; did you mean "${meant}"?`;
    throw new ConfigurationError(`${name}: ${problem}`, { field: name });
  }
}

/** Names that begin with `FLEET_`, have no effect, and resemble no setting. */
export function unknownSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(environment)
    .filter(([name, value]) => value !== '' && name.startsWith(PREFIX))
    .map(([name]) => name)
    .filter((name) => !KNOWN_NAMES.has(name) && !SERVICE_LINK.test(name) && meantSetting(name) === undefined);
}

/** The setting that a name which is none most likely means. */
function meantSetting(name: string): string | undefined {
  if (KNOWN_NAMES.has(name)) return undefined;
  const capitals = name.toUpperCase();
  if (SETTING_NAMES.includes(capitals)) return capitals;
  if (!capitals.startsWith(PREFIX)) return withMisspelledPrefix(capitals);
  if (Object.hasOwn(RENAMED, capitals)) return RENAMED[capitals];
  if (SERVICE_LINK.test(capitals)) return undefined;
  return withSameWords(capitals) ?? nearestSetting(capitals.slice(PREFIX.length));
}

/** `FLET_PROMPTS`: a known name behind a first word that is nearly the right one. */
function withMisspelledPrefix(capitals: string): string | undefined {
  const word = capitals.split('_', 1)[0] ?? '';
  const meant = `${PREFIX}${capitals.slice(word.length + 1)}`;
  if (!SETTING_NAMES.includes(meant)) return undefined;
  return hasSameLetters(word, 'FLEET') || differsInOneLetter(word, 'FLEET') ? meant : undefined;
}

function hasSameLetters(word: string, other: string): boolean {
  return [...word].sort().join('') === [...other].sort().join('');
}

/** Whether one letter is another one, is missing or is too much. */
function differsInOneLetter(word: string, other: string): boolean {
  if (word.length > other.length) return differsInOneLetter(other, word);
  const at = [...other].findIndex((letter, index) => letter !== word[index]);
  return other.slice(at + 1) === word.slice(word.length === other.length ? at + 1 : at);
}

/** `FLEET_BUDGET`, `FLEET_LOCK_SECONDS`, `FLEET_USD_BUDGET`: the words of a known name in another order, or with another unit. */
function withSameWords(capitals: string): string | undefined {
  const words = (name: string) => name.split('_').sort().join('_');
  return (
    SETTING_NAMES.find((known) => words(known) === words(capitals)) ??
    SETTING_NAMES.find((known) => known.replace(UNIT, '') === capitals.replace(UNIT, ''))
  );
}

function nearestSetting(rest: string): string | undefined {
  const nearest = nearestName(
    rest,
    SETTING_NAMES.map((known) => known.slice(PREFIX.length)),
  );
  return nearest === undefined ? undefined : `${PREFIX}${nearest}`;
}
