import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '../errors.js';
import type { RunnerChoice } from './select-runner.js';

/** Each is enough for the SDK, or names where it finds the rest. */
const CREDENTIAL_VARIABLES = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_PROFILE',
  'ANTHROPIC_CONFIG_DIR',
  'ANTHROPIC_FEDERATION_RULE_ID',
  'ANTHROPIC_CUSTOM_HEADERS',
];

/** Where the SDK finds the profiles of `ant auth login`, if ANTHROPIC_CONFIG_DIR names no folder. */
function profileFolders({ XDG_CONFIG_HOME, APPDATA }: NodeJS.ProcessEnv): string[] {
  return [
    join(XDG_CONFIG_HOME || join(homedir(), '.config'), 'anthropic'),
    ...(APPDATA ? [join(APPDATA, 'Anthropic')] : []),
  ];
}

/** What is missing, by runner; undefined if nothing is. */
const MISSING = { anthropic: missingForMessages, openai: missingForChat };

/**
 * Asserts that the API of the runner can be called if it is chosen: without any credential every job would fail for good.
 * @throws ConfigurationError that names FLEET_AGENT.
 */
export function assertCredentials(
  { name }: RunnerChoice,
  environment: NodeJS.ProcessEnv = process.env,
): void {
  if (name === 'offline') return;
  const missing = MISSING[name](environment);
  if (missing === undefined) return;
  throw new ConfigurationError(`FLEET_AGENT: is ${name}, but ${missing}`, { field: 'FLEET_AGENT' });
}

function missingForMessages(environment: NodeJS.ProcessEnv): string | undefined {
  if (CREDENTIAL_VARIABLES.some((variable) => Boolean(environment[variable]))) return undefined;
  if (profileFolders(environment).some((folder) => existsSync(folder))) return undefined;
  return 'there is no credential for the Messages API; set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN';
}

/** A server of one's own may ask for no key. */
function missingForChat({ OPENAI_API_KEY, OPENAI_BASE_URL }: NodeJS.ProcessEnv): string | undefined {
  if (OPENAI_API_KEY || OPENAI_BASE_URL) return undefined;
  return 'there is no credential for the OpenAI API; set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own';
}
