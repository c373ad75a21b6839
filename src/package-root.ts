import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Absolute path of a file or folder that ships with the package (prompts, grammar, examples).
 * `src/` and `dist/` are siblings, so one level up from this module is the package root in both.
 */
export function packagePath(...parts: string[]): string {
  return fileURLToPath(new URL(`../${parts.join('/')}`, import.meta.url));
}

/**
 * Options of Node for a thread or process that runs a module of this package. From source, as in the tests, it needs a
 * loader for TypeScript, which is found from here and not from the working directory.
 */
export function loaderOptions(module: URL): string[] {
  if (!module.pathname.endsWith('.ts')) return [];
  return ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href];
}

/** Version of this package. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string };
  return version;
}
