import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isWithin } from '../../config/paths.js';
import { rejectFileError, unreadable } from './workspace-refusal.js';

/**
 * Opens a file below a directory where the system cannot open names below a descriptor. The file at the real path has
 * to be the one that was opened. A directory that is exchanged for just that moment is not noticed: run workers that
 * read in workspaces which others can write to on Linux.
 *
 * @param root Real path of the directory.
 * @throws {WorkspaceRefusal}
 */
export async function openByName(root: string, path: string): Promise<FileHandle> {
  try {
    const real = await realpath(resolve(root, path.replace(/^\/+/, '')));
    if (real === root || !isWithin(real, root)) throw unreadable();
    if (path.endsWith('/') || !(await lstat(real)).isFile()) throw unreadable();
    const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const [opened, found] = [await file.stat(), await lstat(await realpath(real))];
      if (opened.ino !== found.ino || opened.dev !== found.dev) throw unreadable();
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  } catch (error) {
    return rejectFileError(error);
  }
}
