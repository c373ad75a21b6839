import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, statfs } from 'node:fs/promises';
import { isAbsolute, normalize, relative, resolve } from 'node:path';
import { isWithin } from '../../config/paths.js';
import { openBelow } from './open-below.js';
import { namesSecret } from './secret-names.js';
import type { WorkspacePolicy } from './workspace-policy.js';
import { isFileError, rejectFileError, unreadable, WorkspaceRefusal } from './workspace-refusal.js';

/** Linux names the path of an open file, and opens names below an open directory; elsewhere names have to do. */
const BY_DESCRIPTOR = process.platform === 'linux';

/** Types of file systems that show the state of the system as regular files: `/proc`, `/sys` and their like. */
const SYSTEM_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0x9fa0, 0x62656572, 0x63677270, 0x27e0eb, 0x64626720, 0x74726163, 0x73636673, 0x62656570, 0xcafe4a11,
]);

/**
 * A directory in which an agent reads. It is opened once: even if another directory takes its name, files are opened below
 * this one. Its real path is compared with the roots when it is opened and again for every file.
 */
export class Workspace {
  readonly #directory: FileHandle;
  /** Names by which absolute paths into it may begin. */
  readonly #names: readonly string[];
  readonly #policy: WorkspacePolicy;

  private constructor(directory: FileHandle, names: readonly string[], policy: WorkspacePolicy) {
    this.#directory = directory;
    this.#names = names;
    this.#policy = policy;
  }

  /** Opens a workspace; null where there is no such directory, or none that may be read in. */
  static async open(path: string, policy: WorkspacePolicy): Promise<Workspace | null> {
    if (path.includes('\0')) return null;
    const named = resolve(path);
    let directory: FileHandle;
    try {
      directory = await open(named, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK);
    } catch (error) {
      if (isFileError(error)) return null;
      throw error;
    }
    const workspace = new Workspace(directory, [await pathOf(directory, named), named], policy);
    if (await workspace.#isAllowed()) return workspace;
    await directory.close();
    return null;
  }

  /**
   * Opens a regular file below the workspace for reading.
   *
   * @param path As the agent wrote it: absolute, or relative to the workspace.
   * @throws {WorkspaceRefusal} With the same message for every path outside.
   */
  async openFile(path: string): Promise<FileHandle> {
    if (path === '' || path.includes('\0')) throw new WorkspaceRefusal('the path is empty or malformed');
    const wanted = this.#relativePath(path);
    if (wanted === undefined) throw unreadable();
    const file = BY_DESCRIPTOR
      ? await openBelow(this.#directory, wanted, (target) => this.#relativePath(target))
      : await openByName(await this.#path(), wanted);
    try {
      await this.#check(file, wanted);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#directory.close();
  }

  /** The part of a path below the workspace; undefined for an absolute path to somewhere else. */
  #relativePath(path: string): string | undefined {
    if (!isAbsolute(path)) return path;
    const absolute = normalize(path);
    for (const name of this.#names) if (isWithin(absolute, name)) return absolute.slice(name.length);
    return undefined;
  }

  /** Looks at a file once it is open. */
  async #check(file: FileHandle, wanted: string): Promise<void> {
    const [stat, own] = await Promise.all([file.stat(), this.#directory.stat()]);
    if (!stat.isFile()) throw unreadable();
    const root = await this.#path();
    const path = await pathOf(file, resolve(root, wanted.replace(/^\/+/, '')));
    if (path === root || !isWithin(path, root)) throw unreadable();
    // The workspace itself may have been moved to a directory that agents may not read.
    if (!(await this.#isAllowed()) || (await isSystemFile(file))) throw unreadable();
    // A hard link to another owner's file. A hard link to a file of the same owner cannot be recognized.
    if (stat.nlink > 1 && stat.uid !== own.uid) throw unreadable();
    if (this.#policy.allowSecrets !== true && namesSecret(relative(root, path))) {
      throw new WorkspaceRefusal('files that may hold secrets are not handed out');
    }
  }

  /** Where the directory is now. */
  #path(): Promise<string> {
    return pathOf(this.#directory, this.#names[0] ?? '');
  }

  async #isAllowed(): Promise<boolean> {
    const { roots, allowSecrets } = this.#policy;
    if (roots === 'any') return true;
    const path = await this.#path();
    for (const root of roots) {
      const real = await realpath(root).catch(noPath);
      if (real === undefined || !isWithin(path, real)) continue;
      // A workspace such as `ROOT/project/.git` would take the name of the secret out of the paths below it.
      if (allowSecrets === true || !namesSecret(relative(real, path))) return true;
    }
    return false;
  }
}

/** A root that is not there allows nothing. */
function noPath(error: unknown): undefined {
  if (!isFileError(error)) throw error;
}

/** Path of an open file; on systems without `/proc`, the path to which its name leads now. */
function pathOf(file: FileHandle, name: string): Promise<string> {
  return BY_DESCRIPTOR ? readlink(`/proc/self/fd/${file.fd}`) : realpath(name);
}

async function isSystemFile(file: FileHandle): Promise<boolean> {
  if (!BY_DESCRIPTOR) return false;
  const { type } = await statfs(`/proc/self/fd/${file.fd}`);
  return SYSTEM_FILE_SYSTEMS.has(type);
}

/**
 * Opens a file below a directory where the system cannot open names below a descriptor. The file at the real path has
 * to be the one that was opened. A directory that is exchanged for just that moment is not noticed: run workers that
 * read in workspaces which others can write to on Linux.
 *
 * @param root Real path of the directory.
 * @throws {WorkspaceRefusal}
 */
async function openByName(root: string, path: string): Promise<FileHandle> {
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
