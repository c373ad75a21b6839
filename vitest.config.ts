import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';
import { compiledModule, compiledUrl, compileTestPrograms } from './scripts/testing/compile.mjs';
import { LongestFirst } from './scripts/testing/longest-first.js';
import { V8_FLAGS } from './scripts/testing/v8-flags.mjs';
import { WAIT_LIMIT_MS } from './test/support/wait-limit-ms.js';

/**
 * Tests load the sources as Node does, compiled once for all processes of the run: through Vite, each process would take more
 * for each module, and for each use of an import. Vite has to see a source to know which tests a change of it concerns.
 */
function loadsCompiledSources(programs: string): Plugin {
  let active = false;
  return {
    name: 'loads-compiled-sources',
    enforce: 'pre',
    configureVitest({ vitest: { config } }) {
      active = !config.watch && !config.changed && config.related === undefined;
    },
    resolveId(name, importer) {
      if (!active || importer === undefined || !name.startsWith('.')) return undefined;
      const id = compiledModule(programs, resolve(dirname(importer), name));
      return id === undefined ? undefined : { id, external: true };
    },
  };
}

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

/** A test ends by itself, however busy the machine is; only one that hangs meets this limit. */
const TEST_LIMIT_MS = 300_000;

export default defineConfig(async () => {
  const programs = await compileTestPrograms();
  return {
    plugins: [loadsCompiledSources(programs), startsCompiledModules(programs)],
    test: {
      include: ['test/**/*.test.ts'],
      globalSetup: ['test/support/global-setup.ts'],
      env: { TEST_PROGRAMS: programs },
      setupFiles: [
        'test/support/processor-time.ts',
        'test/support/wait-limit.ts',
        'test/support/unchanged-process.ts',
      ],
      testTimeout: TEST_LIMIT_MS,
      hookTimeout: TEST_LIMIT_MS,
      expect: { poll: { timeout: WAIT_LIMIT_MS } },
      // Many tests wait for locks to run out and for processes to end: three files more than cores keep the cores at work.
      maxWorkers: availableParallelism() + 3,
      sequence: { sequencer: LongestFirst },
      pool: 'forks' as const,
      execArgv: V8_FLAGS,
      // The files that one process runs share its modules: loading them for each file was a third of all processor time.
      isolate: false,
    },
  };
});
