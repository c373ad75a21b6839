import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { currentUser, ownFolder, safeFolder, unsafeFolder } from './safe-folders.js';

/** The fleet's folder below the user's state directory (XDG Base Directory Specification). */
const FLEET_FOLDER = 'solution-fleet';

/**
 * Where the fleet keeps what outlives a command on this machine: a folder of the user's own, never one of a project,
 * whose files somebody else may have written.
 * @throws ConfigurationError where there is none that is safe from other users.
 */
export function stateDirectory(): string {
  return ownFolder(safeFolder(stateHome()), FLEET_FOLDER);
}

/** Where `stateDirectory` is, whether it exists or can be used or not. */
export function stateDirectoryPath(): string {
  return join(stateHome(), FLEET_FOLDER);
}

/** The specification has relative paths ignored: what they name depends on the working directory. */
function stateHome(): string {
  const named = process.env.XDG_STATE_HOME ?? '';
  return isAbsolute(named) ? named : join(homeFolder(), '.local', 'state');
}

/**
 * HOME counts where it is this user's: `sudo` may leave the one of another. Otherwise the system knows.
 * @throws ConfigurationError where nobody knows one, as for a user without an entry in a container.
 */
function homeFolder(): string {
  const named = process.env.HOME ?? '';
  if (isAbsolute(named) && isOwn(named)) return named;
  const home = homeOfSystem();
  if (home !== undefined) return home;
  const problem = named === '' ? 'HOME is not set' : `HOME (${named}) is not an existing folder of this user`;
  throw unsafeFolder(`The embedded Redis has no place for its data: ${problem}`);
}

/** The home folder that the system has for this user, whatever the environment says. */
export function homeOfSystem(): string | undefined {
  try {
    const { homedir } = userInfo();
    return isAbsolute(homedir) ? homedir : undefined;
  } catch {
    // The system has no entry for this user.
    return undefined;
  }
}

function isOwn(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (found.uid === currentUser() || found.uid === 0);
}
