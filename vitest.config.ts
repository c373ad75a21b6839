import { defineConfig, type Plugin } from 'vitest/config';
import { compiledUrl, compileTestPrograms } from './scripts/testing/compile.mjs';

/** A source that starts a process or thread finds the module for it beside itself: here it finds the bundled one. */
function startsCompiledModules(programs: string): Plugin {
  return {
    name: 'starts-compiled-modules',
    enforce: 'pre',
    transform(code, id) {
      if (!/\/src\/.*\.ts$/.test(id) || !code.includes('import.meta.url')) return undefined;
      const url = JSON.stringify(compiledUrl(programs, id).href);
      return { code: code.replaceAll('import.meta.url', url), map: null };
    },
  };
}

export default defineConfig(async () => {
  const programs = await compileTestPrograms();
  return {
    plugins: [startsCompiledModules(programs)],
    test: {
      include: ['test/**/*.test.ts'],
      globalSetup: ['test/support/global-setup.ts'],
      env: { TEST_PROGRAMS: programs },
      testTimeout: 60_000,
      hookTimeout: 60_000,
      // What is waited for comes by itself, and late on a busy machine; a second, the default, is too short there.
      expect: { poll: { timeout: 30_000 } },
      // Each file talks to its own Redis and its own child processes; two at once is what two cores carry.
      maxWorkers: 2,
      pool: 'forks' as const,
      // The files that one process runs share its modules: loading them for each file was a third of all processor time.
      isolate: false,
    },
  };
});
