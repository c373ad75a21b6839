import { findProgram } from '../config/find-program.js';
import { programFolders } from '../config/paths.js';
import { RedisError } from '../errors.js';

/** Programs that can serve as the embedded Redis, in order of preference. */
const SERVERS = ['redis-server', 'valkey-server'] as const;

/** Folders where package managers install servers, but which some users' PATH leaves out. */
const FURTHER_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

/** Package managers, and the command by which each installs a server. */
const INSTALL_COMMANDS: readonly (readonly [manager: string, command: string])[] = [
  ['apt-get', 'sudo apt-get install redis-server'],
  ['dnf', 'sudo dnf install valkey'],
  ['apk', 'sudo apk add redis'],
  ['brew', 'brew install redis'],
];

/**
 * Absolute path of the `redis-server` or `valkey-server` of this machine.
 * @throws RedisError `redis-missing`, with the command that installs one.
 */
export function findRedisServer(folders: readonly string[] = searchFolders()): string {
  for (const server of SERVERS) {
    const found = findProgram(server, folders);
    if (found !== undefined) return found;
  }
  throw new RedisError(
    'redis-missing',
    `No redis-server or valkey-server is installed, and FLEET_REDIS_URL is not set. ${installAdvice(folders)}`,
  );
}

function searchFolders(): string[] {
  return [...programFolders(), ...FURTHER_FOLDERS];
}

function installAdvice(folders: readonly string[]): string {
  const known = INSTALL_COMMANDS.find(([manager]) => findProgram(manager, folders) !== undefined);
  return known === undefined
    ? 'Install Redis 6.2 or newer, or set FLEET_REDIS_URL to a running one.'
    : `Install one with "${known[1]}", or set FLEET_REDIS_URL to a running one.`;
}
