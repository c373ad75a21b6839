// Bundles what is started often in a compiled dist/: a process or thread that loads hundreds of modules one by one takes twice
// as long to start. The modules stay as well, for programs that import them.
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

/** The command line. Its bundle, and those of threads, run with code that V8 compiled earlier. */
const COMMAND_LINE = 'cli/main.js';
/** Folder, beside the module, of such a bundle and its code. */
const CACHED_BUNDLES = 'bundle';

/**
 * Modules of threads, which are started by their path and imported by nobody, with the packages that are bundled too, as they
 * consist of many modules, or are modules that a bundle in CommonJS cannot require.
 */
const PACKAGES_OF_THREADS = {
  'cli/contamination-thread.js': ['js-tokens'],
  'fleet/analysis-task.js': ['diff'],
  'fleet/contamination-thread.js': ['zod', 'js-tokens'],
  'fleet/small-contamination-thread.js': ['zod', 'js-tokens'],
};
const PACKAGES_OF_COMMANDS = ['zod', 'diff', 'commander', 'js-tokens'];

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
  for (const [thread, names] of Object.entries(PACKAGES_OF_THREADS)) {
    if (!existsSync(join(dist, thread))) continue;
    const bundle = await bundleCached(dist, thread, [bundledPackages(packages, names)]);
    copyLicenses(dist, thread, packages, names);
    rmSync(join(dist, thread));
    await writeStart(dist, thread.replace(/\.js$/, '.cjs'), [
      `import { pathToFileURL } from 'node:url';`,
      `import { startThread } from ${JSON.stringify(fromModule(thread, 'code-cache/start-thread.js'))};`,
      'const own = pathToFileURL(__filename);',
      `export default startThread(${urlOf(bundle, 'own')}, ${urlOf(rootFrom(thread), 'own')});`,
    ]);
  }
}

/**
 * @param dist the folder of the compiled modules
 * @param packages the folder of the packages that are bundled
 */
export async function bundleCommandLine(dist, packages) {
  const bundle = await bundleCached(dist, COMMAND_LINE, [
    sharedModules(dist),
    bundledPackages(packages, PACKAGES_OF_COMMANDS),
  ]);
  copyLicenses(dist, COMMAND_LINE, packages, PACKAGES_OF_COMMANDS);
  const shared = SHARED_MODULES.map((file, index) => ({ file, name: `shared${index}` }));
  await writeStart(dist, COMMAND_LINE, [
    '#!/usr/bin/env node',
    `import { startProgram } from ${JSON.stringify(fromModule(COMMAND_LINE, 'code-cache/start-program.js'))};`,
    ...shared.map(
      ({ file, name }) => `import * as ${name} from ${JSON.stringify(fromModule(COMMAND_LINE, file))};`,
    ),
    `const modules = { ${shared.map(({ file, name }) => `${JSON.stringify(sharedName(file))}: ${name}`).join(', ')} };`,
    `const root = ${urlOf(rootFrom(COMMAND_LINE))};`,
    `startProgram(${urlOf(bundle)}, { root, modules });`,
  ]);
  chmodSync(join(dist, COMMAND_LINE), 0o755);
}

/** Address of a module of dist/ as seen from another one. */
function fromModule(importer, file) {
  const path = relative(dirname(importer), file).replaceAll('\\', '/');
  return path.startsWith('.') ? path : `./${path}`;
}

/** Address of dist/ as seen from a module in it. */
const rootFrom = (importer) => `${relative(dirname(importer), '.').replaceAll('\\', '/')}/`;

const urlOf = (address, base = 'import.meta.url') => `new URL(${JSON.stringify(address)}, ${base})`;

/**
 * Writes the file that loads a bundle, with its loader in it: each further module takes a thousandth of a second, and CommonJS saves a
 * thread the loader of ESM.
 */
async function writeStart(dist, file, lines) {
  const path = join(dist, file);
  await build({
    ...COMMON,
    stdin: { contents: lines.join('\n'), resolveDir: dirname(path), sourcefile: path },
    outfile: path,
    allowOverwrite: true,
    format: file.endsWith('.cjs') ? 'cjs' : 'esm',
    plugins: [sharedModules(dist, (shared) => fromModule(file, shared))],
  });
}

/** Under this name a bundle requires a module of dist/ that it shares. */
const sharedName = (file) => `solution-fleet/${file}`;

/**
 * Bundles a module as the function that `src/code-cache/load-bundle.ts` calls.
 * @returns address of the bundle, as seen from the module
 */
async function bundleCached(dist, file, plugins) {
  const folder = join(dist, dirname(file), CACHED_BUNDLES);
  const { outputFiles } = await build({
    ...COMMON,
    entryPoints: [join(dist, file)],
    write: false,
    format: 'cjs',
    plugins: [locations(dist), ...plugins],
    // Otherwise the bundle would have to import packages by itself.
    supported: { 'dynamic-import': false },
  });
  const text = bundleFunction(outputFiles[0].text);
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const name = `${basename(file, '.js')}-${digest}.cjs`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
  return `./${CACHED_BUNDLES}/${name}`;
}

/** Beside a bundle lie the licenses of the packages in it. */
function copyLicenses(dist, file, packages, names) {
  for (const name of names.filter((one) => existsSync(join(packages, one)))) {
    copyFileSync(
      join(packages, name, 'LICENSE'),
      join(dist, dirname(file), CACHED_BUNDLES, `LICENSE-${name}`),
    );
  }
}

/** Parameters of a bundle's function. A script that was compiled earlier can neither import modules nor tell its own location. */
const IMPORT = 'importModule';
const ROOT = 'root';

/**
 * A bundle as the expression of the function that its loader calls.
 * @param text what esbuild writes, whose regular expressions may have other characters than those of ASCII
 */
export function bundleFunction(text) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const ascii = text.replace(/^#!.*/, '').replace(/[^\0-\x7f]/g, escaped);
  return `(function (exports, require, module, ${IMPORT}, ${ROOT}) {${ascii}\n})`;
}

/** Modules of users are imported by the loader. */
export const forLoader = (text) => text.replace(/\bimport\((?=\w+\))/g, `${IMPORT}(`);

/** A bundled module finds files from its own location, as it did before. */
function locations(dist) {
  return {
    name: 'locations',
    setup(building) {
      building.onLoad({ filter: /\.js$/ }, ({ path }) => {
        if (path.includes('node_modules')) return undefined;
        const text = readFileSync(path, 'utf8');
        const own = JSON.stringify(relative(dist, path).replaceAll('\\', '/'));
        const contents = forLoader(text).replaceAll('import.meta.url', () => `(${ROOT} + ${own})`);
        return contents === text ? undefined : { contents };
      });
    },
  };
}

/**
 * Leaves these outside: the loader of a bundle imports them, and hands them to the bundle.
 * @param nameOf what they are imported or required by
 */
function sharedModules(dist, nameOf = sharedName) {
  const files = new Map(SHARED_MODULES.map((file) => [join(dist, file), file]));
  return {
    name: 'shared-modules',
    setup(building) {
      building.onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
        const file = files.get(resolve(resolveDir, path));
        return file === undefined ? undefined : { path: nameOf(file), external: true };
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
