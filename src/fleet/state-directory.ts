import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { currentUser, privateFolder, safeFolder, unsafeFolder } from './safe-folders.js';

/** The fleet's folder below the user's state directory (XDG Base Directory Specification). */
const FLEET_FOLDER = 'solution-fleet';

/**
 * The folder for data that outlive a command on this machine. It belongs to the user and is never inside a project, whose
 * files another user may have written.
 * @throws ConfigurationError if no folder is safe from other users.
 */
export function stateDirectory(): string {
  return privateFolder(safeFolder(stateHome()), FLEET_FOLDER);
}

/** The path of `stateDirectory`, whether it exists or can be used or not. */
export function stateDirectoryPath(): string {
  return join(stateHome(), FLEET_FOLDER);
}

/** The specification ignores relative paths: they depend on the working directory. */
function stateHome(): string {
  const named = process.env.XDG_STATE_HOME ?? '';
  return isAbsolute(named) ? named : join(homeFolder(), '.local', 'state');
}

/**
 * HOME is used if it belongs to this user: `sudo` may leave another user's. Otherwise the system's entry is used.
 * @throws ConfigurationError if there is neither, as for a user without an entry in a container.
 */
function homeFolder(): string {
  const named = process.env.HOME ?? '';
  if (isAbsolute(named) && isOwn(named)) return named;
  const home = homeOfSystem();
  if (home !== undefined) return home;
  const problem = named === '' ? 'HOME is not set' : `HOME (${named}) is not an existing folder of this user`;
  throw unsafeFolder(`The embedded Redis has no folder for its data: ${problem}`);
}

/** The system's home folder of this user, independent of the environment. */
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
