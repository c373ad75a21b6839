import { join } from 'node:path';

/**
 * Path of a bundled module, which a test starts as a process or thread; `scripts/testing/compile.mjs` lists them.
 * @param source Its source without the ending, as in `src/cli/main` or `test/calls/counting-worker`.
 */
export function testProgram(source: string): string {
  const folder = process.env.TEST_PROGRAMS;
  if (folder === undefined) throw new Error('vitest.config.ts sets TEST_PROGRAMS');
  return join(folder, `${source}.js`);
}
