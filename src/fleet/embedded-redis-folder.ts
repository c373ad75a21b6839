import { createHash, randomBytes } from 'node:crypto';
import { accessSync, constants, mkdtempSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { ConfigurationError, messageOf } from '../errors.js';
import { UNIX_SOCKET_PATH_LIMIT } from '../queues/redis-address.js';
import { CONTROL_SOCKET, REDIS_SOCKET, THROWAWAY_PREFIX } from './embedded-redis-protocol.js';
import { openProjectState } from './project-state.js';
import { currentUser, lstatIfThere, privateFolder, safeFolder, unsafeFolder } from './safe-folders.js';

export interface EmbeddedRedisFolder {
  /** Data, logs and sockets. */
  readonly path: string;
  /** A path to the same folder that is short enough to connect to a socket in it. */
  readonly socketFolder: string;
  /** A temporary server: its data and its folder are removed with its only user. */
  readonly throwaway: boolean;
}

export interface ProjectRedisFolder extends EmbeddedRedisFolder {
  /** Data of an older version in the project folder, which are not used; set if this call created the state folder. */
  readonly unusedData?: string;
}

/**
 * The folder of a project's embedded Redis, below the user's state directory.
 * @throws ConfigurationError if the project does not exist, or if others could have prepared the folder.
 */
export function openEmbeddedRedisFolder(project: string): ProjectRedisFolder {
  const { path, created } = openProjectState(project);
  const unusedData = created ? dataOfOlderVersion(project) : undefined;
  return {
    path,
    socketFolder: fitsSocketAddress(path) ? path : shortWayTo(path),
    throwaway: false,
    ...(unusedData === undefined ? {} : { unusedData }),
  };
}

/** Until 0.1.0 the data were in the project folder, which may be another user's checkout: they are never opened. */
function dataOfOlderVersion(project: string): string | undefined {
  const path = join(resolve(project), '.fleet');
  for (const folder of [path, join(path, 'redis')]) {
    const found = lstatIfThere(folder);
    if (found?.isDirectory() !== true || found.uid !== currentUser()) return undefined;
  }
  return join(path, 'redis');
}

/** A new folder for a server that only one command uses. */
export function makeThrowawayFolder(): EmbeddedRedisFolder {
  const path = makeFolderIn(temporaryFolder());
  return { path, socketFolder: path, throwaway: true };
}

function makeFolderIn(parent: string): string {
  try {
    return mkdtempSync(join(parent, THROWAWAY_PREFIX));
  } catch (cause) {
    throw noTemporaryFolder(parent, cause);
  }
}

function fitsSocketAddress(folder: string): boolean {
  const longest = Math.max(REDIS_SOCKET.length, CONTROL_SOCKET.length);
  // The limit on macOS is four bytes lower than on Linux.
  const limit = process.platform === 'linux' ? UNIX_SOCKET_PATH_LIMIT : UNIX_SOCKET_PATH_LIMIT - 4;
  return Buffer.byteLength(folder) + 1 + longest <= limit;
}

/**
 * A symbolic link to a folder whose path is too long for a socket address. The sockets stay with the data, so two commands
 * share one server even if their TMPDIR differs; only the path to the sockets differs.
 */
function shortWayTo(folder: string): string {
  const base = privateFolder(temporaryFolder(), `solution-fleet-${currentUser()}`);
  const link = join(base, createHash('sha256').update(folder).digest('hex').slice(0, 16));
  if (linkTarget(link) !== folder) {
    const fresh = `${link}.${randomBytes(4).toString('hex')}`;
    symlinkSync(folder, fresh);
    renameSync(fresh, link);
  }
  return link;
}

/** A folder for short-lived files whose path leaves room for sockets, and in which other users cannot replace them. */
function temporaryFolder(): string {
  // The runtime folder is the last choice: it is removed with the user's last login, and a worker may run on.
  const folders = [tmpdir(), '/tmp', process.env.XDG_RUNTIME_DIR ?? ''];
  let refusal: unknown;
  for (const folder of folders) {
    if (!isAbsolute(folder) || lstatIfThere(folder) === undefined) continue;
    try {
      const safe = safeFolder(folder);
      assertWritable(safe);
      if (fitsSocketAddress(join(safe, 'x'.repeat(40)))) return safe;
    } catch (thrown) {
      refusal = thrown;
    }
  }
  throw (
    refusal ?? unsafeFolder(`No temporary folder has a path short enough for a socket: ${folders.join(', ')}`)
  );
}

function assertWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw noTemporaryFolder(folder, cause);
  }
}

function noTemporaryFolder(parent: string, cause: unknown): ConfigurationError {
  return new ConfigurationError(
    `No temporary folder can be made in ${parent} (${messageOf(cause)}); set TMPDIR to a folder that belongs to you, or FLEET_REDIS_URL to a running Redis.`,
    { field: 'TMPDIR', cause },
  );
}

function linkTarget(link: string): string | undefined {
  const found = lstatIfThere(link);
  return found?.isSymbolicLink() === true ? readlinkSync(link) : undefined;
}
