import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ConfigurationError, messageOf } from '../errors.js';
import { UNIX_SOCKET_PATH_LIMIT } from '../queues/redis-address.js';

/** Names inside the folder of an embedded Redis. */
export const REDIS_SOCKET = 'redis.sock';
export const CONTROL_SOCKET = 'control.sock';
export const REDIS_LOG = 'redis.log';

export interface EmbeddedRedisFolder {
  /** `<project>/.fleet/redis`: data, log and sockets. */
  readonly path: string;
  /** A way to the same folder that is short enough to connect to a socket in it. */
  readonly socketFolder: string;
}

/**
 * Creates `<project>/.fleet/redis` where needed, readable by its owner only, and hidden from git.
 * @throws ConfigurationError where the project folder does not exist or cannot be written.
 */
export function openEmbeddedRedisFolder(project: string): EmbeddedRedisFolder {
  const root = resolve(project);
  const path = join(root, '.fleet', 'redis');
  // The folder of a mistyped name is not made: the jobs of the right one would seem to be gone.
  if (!existsSync(root)) {
    throw new ConfigurationError(
      `The project folder ${root} does not exist; create it, or correct FLEET_DATA_DIR.`,
      { field: 'FLEET_DATA_DIR' },
    );
  }
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(join(root, '.fleet'), 0o700);
    const ignore = join(root, '.fleet', '.gitignore');
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
  } catch (cause) {
    throw new ConfigurationError(
      `The embedded Redis cannot keep its data in ${join(root, '.fleet')} (${messageOf(cause)}); ` +
        'make the folder writable, name another with FLEET_DATA_DIR, or set FLEET_REDIS_URL.',
      { field: 'FLEET_DATA_DIR', cause },
    );
  }
  return { path, socketFolder: fitsSocketAddress(path) ? path : shortWayTo(path) };
}

function fitsSocketAddress(folder: string): boolean {
  const longest = Math.max(REDIS_SOCKET.length, CONTROL_SOCKET.length);
  // The limit of macOS is four bytes lower than that of Linux.
  const limit = process.platform === 'linux' ? UNIX_SOCKET_PATH_LIMIT : UNIX_SOCKET_PATH_LIMIT - 4;
  return Buffer.byteLength(folder) + 1 + longest <= limit;
}

/**
 * A symbolic link to a folder whose own path is too long for a socket address. The sockets stay where the data
 * are, so two commands share one server whatever their TMPDIR is; only the way to them differs.
 */
function shortWayTo(folder: string): string {
  const base = privateFolder(fitsSocketAddress(join(tmpdir(), 'x'.repeat(40))) ? tmpdir() : '/tmp');
  const link = join(base, createHash('sha256').update(folder).digest('hex').slice(0, 16));
  if (linkTarget(link) !== folder) {
    const fresh = `${link}.${process.pid}`;
    symlinkSync(folder, fresh);
    renameSync(fresh, link);
  }
  return link;
}

/** A folder for links in the temporary folder that no other user can have prepared. */
function privateFolder(temporary: string): string {
  const user = process.getuid?.() ?? 0;
  const path = join(temporary, `solution-fleet-${user}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(path);
  if (!lstatSync(path).isDirectory() || uid !== user || (mode & 0o022) !== 0) {
    throw new ConfigurationError(
      `${path} belongs to another user or can be written by others; remove it, or set FLEET_REDIS_URL.`,
      { field: 'FLEET_DATA_DIR' },
    );
  }
  return path;
}

function linkTarget(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
