import { randomBytes } from 'node:crypto';
import { chmod, chown, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isWithin } from '../../config/is-within.js';
import { messageOf, UsageError } from '../../errors.js';

const PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'it or its folder may not be written',
  EPERM: 'it or its folder may not be written',
  EROFS: 'its file system is read-only',
  ENOENT: 'it or its folder is gone',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
};

function codeOf(thrown: unknown): string {
  return (thrown as NodeJS.ErrnoException).code ?? '';
}

/**
 * Gives a file another text, whole or not at all; its permissions stay, and its owner where the system allows that. Of
 * a symbolic link, the file that it leads to is replaced, unless it leads out of the working directory: links may come
 * with a checkout, and nobody has named the file that they lead to.
 * @throws UsageError `unwritable-output`; the file is then as it was.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const target = await targetOf(file);
  try {
    // Replacing needs only a writable folder; a file that was made read-only is not to be changed all the same.
    await (await open(target, 'r+')).close();
    await replace(target, text);
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

/** The real path of a file. It must lie below the working directory if the file's name does, else in the file's folder. */
async function targetOf(file: string): Promise<string> {
  const folder = isWithin(resolve(file), process.cwd()) ? process.cwd() : dirname(file);
  const [target, root] = await Promise.all([realpath(file), realpath(folder)]).catch((cause: unknown) => {
    throw notWritten(file, cause);
  });
  if (isWithin(target, root)) return target;
  throw new UsageError(
    'unwritable-output',
    `${file} is not written: a symbolic link leads from it to a file outside of ${root}; name that file itself`,
  );
}

async function replace(target: string, text: string): Promise<void> {
  const { mode, uid, gid } = await stat(target);
  // A short name of its own: one derived from the file's could be too long.
  const temporary = join(dirname(target), `.fleet-${randomBytes(6).toString('hex')}`);
  try {
    await writeThrough(temporary, text);
    await giveTo(temporary, uid, gid);
    // Not by the options above, from which the umask is taken off.
    await chmod(temporary, mode & 0o777);
    await rename(temporary, target);
    await syncFolder(dirname(target));
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw thrown;
  }
}

/** The text is on the disk before its name is: a crash of the machine must not leave an empty file. */
async function writeThrough(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The new name is on the disk as well. Some file systems know no such thing; the file is whole either way. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

async function giveTo(path: string, uid: number, gid: number): Promise<void> {
  const own = await stat(path);
  if (own.uid === uid && own.gid === gid) return;
  try {
    await chown(path, uid, gid);
  } catch (thrown) {
    // Only the administrator gives files away.
    if (codeOf(thrown) !== 'EPERM') throw thrown;
  }
}
