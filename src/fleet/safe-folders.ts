import { lstatSync, mkdirSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { ConfigurationError, messageOf } from '../errors.js';
import { isPrivateGroup } from './private-group.js';

/** A path with more symbolic links than this is treated as a loop. */
const MAX_LINKS = 40;
const WRITABLE_BY_OTHERS = 0o002;
const WRITABLE_BY_GROUP = 0o020;
const STICKY = 0o1000;

export function currentUser(): number {
  return process.getuid?.() ?? 0;
}

/** What to do about a folder that cannot be used. */
const OTHER_STATE_FOLDER =
  'set XDG_STATE_HOME to a folder that belongs to you, or set FLEET_REDIS_URL to a running Redis';

export function unsafeFolder(message: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError(`${message}; ${OTHER_STATE_FOLDER}.`, { field: 'XDG_STATE_HOME', cause });
}

/** `lstat`; undefined if the path does not exist. */
export function lstatIfThere(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/**
 * The real path of a folder in which no other user can replace anything: every folder and every symbolic link on its path
 * belongs to this user or to root, and only they can write there. Missing folders are created for this user alone.
 * @throws ConfigurationError with the unsafe folder.
 */
export function safeFolder(path: string): string {
  const names = namesOf(path);
  let current = '/';
  let links = 0;
  for (;;) {
    assertNotWritableByOthers(current);
    const name = names.shift();
    if (name === undefined) return current;
    if (name === '..') {
      current = dirname(current);
      continue;
    }
    const next = join(current, name);
    const found = foundOrMade(next);
    assertTrustedOwner(next, found);
    if (found.isSymbolicLink()) {
      links += 1;
      if (links > MAX_LINKS) throw unsafeFolder(`${path} leads through too many symbolic links`);
      const target = readlinkSync(next);
      if (isAbsolute(target)) current = '/';
      names.unshift(...namesOf(target));
    } else if (found.isDirectory()) current = next;
    else throw unsafeFolder(`${next} is not a folder`);
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function foundOrMade(path: string): Stats {
  try {
    const found = lstatIfThere(path);
    if (found !== undefined) return found;
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    // Another process created it at the same moment.
    const made = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    if (!made) throw unsafeFolder(`${path} cannot be used (${messageOf(cause)})`, cause);
  }
  return lstatSync(path);
}

/** Root may do everything anyway; in a user namespace, root is the owner of `/`. */
function assertTrustedOwner(path: string, { uid }: Stats): void {
  if (uid === currentUser() || uid === 0 || uid === lstatSync('/').uid) return;
  throw unsafeFolder(`${path} belongs to another user (${uid})`);
}

/** A folder such as /tmp is safe: its sticky bit protects each user's entries. So is a group-writable one if the group has no other user. */
function assertNotWritableByOthers(path: string): void {
  const { mode, gid } = lstatSync(path);
  if ((mode & STICKY) !== 0) return;
  const byGroup = (mode & WRITABLE_BY_GROUP) !== 0;
  if ((mode & WRITABLE_BY_OTHERS) === 0 && (!byGroup || isPrivateGroup(gid))) return;
  throw unsafeFolder(`${path} can be written by other users (mode ${(mode & 0o7777).toString(8)})`);
}

/**
 * Asserts that a folder of the fleet is private to this user. Its mode is not changed first: that would adopt a folder that
 * another user prepared.
 * @throws ConfigurationError.
 */
export function assertPrivateFolder(path: string): void {
  const found = lstatSync(path);
  const user = currentUser();
  if (found.isSymbolicLink()) throw unsafeFolder(`${path} is a symbolic link, which is never followed`);
  if (!found.isDirectory()) throw unsafeFolder(`${path} is not a folder`);
  if (found.uid !== user) throw unsafeFolder(`${path} belongs to another user (${found.uid}, not ${user})`);
  if ((found.mode & (WRITABLE_BY_OTHERS | WRITABLE_BY_GROUP)) === 0) return;
  const mode = (found.mode & 0o7777).toString(8);
  throw unsafeFolder(`${path} can be written by other users (mode ${mode}); remove it if it is not yours`);
}

/**
 * A private folder of this user in a safe one, created if it is missing.
 * @throws ConfigurationError if another user could have prepared an existing one.
 */
export function privateFolder(parent: string, name: string): string {
  const path = join(parent, name);
  foundOrMade(path);
  assertPrivateFolder(path);
  return path;
}
