import { join } from 'node:path';
import { packagePath } from '../../src/package-root.js';

/**
 * Options of the programs that tests start often: each loads a lot and ends soon, so young objects are not collected meanwhile, and
 * nothing is worth a thread that helps. One that waits is not to collect what it has either. Outside of vitest there are none: benchmarks
 * measure the memory and time of a program as users start it.
 */
export const PROGRAM_FLAGS: readonly string[] =
  process.env.TEST_PROGRAMS === undefined
    ? []
    : ['--min-semi-space-size=32', '--max-semi-space-size=64', '--single-threaded-gc', '--no-memory-reducer'];

/**
 * Path of a bundled module, which a test starts as a process or thread; `scripts/testing/compile.mjs` lists them. Outside
 * of vitest, as in `npm run chaos`, it is the module of `dist/`, which contains only the sources.
 * @param source Its source without the ending, as in `src/cli/main` or `test/calls/counting-worker`.
 */
export function testProgram(source: string): string {
  const folder = process.env.TEST_PROGRAMS;
  if (folder !== undefined) return join(folder, `${source}.js`);
  if (!source.startsWith('src/')) throw new Error(`vitest.config.ts sets TEST_PROGRAMS, where ${source} is`);
  return packagePath(`dist/${source.slice('src/'.length)}.js`);
}
