import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { isWithin } from '../config/paths.js';
import { ConfigurationError, messageOf } from '../errors.js';
import { readPrivateFile, writeNewFile } from './private-files.js';
import { assertPrivateFolder, currentUser, lstatIfThere, unsafeFolder } from './safe-folders.js';
import { homeOfSystem, stateDirectory, stateDirectoryPath } from './state-directory.js';

/** File that records the folder and the project for which it was created. */
const ORIGIN = 'origin.json';
const MAX_ORIGIN_BYTES = 16_384;
/** Maximum length of the readable part of the name: the path of a socket must be short. */
const MAX_NAME_LENGTH = 20;

const OriginSchema = z.object({
  project: z.string(),
  /** Inode of the folder, which an archive or a repository cannot contain. */
  inode: z.string(),
});

export interface ProjectState {
  /** Folder for the data of the project's embedded Redis. */
  readonly path: string;
  /** Whether this call created it. */
  readonly created: boolean;
}

/**
 * The folder of a project below the state directory, created if it is missing. Its name is derived from the project's real
 * path, so a project has one folder, whichever path leads to it.
 * @throws ConfigurationError if the project does not exist, or if this program did not create the folder.
 */
export function openProjectState(project: string): ProjectState {
  const root = realProject(project);
  const parent = stateDirectory();
  assertOutside(parent, root);
  const path = join(parent, folderName(root));
  const created = lstatIfThere(path) === undefined && make(parent, path, root);
  assertPrivateFolder(path);
  assertKnownOrigin(path, root);
  return { path, created };
}

/** The path that `openProjectState` uses for a project, whether it exists or not. */
export function projectStatePath(project: string): string {
  return join(stateDirectoryPath(), folderName(realProject(project)));
}

/** A missing project folder is not created: with a mistyped name all jobs would seem to be lost. */
function realProject(project: string): string {
  const path = resolve(project);
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch (cause) {
    throw new ConfigurationError(
      `The project folder ${path} does not exist or cannot be read (${messageOf(cause)}); create it, or correct FLEET_DATA_DIR.`,
      { field: 'FLEET_DATA_DIR', cause },
    );
  }
  throw new ConfigurationError(`${path} is not a folder; correct FLEET_DATA_DIR.`, {
    field: 'FLEET_DATA_DIR',
  });
}

function folderName(root: string): string {
  const readable = basename(root)
    .replace(/[^\w.-]+/g, '_')
    .slice(0, MAX_NAME_LENGTH);
  const digest = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return `${readable === '' ? 'root' : readable}-${digest}`;
}

/** A project that contains the state directory would control its content. The user's home folder may be such a project. */
function assertOutside(state: string, root: string): void {
  if (!isWithin(state, root)) return;
  const home = homeOfSystem();
  if (home !== undefined && lstatIfThere(home) !== undefined && isWithin(realpathSync(home), root)) return;
  throw unsafeFolder(
    `The state directory ${state} is inside the project folder ${root}, whose files are not trusted`,
  );
}

/** Creates the folder atomically with its origin. @returns false if another process was first. */
function make(parent: string, path: string, project: string): boolean {
  try {
    const fresh = mkdtempSync(join(parent, '.new-'));
    chmodSync(fresh, 0o700);
    const origin = { project, inode: inodeOf(fresh) };
    writeNewFile(join(fresh, ORIGIN), `${JSON.stringify(origin)}\n`);
    try {
      renameSync(fresh, path);
      return true;
    } catch (thrown) {
      rmSync(fresh, { recursive: true, force: true });
      if (lstatIfThere(path) === undefined) throw thrown;
      return false;
    }
  } catch (cause) {
    throw unsafeFolder(`The embedded Redis cannot keep its data in ${parent} (${messageOf(cause)})`, cause);
  }
}

function inodeOf(folder: string): string {
  return String(lstatSync(folder, { bigint: true }).ino);
}

/**
 * A server trusts its data like a program: an append-only file may contain any command. So a folder is only used if this
 * program created it on this machine and none of its entries leads elsewhere.
 */
function assertKnownOrigin(path: string, project: string): void {
  const origin = readOrigin(path);
  if (origin === undefined || origin.inode !== inodeOf(path)) {
    throw unsafeFolder(
      `${path} was not made by this program on this machine, so its content is not trusted; move it away, or ` +
        'if you know the data (a restored backup), as docs/redis.md says',
    );
  }
  if (origin.project !== project) {
    throw unsafeFolder(`${path} has the data of another project, ${origin.project}; move it away`);
  }
  assertTrustedEntries(path);
  // Its mode makes no difference in a folder that other users cannot enter.
  assertTrustedEntries(join(path, 'appendonlydir'));
}

function readOrigin(path: string): z.infer<typeof OriginSchema> | undefined {
  const text = readPrivateFile(join(path, ORIGIN), MAX_ORIGIN_BYTES);
  if (text === undefined) return undefined;
  try {
    return OriginSchema.safeParse(JSON.parse(text)).data;
  } catch {
    // It is not JSON, so this program did not write it: the caller reports that.
    return undefined;
  }
}

function assertTrustedEntries(folder: string): void {
  if (lstatIfThere(folder)?.isDirectory() !== true) return;
  for (const name of readdirSync(folder)) {
    const entry = lstatIfThere(join(folder, name));
    if (entry === undefined || (entry.uid === currentUser() && !entry.isSymbolicLink())) continue;
    const what = entry.isSymbolicLink() ? 'is a symbolic link' : `belongs to another user (${entry.uid})`;
    throw unsafeFolder(`${join(folder, name)} ${what}; remove it`);
  }
}
