// Bundles what is started often in a compiled dist/: a process or thread that loads hundreds of modules one by one takes twice
// as long to start. The modules stay as well, for programs that import them.
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

/** Modules that are started by their path, and imported by nobody: each is bundled into its own file. */
export const THREADS = [
  'fleet/analysis-task.js',
  'fleet/contamination-thread.js',
  'fleet/small-contamination-thread.js',
];

/** The command line, and the folder of its bundle: one file for what every command needs, and one for each further part. */
const COMMAND_LINE = 'cli/main.js';
export const COMMAND_BUNDLE = 'cli/bundle';

/** Packages that are bundled too, as they consist of many modules. */
const PACKAGES_OF_THREADS = ['diff'];
const PACKAGES_OF_COMMANDS = ['zod', 'diff'];

/**
 * Modules that stay outside of the bundle: their classes are also those of programs that import the package, such as a module with
 * kinds of a user's own, whose errors a worker recognizes by their class.
 */
const SHARED_MODULES = ['errors.js', 'error-table.js'];

const COMMON = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
  // A third less text to read.
  minifyWhitespace: true,
  minifySyntax: true,
};

/**
 * @param dist the folder of the compiled modules
 * @param packages the folder of the packages that are bundled
 */
export async function bundleThreads(dist, packages) {
  const threads = THREADS.map((file) => join(dist, file)).filter((path) => existsSync(path));
  for (const thread of threads) {
    await build({
      ...COMMON,
      entryPoints: [thread],
      outfile: thread,
      allowOverwrite: true,
      plugins: [locations(dist), bundledPackages(packages, PACKAGES_OF_THREADS)],
    });
  }
}

/**
 * @param dist the folder of the compiled modules
 * @param packages the folder of the packages that are bundled
 */
export async function bundleCommandLine(dist, packages) {
  const target = join(dist, COMMAND_BUNDLE);
  await build({
    ...COMMON,
    entryPoints: [join(dist, COMMAND_LINE)],
    outdir: target,
    splitting: true,
    chunkNames: '[hash]',
    external: SHARED_MODULES.map((file) => join(dist, file)),
    plugins: [locations(dist), bundledPackages(packages, PACKAGES_OF_COMMANDS)],
  });
  const licenses = PACKAGES_OF_COMMANDS.filter((name) => existsSync(join(packages, name)));
  for (const name of licenses) {
    copyFileSync(join(packages, name, 'LICENSE'), join(target, `LICENSE-${name}`));
  }
  writeFileSync(join(dist, COMMAND_LINE), "#!/usr/bin/env node\nimport './bundle/main.js';\n");
  chmodSync(join(dist, COMMAND_LINE), 0o755);
}

/**
 * A bundled module finds files from its own location, as it did before. `dist/` is the last folder of this name in the path of each
 * file in it.
 */
function locations(dist) {
  return {
    name: 'locations',
    setup(building) {
      building.onLoad({ filter: /\.js$/ }, ({ path }) => {
        if (path.includes('node_modules')) return undefined;
        const text = readFileSync(path, 'utf8');
        if (!text.includes('import.meta.url')) return undefined;
        const own = JSON.stringify(relative(dist, path).replaceAll('\\', '/'));
        const location = `(import.meta.url.slice(0, import.meta.url.lastIndexOf('/dist/') + 6) + ${own})`;
        return { contents: text.replaceAll('import.meta.url', () => location) };
      });
    },
  };
}

/** Leaves every other package outside, and leaves out the messages of zod in fifty languages. */
function bundledPackages(packages, names) {
  return {
    name: 'packages',
    setup(building) {
      building.onResolve({ filter: /^[^./]/ }, ({ path, pluginData, kind }) => {
        if (pluginData === 'found' || kind === 'entry-point') return undefined;
        if (!names.includes(path)) return { path, external: true };
        return building.resolve(path, { resolveDir: resolve(packages, '..'), kind, pluginData: 'found' });
      });
      building.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
        contents: "export { default as en } from './en.js';",
      }));
    },
  };
}
