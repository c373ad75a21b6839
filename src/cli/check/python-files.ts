import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Ignore } from 'ignore';
import { messageOf, UsageError } from '../../errors.js';

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
/** A file of no more bytes may hold white space alone, as many `__init__.py` do. */
const MAX_BLANK_BYTES = 64;

/** Rules of a `.gitignore`, for the paths below its folder. */
interface Rules {
  readonly base: string;
  readonly ignore: Ignore;
}

/**
 * The files that arguments of `fleet check` mean: a folder means the scripts and notebooks in it and below it, sorted by name.
 * Left out are hidden names, virtual environments, packages of others, files without content, and what `.gitignore` names.
 * Symbolic links are not followed. A file that is named itself is never left out, and none is listed twice.
 * @param exclude Patterns as in a `.gitignore`, for paths below each folder.
 * @throws UsageError `unreadable-input` if a folder has no such file or cannot be read; `usage` if there is no folder to exclude
 *   from.
 */
export async function filesOf(args: readonly string[], exclude: readonly string[]): Promise<string[]> {
  const isFolder = await Promise.all(args.map(isDirectory));
  if (!isFolder.includes(true)) {
    if (exclude.length === 0) return [...args];
    throw new UsageError('usage', '--exclude leaves out files of a folder; name a folder to check');
  }
  const named = args.filter((_, at) => !isFolder[at]);
  const listed = new Set(await Promise.all(named.filter((file) => file !== '-').map(locationOf)));
  const files: string[] = [];
  for (const [at, arg] of args.entries()) {
    if (!isFolder[at]) files.push(arg);
    else {
      const found = await searchFolder(arg, exclude, listed);
      if (!found.hasAny) throw nothingBelow(arg);
      files.push(...found.files);
    }
  }
  return files;
}

/** What is below a folder. */
export interface FoundBelow {
  /** Paths of the scripts and notebooks, sorted by name. */
  readonly files: readonly string[];
  /** The folder itself and those below it that were searched: a file that is added there would be found. */
  readonly folders: readonly string[];
}

/**
 * The files that a folder means, as `filesOf` says.
 * @throws UsageError `unreadable-input` if it cannot be read.
 */
export function filesBelow(folder: string, exclude: readonly string[]): Promise<FoundBelow> {
  return searchFolder(folder, exclude, new Set());
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

/** @param listed Locations of files that are listed already; those of this folder are added. */
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
  const top = await realpath(folder);
  const excluded = rulesOf(top, exclude);
  const files: string[] = [];
  const folders: string[] = [];
  let hasAny = false;
  const walk = async (path: string, rules: readonly Rules[]): Promise<void> => {
    const shown = join(folder, relative(top, path));
    const entries = await entriesOf(shown, path);
    folders.push(shown);
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
      else if (!(await isBlank(child))) {
        hasAny = true;
        if (!listed.has(child)) files.push(join(folder, relative(top, child)));
        listed.add(child);
      }
    }
  };
  await walk(top, await rulesAbove(top, rulesOf));
  return { files, folders, hasAny };
}

async function entriesOf(shown: string, path: string) {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (cause) {
    throw new UsageError('unreadable-input', `the folder ${shown} cannot be read: ${messageOf(cause)}`, {
      cause,
    });
  }
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

async function isBlank(file: string): Promise<boolean> {
  // One that was removed meanwhile holds nothing.
  const { size = 0 } = (await stat(file).catch(() => undefined)) ?? {};
  if (size === 0) return true;
  return (
    size <= MAX_BLANK_BYTES && basename(file).endsWith('.py') && (await readFile(file, 'utf8')).trim() === ''
  );
}
