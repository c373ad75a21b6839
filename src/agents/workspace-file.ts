import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';

/** Why a file is not handed out; the message is for the agent, so it names no path outside the workspace. */
export class WorkspaceRefusal extends Error {}

/** Real path of a workspace; null where there is no such directory. */
export async function realWorkspace(workspace: string): Promise<string | null> {
  try {
    const root = await realpath(workspace);
    return (await lstat(root)).isDirectory() ? root : null;
  } catch (error) {
    if (isFileError(error)) return null;
    throw error;
  }
}

/**
 * Opens a regular file below `root` for reading. The file that is open is what is checked, by the path that the
 * system has for it: a link that is changed between the check and the read leads nowhere.
 *
 * @param root real path of the workspace
 * @param path as the agent gave it: absolute, or relative to the workspace
 * @throws {WorkspaceRefusal} outside the workspace, not there, no regular file
 */
export async function openInWorkspace(root: string, path: string): Promise<FileHandle> {
  if (path === '' || path.includes('\0')) throw new WorkspaceRefusal('the path is empty or malformed');
  const wanted = resolve(root, path);
  // Checked before opening as well: opening alone can have effects on a device.
  if (!isWithin(root, await realpath(wanted).catch(refuseMissing))) throw outside();

  // Without O_NONBLOCK the opening of a pipe waits for a writer, for ever.
  const handle = await open(wanted, constants.O_RDONLY | constants.O_NONBLOCK).catch(refuseMissing);
  try {
    if (!(await handle.stat()).isFile()) throw new WorkspaceRefusal('it is not a regular file');
    if (!isWithin(root, await realPathOf(handle, wanted))) throw outside();
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Path of an open file. Linux knows it; elsewhere the file at the real path must be the one that is open. */
async function realPathOf(handle: FileHandle, wanted: string): Promise<string> {
  if (process.platform === 'linux') return readlink(`/proc/self/fd/${handle.fd}`);
  const path = await realpath(wanted);
  const [opened, found] = [await handle.stat(), await lstat(path)];
  if (opened.ino !== found.ino || opened.dev !== found.dev) throw outside();
  return path;
}

function isWithin(root: string, path: string): boolean {
  const step = relative(root, path);
  return step !== '' && step !== '..' && !step.startsWith(`..${sep}`) && !isAbsolute(step);
}

function outside(): WorkspaceRefusal {
  return new WorkspaceRefusal('it is outside the workspace');
}

function refuseMissing(error: unknown): never {
  if (isFileError(error)) throw new WorkspaceRefusal(`it cannot be opened (${error.code})`);
  throw error;
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error;
}
