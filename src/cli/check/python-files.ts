import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Ignore } from 'ignore';
import { UsageError } from '../../errors.js';
import { assertUnambiguousName, whyUnreadable } from '../read-file.js';
import { isGone, lookAtFile, lookAtFolder } from './on-disk.js';

const WANTED = /\.(?:py|ipynb)$/;
/** Folders of packages that others wrote, besides hidden ones and virtual environments. */
const FOREIGN: ReadonlySet<string> = new Set([
  'node_modules',
  'site-packages',
  '__pycache__',
  '__pypackages__',
]);
/** Files in the top folder of a virtual environment, of venv and of conda. */
const ENVIRONMENT = ['pyvenv.cfg', 'conda-meta'];
/** Rules of a `.gitignore`, for the paths below its folder. */
interface Rules {
  readonly base: string;
  readonly ignore: Ignore;
}

/** Something that could not be looked into, so that nobody knows whether there is a script in it. */
export interface Unreadable {
  readonly file: string;
  readonly error: UsageError;
}

/** What arguments of `fleet check` mean. */
export interface FilesToCheck {
  readonly files: readonly string[];
  /** Folders, in the order in which they were found. */
  readonly unreadable: readonly Unreadable[];
}

/**
 * The files that arguments of `fleet check` mean: a folder means the scripts and notebooks in it and below it, sorted by name.
 * Left out are hidden names, virtual environments, packages of others, files without content, and what `.gitignore` names.
 * Symbolic links are not followed. A file that is named itself is never left out, and none is listed twice. A file that cannot be
 * read is listed, and reading it says why.
 * @param exclude Patterns as in a `.gitignore`, for paths below each folder.
 * @throws UsageError `unreadable-input` if a folder has no such file; `usage` if there is no folder to exclude from.
 */
export async function filesOf(args: readonly string[], exclude: readonly string[]): Promise<FilesToCheck> {
  const isFolder = await Promise.all(args.map(isDirectory));
  if (!isFolder.includes(true)) {
    if (exclude.length === 0) return { files: [...args], unreadable: [] };
    throw new UsageError('usage', '--exclude leaves out files of a folder; name a folder to check');
  }
  const named = args.filter((_, at) => !isFolder[at]);
  const listed = new Set(await Promise.all(named.filter((file) => file !== '-').map(locationOf)));
  const files: string[] = [];
  const unreadable: Unreadable[] = [];
  for (const [at, arg] of args.entries()) {
    if (!isFolder[at]) files.push(arg);
    else {
      const found = await searchFolder(arg, exclude, listed).catch((error: unknown) => {
        if (!isUnreadable(error)) throw error;
        return { hasAny: true, files: [], unreadable: [{ file: arg, error }] };
      });
      if (!found.hasAny) throw nothingBelow(arg);
      files.push(...found.files.map(({ file }) => file));
      unreadable.push(...found.unreadable);
    }
  }
  return { files, unreadable };
}

/** A path, and what is other after something else was put there, or something was changed about it. */
export interface FoundFile {
  readonly file: string;
  readonly version: string;
}

/** What is below a folder. */
export interface FoundBelow {
  /** The scripts and notebooks, sorted by name. */
  readonly files: readonly FoundFile[];
  readonly unreadable: readonly Unreadable[];
  /**
   * The folder itself and those below it that were searched: a file that is added there would be found. The version of one stays
   * whatever becomes of its content.
   */
  readonly folders: readonly FoundFile[];
}

/**
 * The files that a folder means, as `filesOf` says.
 * @throws UsageError `unreadable-input` if the folder itself is gone or cannot be read.
 */
export function filesBelow(folder: string, exclude: readonly string[]): Promise<FoundBelow> {
  return searchFolder(folder, exclude, new Set());
}

/** Whether `filesOf` may list a file of this name, or leave files out by what is in it. */
export function decidesByName(name: string): boolean {
  return name === '.gitignore' || (WANTED.test(name) && !name.startsWith('.'));
}

function isUnreadable(thrown: unknown): thrown is UsageError {
  return thrown instanceof UsageError && thrown.code === 'unreadable-input';
}

function nothingBelow(folder: string): UsageError {
  return new UsageError(
    'unreadable-input',
    `${folder} holds no Python script (.py) and no notebook (.ipynb) to check; hidden folders, virtual environments, empty files and what .gitignore or --exclude names are left out`,
  );
}

async function isDirectory(path: string): Promise<boolean> {
  if (path === '-') return false;
  // One that is not there is reported where it is read.
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

function locationOf(file: string): Promise<string> {
  return realpath(file).catch(() => resolve(file));
}

/**
 * What was removed since its parent was listed is left out, as if it had been removed before.
 * @param listed Locations of files that are listed already; those of this folder are added.
 * @throws UsageError `unreadable-input` if the folder itself is gone or cannot be read.
 */
async function searchFolder(
  folder: string,
  exclude: readonly string[],
  listed: Set<string>,
): Promise<FoundBelow & { readonly hasAny: boolean }> {
  // Most commands name files.
  const { default: ignore } = await import('ignore');
  const rulesOf = (base: string, patterns: string | readonly string[]): Rules => ({
    base,
    ignore: ignore({ ignorecase: false }).add(patterns),
  });
  const top = await realpath(folder).catch((cause: unknown) => {
    throw unreadableFolder(folder, cause);
  });
  const excluded = rulesOf(top, exclude);
  const files: FoundFile[] = [];
  const unreadable: Unreadable[] = [];
  const folders: FoundFile[] = [];
  let hasAny = false;
  const walk = async (path: string, rules: readonly Rules[]): Promise<void> => {
    const shown = join(folder, relative(top, path));
    const listing = await listFolder(path, shown).catch((thrown: unknown) => {
      if (path === top) throw unreadableFolder(shown, thrown);
      if (isGone(thrown)) return undefined;
      hasAny = true;
      unreadable.push({ file: shown, error: unreadableFolder(shown, thrown) });
      return undefined;
    });
    if (listing === undefined) return;
    const { version, entries } = listing;
    folders.push({ file: shown, version });
    const names = new Set(entries.map(({ name }) => name));
    if (path !== top && ENVIRONMENT.some((name) => names.has(name))) return;
    const own = names.has('.gitignore')
      ? await readFile(join(path, '.gitignore'), 'utf8').catch(() => '')
      : '';
    const all = own === '' ? rules : [...rules, rulesOf(path, own)];
    for (const entry of entries) {
      const { name } = entry;
      if (name.startsWith('.') || FOREIGN.has(name)) continue;
      const child = join(path, name);
      if (!entry.isDirectory() && !(entry.isFile() && WANTED.test(name))) continue;
      if (isIgnored(child, entry.isDirectory(), all) || isIgnored(child, entry.isDirectory(), [excluded]))
        continue;
      if (entry.isDirectory()) await walk(child, all);
      else await found(child);
    }
  };
  const found = async (path: string): Promise<void> => {
    const state = await lookAtFile(path);
    if (state === 'gone' || state === 'blank') return;
    hasAny = true;
    if (!listed.has(path)) files.push({ file: join(folder, relative(top, path)), version: state.version });
    listed.add(path);
  };
  await walk(top, await rulesAbove(top, rulesOf));
  return { files, unreadable, folders, hasAny };
}

/** What is in a folder, by name, and its version from before, so that a folder that replaces it meanwhile has another one. */
async function listFolder(path: string, shown: string) {
  assertUnambiguousName(shown);
  const version = await lookAtFolder(path);
  const entries = await readdir(path, { withFileTypes: true });
  return { version, entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

function unreadableFolder(shown: string, thrown: unknown): UsageError {
  if (isUnreadable(thrown)) return thrown;
  return new UsageError('unreadable-input', `the folder ${shown} ${whyUnreadable(thrown)}`, {
    cause: thrown,
  });
}

/** The deepest file with a rule about a path decides, as in Git. */
function isIgnored(path: string, isFolder: boolean, rules: readonly Rules[]): boolean {
  for (const { base, ignore } of rules.toReversed()) {
    const below = relative(base, path).split(sep).join('/');
    const { ignored, unignored } = ignore.test(isFolder ? `${below}/` : below);
    if (ignored || unignored) return ignored;
  }
  return false;
}

/**
 * The rules of the repository's folders above one, the topmost first, and of its `info/exclude`. None of them counts if they
 * leave out the folder itself: who names it wants it checked.
 */
async function rulesAbove(
  folder: string,
  rulesOf: (base: string, patterns: string) => Rules,
): Promise<readonly Rules[]> {
  const above: string[] = [];
  for (let path = folder; ; path = dirname(path)) {
    if (path !== folder) above.unshift(path);
    if ((await stat(join(path, '.git')).catch(() => undefined)) !== undefined) break;
    if (path === dirname(path)) return [];
  }
  const root = above[0] ?? folder;
  const sources = [
    [root, join(root, '.git', 'info', 'exclude')],
    ...above.map((path) => [path, join(path, '.gitignore')]),
  ];
  const rules: Rules[] = [];
  for (const [base = root, file = ''] of sources) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) rules.push(rulesOf(base, text));
  }
  return folder !== root && isIgnored(folder, true, rules) ? [] : rules;
}
