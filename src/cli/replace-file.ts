import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath, rename, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isWithin } from '../config/paths.js';
import { messageOf, UsageError } from '../errors.js';
import { BY_DESCRIPTOR, leadsOutOf, linkBoundary, locationOf, namesStream } from '../link-boundary.js';

const PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'it or its folder may not be written',
  EPERM: 'it or its folder may not be written',
  EROFS: 'its file system is read-only',
  ENOENT: 'it or its folder is gone',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ELOOP: 'a symbolic link has replaced it',
};

const { O_RDONLY, O_RDWR, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Files that are being written at present. */
const underWay = new Set<Promise<void>>();
let isEnding = false;

/**
 * Resolves once no file is being written any more, and none will be: a process that ended sooner would leave its temporary file
 * beside the one that it replaces.
 */
export async function endReplacements(): Promise<void> {
  isEnding = true;
  await Promise.allSettled(underWay);
}

/** Owner and permissions of a file. */
interface Ownership {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

function codeOf(thrown: unknown): string {
  return (thrown as NodeJS.ErrnoException).code ?? '';
}

/**
 * Gives a file another text, whole or not at all; its permissions stay, and its owner where the system allows that. Of
 * a symbolic link, the file that it leads to is replaced, unless it leads out of the working directory.
 * @throws UsageError `unwritable-output`; the file is then as it was.
 */
export async function replaceFile(file: string, text: string | Buffer): Promise<void> {
  const target = await targetOf(file);
  try {
    await inFolder(dirname(target), (at) => replace(at, basename(target), text));
  } catch (cause) {
    throw notWritten(file, cause);
  }
}

/**
 * Writes a file that may be there already, within the same bounds, or a stream of this process that is named literally.
 * @throws UsageError `unwritable-output`.
 */
export async function writeOutput(file: string, text: string): Promise<void> {
  if (namesStream(file)) {
    return writeFile(file, text).catch((cause: unknown) => {
      throw notWritten(file, cause);
    });
  }
  // A link that leads nowhere is there: what it would make is a file that nobody has named.
  if ((await lstat(file).catch(() => undefined)) !== undefined) return replaceFile(file, text);
  const folder = await targetOf(dirname(file), file);
  try {
    await inFolder(folder, (at) => replaceAtomically(at, basename(resolve(file)), text));
  } catch (cause) {
    throw notWritten(file, cause);
  }
}

function notWritten(file: string, cause: unknown): UsageError {
  const problem = PROBLEMS[codeOf(cause)] ?? messageOf(cause);
  return new UsageError('unwritable-output', `${file} cannot be written: ${problem}; it is as it was`, {
    cause,
  });
}

/** The real path of a file, or of the folder of one. No link may lead from it to somewhere outside of its boundary. */
async function targetOf(path: string, file = path): Promise<string> {
  const [target, boundary] = await Promise.all([realpath(path), linkBoundary(file)]).catch(
    (cause: unknown) => {
      throw notWritten(file, cause);
    },
  );
  if (isWithin(target, boundary)) return target;
  throw new UsageError('unwritable-output', `${file} is not written: ${leadsOutOf(boundary)}`);
}

/**
 * Does something in a folder that stays open meanwhile, so that a link that replaces the folder leads nowhere. Where the
 * system has no names for open folders, its path is used.
 * @param action gets the path of a name in the folder.
 */
async function inFolder(
  path: string,
  action: (at: (name: string) => string) => Promise<void>,
): Promise<void> {
  const folder = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((thrown: unknown) => {
    if (BY_DESCRIPTOR) throw thrown;
    return undefined;
  });
  try {
    const location = folder === undefined ? undefined : await locationOf(folder);
    if (location !== undefined && location !== path) throw new Error('its folder was exchanged');
    const below = folder === undefined || location === undefined ? path : `/proc/self/fd/${folder.fd}`;
    await action((name) => join(below, name));
    // The new name is on the disk as well. Some file systems know no such thing; the file is whole either way.
    await folder?.sync().catch(() => undefined);
  } finally {
    await folder?.close();
  }
}

async function replace(at: (name: string) => string, name: string, text: string | Buffer): Promise<void> {
  // Replacing needs only a writable folder; a file that was made read-only is not to be changed all the same.
  const handle = await open(at(name), O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new Error('it is not a regular file');
    await replaceAtomically(at, name, text, found);
  } finally {
    await handle.close();
  }
}

async function replaceAtomically(...args: Parameters<typeof writeAndRename>): Promise<void> {
  if (isEnding) throw new Error('the command was ended');
  const writing = writeAndRename(...args);
  underWay.add(writing);
  try {
    await writing;
  } finally {
    underWay.delete(writing);
  }
}

/** The text is on the disk before its name is: a crash of the machine must not leave an empty file. */
async function writeAndRename(
  at: (name: string) => string,
  name: string,
  text: string | Buffer,
  ownership?: Ownership,
): Promise<void> {
  // A short name of its own: one derived from the file's could be too long.
  const temporary = at(`.fleet-${randomBytes(6).toString('hex')}`);
  try {
    const handle = await open(temporary, 'wx', ownership === undefined ? 0o666 : 0o600);
    try {
      await handle.writeFile(text);
      if (ownership !== undefined) await giveTo(handle, ownership);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, at(name));
  } catch (thrown) {
    // What could not be written says why; that it cannot be removed either says nothing more.
    await unlink(temporary).catch(() => undefined);
    throw thrown;
  }
}

/** By the open file, never by its name: a user who may write to the folder can replace it by a link to another file. */
async function giveTo(handle: FileHandle, { uid, gid, mode }: Ownership): Promise<void> {
  const own = await handle.stat();
  if (own.uid !== uid || own.gid !== gid) {
    try {
      await handle.chown(uid, gid);
    } catch (thrown) {
      // Only the administrator gives files away.
      if (codeOf(thrown) !== 'EPERM') throw thrown;
    }
  }
  // Not as the file is made, where the umask is taken off.
  await handle.chmod(mode & 0o777);
}
