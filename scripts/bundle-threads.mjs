// Bundles the threads in a compiled dist/, each into the file that it has: a thread that loads two hundred modules one by one
// takes twice the processor time to start. Packages stay outside. The modules stay as well, for programs that import them.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';

/** Modules that are started by their path, and imported by nobody. */
export const THREADS = [
  'fleet/analysis-task.js',
  'fleet/contamination-thread.js',
  'fleet/small-contamination-thread.js',
];

/** A bundled module finds files from its own location, as it did before. */
function locations(thread) {
  return {
    name: 'locations',
    setup(building) {
      building.onLoad({ filter: /\.js$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        if (!text.includes('import.meta.url')) return undefined;
        const own = JSON.stringify(relative(dirname(thread), path).replaceAll('\\', '/'));
        return { contents: text.replaceAll('import.meta.url', `new URL(${own}, import.meta.url).href`) };
      });
    },
  };
}

/** @param dist the folder of the compiled modules */
export async function bundleThreads(dist) {
  const threads = THREADS.map((file) => join(dist, file)).filter((path) => existsSync(path));
  for (const thread of threads) {
    await build({
      entryPoints: [thread],
      outfile: thread,
      allowOverwrite: true,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      logLevel: 'warning',
      plugins: [locations(thread)],
    });
  }
}
