import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { rejectFileError, unreadable } from './workspace-refusal.js';

/** Bounds of one walk; every level below the workspace keeps a descriptor open while it is walked. */
const MAX_PATH = 4_096;
const MAX_DEPTH = 64;
const MAX_LINKS = 16;

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Opens a file below an open directory, name by name, each below the descriptor of the one before: a directory that is
 * exchanged meanwhile leads nowhere. Links are read and walked here and never by the system, so that none can leave the
 * directory; `..` goes back to the descriptor that was walked through.
 *
 * Linux only: `/proc/self/fd/N/name` is a name below the open directory N.
 *
 * @param below The path below the directory that an absolute path names; undefined where it names none.
 * @throws {WorkspaceRefusal}
 */
export async function openBelow(
  directory: FileHandle,
  path: string,
  below: (absolute: string) => string | undefined,
): Promise<FileHandle> {
  const walked: FileHandle[] = [];
  let names = namesOf(path);
  let links = 0;
  try {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        const left = walked.pop();
        if (left === undefined) throw unreadable();
        await left.close();
        continue;
      }
      const at = `/proc/self/fd/${(walked.at(-1) ?? directory).fd}/${name}`;
      const found = await lstat(at);
      if (found.isSymbolicLink()) {
        links += 1;
        if (links > MAX_LINKS) throw unreadable();
        const target = await readlink(at);
        const inside = isAbsolute(target) ? below(target) : target;
        if (inside === undefined) throw unreadable();
        if (isAbsolute(target)) await closeAll(walked);
        names = [...namesOf(inside), ...names];
      } else if (found.isDirectory()) {
        if (walked.length >= MAX_DEPTH) throw unreadable();
        walked.push(await open(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK));
      } else if (found.isFile() && names.length === 0) {
        // What was a file may be a pipe by now, whose opening would wait for a writer.
        return await open(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      } else throw unreadable();
    }
    throw unreadable();
  } catch (error) {
    return rejectFileError(error);
  } finally {
    await closeAll(walked);
  }
}

function namesOf(path: string): string[] {
  if (path.length > MAX_PATH) throw unreadable();
  return path.split('/');
}

async function closeAll(handles: FileHandle[]): Promise<void> {
  for (const handle of handles.splice(0)) await handle.close();
}
