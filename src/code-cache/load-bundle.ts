import { accessSync, constants, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import { threadId } from 'node:worker_threads';

/** What a bundle gets from its loader. `scripts/bundle.mjs` writes the function around it. */
export interface BundleScope {
  /** The folder of all modules, with a slash at its end, in which those of the bundle find files from their own locations. */
  readonly root: URL;
  /** Name of its code in the cache: each command runs functions of its own. */
  readonly name: string;
  /** Modules that it shares with programs that import the package, by the names that it requires. */
  readonly modules?: Readonly<Record<string, unknown>>;
}

export interface LoadedBundle {
  readonly exports: Readonly<Record<string, unknown>>;
  /** Writes the code of the functions that have run so far into the cache; undefined where the cache has code for this bundle. */
  readonly keepCode: (() => void) | undefined;
}

type BundleFunction = (
  exports: object,
  require: (name: string) => unknown,
  module: { exports: Record<string, unknown> },
  importModule: (address: string) => Promise<unknown>,
  root: string,
) => void;

/**
 * Runs a bundle in CommonJS with the code that V8 compiled for it in an earlier process: compiling is a third of the time that a
 * command takes to start. The cache lies beside the bundle, so a user who may write it may also write the bundle. Its name has the version and
 * the flags of V8, and the bundle's has a digest of its text, since V8 compares only the length.
 */
export function loadBundle(bundle: URL, { root, name, modules = {} }: BundleScope): LoadedBundle {
  const path = fileURLToPath(bundle);
  const cachePath = `${path}.${name}.${cachedDataVersionTag().toString(16)}.cache`;
  // As Node.js has it for its own cache, from version 22 on.
  const isOff = Boolean(process.env.NODE_DISABLE_COMPILE_CACHE);
  const cachedData = isOff ? undefined : readCode(cachePath);
  // The bundle is ASCII, which takes a fifth of the time that UTF-8 would take.
  const script = new Script(readFileSync(path, 'latin1'), {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const module = { exports: {} as Record<string, unknown> };
  const requirePackage = createRequire(path);
  const run = script.runInThisContext() as BundleFunction;
  run(
    module.exports,
    (wanted) => modules[wanted] ?? requirePackage(wanted),
    module,
    (address) => import(address),
    root.href,
  );
  const isUsable = script.cachedDataRejected === false;
  const keepCode = isUsable || isOff ? undefined : () => writeCode(cachePath, script);
  return { exports: module.exports, keepCode };
}

function readCode(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    // There is none yet, or none for this user: without it, the bundle is compiled.
    return undefined;
  }
}

/** Where the package cannot be written, such as on a read-only disk, nothing is kept, and each start compiles. */
function writeCode(path: string, script: Script): void {
  if (!isWritable(dirname(path))) return;
  const fresh = `${path}.${process.pid}-${threadId}`;
  try {
    // Other users may run the code, and nobody else may change it, whatever the umask is.
    writeFileSync(fresh, script.createCachedData(), { flag: 'wx', mode: 0o644 });
    renameSync(fresh, path);
  } catch {
    // Of a full disk, for example. A cache that is missing costs only time.
    rmSync(fresh, { force: true });
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
