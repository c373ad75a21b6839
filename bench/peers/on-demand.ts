import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { messageOf } from '../../src/errors.js';

/** A package that only benchmarks need, at one version. `npm ci` never installs it. */
export interface OnDemandPackage {
  readonly name: string;
  readonly version: string;
  /** Installed with it. */
  readonly with?: Readonly<Record<string, string>>;
  /** Whether it must compile something when it is installed. */
  readonly runsScripts?: boolean;
}

/** Longest time for an installation, compilation included, in milliseconds. */
const INSTALL_MS = 600_000;

function cacheFolder({ name, version }: OnDemandPackage): string {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return join(cache, 'solution-fleet-bench', `${name.replaceAll(/[@/]/g, '_')}-${version}`);
}

/**
 * Loads a package from the benchmarks' cache folder, into which npm installs it at the first use.
 * @returns Its exports and those of the packages with it; or why it is not available.
 */
export async function loadOnDemand(
  wanted: OnDemandPackage,
): Promise<{ readonly module: unknown } | { readonly missing: string }> {
  const folder = cacheFolder(wanted);
  const entry = join(folder, 'entry.mjs');
  try {
    if (!existsSync(entry)) await install(wanted, folder, entry);
    return { module: await import(pathToFileURL(entry).href) };
  } catch (thrown) {
    const [reason = ''] = messageOf(thrown).trim().split('\n').slice(-1);
    return { missing: `${wanted.name} ${wanted.version} could not be installed: ${reason}` };
  }
}

async function install(wanted: OnDemandPackage, folder: string, entry: string): Promise<void> {
  process.stderr.write(`installing ${wanted.name} ${wanted.version} into ${folder} …\n`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}\n');
  const packages = { [wanted.name]: wanted.version, ...wanted.with };
  const flags = ['--no-audit', '--no-fund', '--save-exact', '--loglevel=error'];
  if (!wanted.runsScripts) flags.push('--ignore-scripts');
  const specifiers = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  await promisify(execFile)('npm', ['install', ...flags, ...specifiers], {
    cwd: folder,
    timeout: INSTALL_MS,
  });
  // Written last, so that an interrupted installation starts again.
  const lines = Object.keys(packages).map((name) => `export * from '${name}';`);
  await writeFile(entry, `${lines.join('\n')}\n`);
}
