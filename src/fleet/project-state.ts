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
import { isWithin } from '../config/is-within.js';
import { ConfigurationError, messageOf } from '../errors.js';
import { readOwnFile, writeNewFile } from './own-files.js';
import { currentUser, lstatIfThere, refuseUnlessOwn, unsafeFolder } from './safe-folders.js';
import { homeOfSystem, stateDirectory, stateDirectoryPath } from './state-directory.js';

/** Says which folder of which project this is, as it was made. */
const ORIGIN = 'origin.json';
const MAX_ORIGIN_BYTES = 16_384;
/** A readable part of the name, short since the path of a socket is. */
const MAX_NAME_LENGTH = 20;

const OriginSchema = z.object({
  project: z.string(),
  /** Number of the folder in its file system, which no archive and no repository can carry. */
  inode: z.string(),
});

export interface ProjectState {
  /** Folder for what the project's embedded Redis keeps. */
  readonly path: string;
  /** Whether this call made it. */
  readonly created: boolean;
}

/**
 * The folder of a project below the state directory, made where it is missing. Its name follows from the real path of
 * the project, so a project has the same one whichever way leads to it.
 * @throws ConfigurationError where the project does not exist, or where this program did not make the folder.
 */
export function openProjectState(project: string): ProjectState {
  const root = realProject(project);
  const parent = stateDirectory();
  refuseInside(parent, root);
  const path = join(parent, folderName(root));
  const created = lstatIfThere(path) === undefined && make(parent, path, root);
  refuseUnlessOwn(path);
  refuseUnknownOrigin(path, root);
  return { path, created };
}

/** Where `openProjectState` keeps the data of a project, whether there are any or not. */
export function projectStatePath(project: string): string {
  return join(stateDirectoryPath(), folderName(realProject(project)));
}

/** A folder that is missing is not made: a mistyped name would seem to have lost its jobs. */
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

/** A project that holds its own state directory would decide what is in there. The user's home folder may be one. */
function refuseInside(state: string, root: string): void {
  if (!isWithin(state, root)) return;
  const home = homeOfSystem();
  if (home !== undefined && lstatIfThere(home) !== undefined && isWithin(realpathSync(home), root)) return;
  throw unsafeFolder(
    `The state directory ${state} lies inside the project folder ${root}, whose files are not trusted`,
  );
}

/** The folder appears with its origin in it, or not at all. @returns false where another process was first. */
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
 * A server trusts its data like a program: an append-only file may hold any command. So a folder counts only if it is
 * the one that was made here, with nothing in it that leads elsewhere.
 */
function refuseUnknownOrigin(path: string, project: string): void {
  const origin = readOrigin(path);
  if (origin === undefined || origin.inode !== inodeOf(path)) {
    throw unsafeFolder(
      `${path} was not made by this program on this machine, so its content is not trusted; move it away, or ` +
        'if you know the data (a restored backup), as docs/redis.md says',
    );
  }
  if (origin.project !== project) {
    throw unsafeFolder(`${path} holds the data of another project, ${origin.project}; move it away`);
  }
  refuseForeignEntries(path);
  // Its mode makes no difference in a folder that nobody else can enter.
  refuseForeignEntries(join(path, 'appendonlydir'));
}

function readOrigin(path: string): z.infer<typeof OriginSchema> | undefined {
  const text = readOwnFile(join(path, ORIGIN), MAX_ORIGIN_BYTES);
  if (text === undefined) return undefined;
  try {
    return OriginSchema.safeParse(JSON.parse(text)).data;
  } catch {
    // Not JSON, so not ours: the caller says so.
    return undefined;
  }
}

function refuseForeignEntries(folder: string): void {
  if (lstatIfThere(folder)?.isDirectory() !== true) return;
  for (const name of readdirSync(folder)) {
    const entry = lstatIfThere(join(folder, name));
    if (entry === undefined || (entry.uid === currentUser() && !entry.isSymbolicLink())) continue;
    const what = entry.isSymbolicLink() ? 'is a symbolic link' : `belongs to another user (${entry.uid})`;
    throw unsafeFolder(`${join(folder, name)} ${what}; remove it`);
  }
}
