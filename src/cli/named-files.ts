import { lstat, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../errors.js';
import { whyUnreadable } from './read-file.js';

/**
 * Refuses `-` twice: standard input can be read once.
 * @throws UsageError `usage`.
 */
export function rejectDuplicateStdin(files: readonly string[]): void {
  if (files.filter((file) => file === '-').length > 1) {
    throw new UsageError('usage', 'standard input can be read once: - may stand for one file only');
  }
}

/**
 * Refuses two names of the same file, be it by another way to it or by a symbolic link.
 * @throws UsageError `usage`.
 */
export async function rejectDuplicateFiles(files: readonly string[]): Promise<void> {
  rejectDuplicateStdin(files);
  const names = new Map<string, string>();
  for (const file of files.filter((name) => name !== '-')) {
    // One that is not there is reported where it is read.
    const location = await realpath(file).catch(() => resolve(file));
    const other = names.get(location);
    if (other !== undefined) {
      const what = other === file ? `${file} is named twice` : `${other} and ${file} are the same file`;
      throw new UsageError('usage', what);
    }
    names.set(location, file);
  }
}

/**
 * Refuses a path that is not a folder.
 * @throws UsageError `usage`, with the flag that named it.
 */
export async function assertDirectory(flag: string, path: string): Promise<void> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new UsageError('usage', `${flag}: the folder ${path} ${whyUnreadable(cause)}`, { cause });
  });
  if (!found.isDirectory()) throw new UsageError('usage', `${flag}: ${path} is not a folder`);
}

/**
 * Refuses an argument that is an option as well as the name of a file that is there: where a shell or a hook lists the files
 * of a folder, their names must not decide what is done, nor with which exit code.
 * @throws UsageError `usage`.
 */
export async function rejectFilesNamedLikeOptions(args: readonly string[]): Promise<void> {
  const end = args.indexOf('--');
  const options = (end < 0 ? args : args.slice(0, end)).filter((arg) => arg.startsWith('-') && arg !== '-');
  for (const option of options) {
    if ((await lstat(option).catch(() => undefined)) === undefined) continue;
    throw new UsageError(
      'usage',
      `${option} is an option, and a file is named like it; name the file as ./${option}, or rename it`,
    );
  }
}
