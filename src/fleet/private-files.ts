import { closeSync, constants, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { currentUser, unsafeFolder } from './safe-folders.js';

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** O_NONBLOCK: a pipe with the name of the file must not block the process. */
const ANY = O_NOFOLLOW | O_NONBLOCK;

/** Opens a log for appending. It rejects a link and anything that is not a plain file of this user. */
export function openLog(path: string): number {
  const descriptor = openSafely(path, O_WRONLY | O_APPEND | O_CREAT | ANY);
  // With a second name (hard link) another user could reach this file, or this program another user's file.
  assertSafe(fstatSync(descriptor).nlink <= 1, path, descriptor);
  return assertPrivate(path, descriptor);
}

/** Writes a file that must not exist yet, for this user alone. */
export function writeNewFile(path: string, text: string): void {
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | ANY, 0o600);
  try {
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/** The text of a small file of this user (its last bytes, if it is longer); undefined if it does not exist. */
export function readPrivateFile(path: string, maxBytes: number): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, O_RDONLY | ANY);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw unsafeFolder(`${path} cannot be read (${code}); remove it`, thrown);
  }
  assertPrivate(path, descriptor);
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    const count = readSync(descriptor, bytes, 0, bytes.length, Math.max(0, size - maxBytes));
    return bytes.toString('utf8', 0, count);
  } finally {
    closeSync(descriptor);
  }
}

function openSafely(path: string, flags: number): number {
  try {
    return openSync(path, flags, 0o600);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    throw unsafeFolder(`${path} cannot be opened (${code}); remove it if it is a link`, thrown);
  }
}

function assertPrivate(path: string, descriptor: number): number {
  const found = fstatSync(descriptor);
  assertSafe(found.isFile() && found.uid === currentUser(), path, descriptor);
  return descriptor;
}

function assertSafe(fine: boolean, path: string, descriptor: number): void {
  if (fine) return;
  closeSync(descriptor);
  throw unsafeFolder(`${path} is not a plain file of this user; remove it`);
}
