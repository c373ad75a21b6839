// Bundles the sources and the programs of the tests, so that a process or thread that a test starts loads a few files:
// from TypeScript it would take five times the processor time, and from the unbundled dist/ twice. The tests themselves
// import single sources, which are compiled one by one.
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { bundleFunction, forLoader } from '../bundle.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'test-programs');
/** Folder of the sources that are compiled one by one. */
const MODULES = 'modules';
/** A build that a run started with must outlive the builds of later sources. */
const KEPT_BUILDS = 5;

/** Modules that are started, as the first of a process or thread, or inside of a test process. */
const SOURCE_ENTRIES = [
  'src/cli/run-program.ts',
  'src/fleet/embedded-redis-supervisor.ts',
  'src/solution/index.ts',
];
const TEST_ENTRIES = [
  'fuzz/harness/child.ts',
  'scripts/evaluation/contamination.ts',
  'test/cli/hostile-printers.ts',
  'test/fleet/forgetful-kinds.ts',
  'test/fuzz/broken-targets.ts',
  'test/kinds/word-kinds.ts',
  'test/producers/submitting-program.ts',
  'test/security/long-lists-thread.ts',
  'test/security/slow-texts-thread.ts',
  'test/support/messages-api-main.ts',
  'test/support/test-thread.ts',
];
/** These find files of their own beside their modules, or are imported by name although they are CommonJS. */
const EXTERNAL = ['@bull-board/*', 'bullmq-otel', 'piscina', 'web-tree-sitter'];

/** Threads. Their bundles, and those of the programs, keep the code that V8 compiled for them. */
const CACHED_THREADS = [
  'src/cli/contamination-thread.ts',
  'src/fleet/analysis-task.ts',
  'src/fleet/contamination-thread.ts',
  'src/fleet/small-contamination-thread.ts',
];
/** The programs that are started often; each waits for nothing before its last statement. */
const CACHED_PROGRAMS = [
  'examples/pipeline-ts/main.ts',
  'src/cli/isolated-process.ts',
  'src/cli/main.ts',
  'test/calls/batch-worker.ts',
  'test/calls/counting-worker.ts',
  'test/calls/crashing-worker.ts',
  'test/fleet/embedded-redis-user.ts',
  'test/fleet/isolated-program.ts',
];
/** Loads such a bundle, from the folder of the bundles. */
const LOADER = 'scripts/testing/load-cached.ts';
/** Ending of such a bundle. */
const BUNDLE = '.bundle.cjs';
const LOADER_FILE = 'load-cached.cjs';

/** Packages in CommonJS that are bundled into a module still call these. */
const BANNER = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`;

/** All files that a bundle can hold, except for those of packages. */
function sources() {
  const folders = [
    'src',
    'fuzz',
    join('scripts', 'evaluation'),
    join('test', 'support'),
    join('examples', 'pipeline-ts'),
  ];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)),
  );
  return [...files.filter((file) => file.endsWith('.ts')).sort(), ...TEST_ENTRIES, ...CACHED_PROGRAMS];
}

/** The bundles hold addresses of this checkout, so a copy of it needs its own. */
function digest() {
  const hash = createHash('sha256').update(root);
  for (const file of [
    ...sources(),
    'package-lock.json',
    'scripts/bundle.mjs',
    'scripts/testing/compile.mjs',
    LOADER,
  ]) {
    hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** A bundled module reads its own location to find modules and files: it gets the location that it would have unbundled. */
function locationPlugin(target, adapt = (text) => text) {
  return {
    name: 'locations',
    setup(building) {
      building.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        const url = JSON.stringify(compiledUrl(target, path).href);
        const contents = adapt(text).replaceAll('import.meta.url', url);
        return contents === text ? undefined : { contents, loader: 'ts' };
      });
    },
  };
}

/**
 * A bundle in CommonJS is run inside of a function, which takes no `await` of its own (a program lives until its
 * function has ended anyway), and its loader imports the modules of users for it.
 */
function forCommonJs(text) {
  return forLoader(text.replace(/^await /gm, 'void '));
}

/** Messages of zod in fifty languages are half of its text, which every process would read. */
const ENGLISH_ONLY = {
  name: 'english-only',
  setup(building) {
    building.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/**
 * What a module finds as its own address: a source that of its bundle, anything else its own. The package root lies above
 * dist/ as it lies above src/.
 */
export function compiledUrl(target, path) {
  const file = relative(root, path);
  if (!file.startsWith(`src${sep}`)) return pathToFileURL(path);
  const compiled = file.replace(/\.ts$/, '.js');
  const isRoot = compiled === join('src', 'package-root.js');
  return pathToFileURL(isRoot ? join(root, 'dist', 'package-root.js') : join(target, compiled));
}

/** Where a source is compiled by itself; undefined for any other path. */
export function compiledModule(target, path) {
  const file = relative(root, path);
  if (!file.startsWith(`src${sep}`)) return undefined;
  return join(target, MODULES, file.replace(/\.ts$/, '.js'));
}

/** @returns the folder of the bundles, in which each entry has the path of its source; made where there is none yet. */
export async function compileTestPrograms() {
  const target = join(cache, digest());
  if (exists(target)) return target;
  mkdirSync(cache, { recursive: true });
  const fresh = mkdtempSync(join(cache, 'new-'));
  const common = {
    absWorkingDir: root,
    outbase: root,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  };
  await Promise.all([
    build({
      ...common,
      entryPoints: [...SOURCE_ENTRIES, ...TEST_ENTRIES],
      outdir: fresh,
      bundle: true,
      splitting: true,
      // Commands that run in a test process share the one that the sources use.
      external: [...EXTERNAL, 'undici'],
      banner: { js: BANNER },
      plugins: [locationPlugin(target), ENGLISH_ONLY],
      // Half as much text to parse at each start.
      minifyWhitespace: true,
    }),
    build({
      ...common,
      entryPoints: [LOADER],
      outfile: join(fresh, LOADER_FILE),
      bundle: true,
      format: 'cjs',
    }),
    build({
      ...common,
      entryPoints: [...CACHED_THREADS, ...CACHED_PROGRAMS],
      outdir: fresh,
      bundle: true,
      format: 'cjs',
      outExtension: { '.js': BUNDLE },
      external: EXTERNAL,
      plugins: [locationPlugin(target, forCommonJs), ENGLISH_ONLY],
      supported: { 'dynamic-import': false },
      minifyWhitespace: true,
    }),
    build({
      ...common,
      entryPoints: sources().filter((file) => file.startsWith(`src${sep}`)),
      outdir: join(fresh, MODULES),
      plugins: [locationPlugin(target)],
      // vitest prints the lines of the sources.
      sourcemap: 'linked',
    }),
  ]);
  writeFileSync(join(fresh, 'package.json'), '{"type":"module"}');
  writeCached(fresh, target);
  publish(fresh, target);
  return target;
}

/** The files that are started as threads and as programs: those of threads in CommonJS, as in dist/. */
function writeCached(fresh, target) {
  const loader = join(target, LOADER_FILE);
  /** @returns the path of the bundle, as a string of JavaScript */
  const finish = (source) => {
    const name = source.replace(/\.ts$/, BUNDLE);
    writeFileSync(join(fresh, name), bundleFunction(readFileSync(join(fresh, name), 'utf8')));
    return JSON.stringify(join(target, name));
  };
  const write = (source, ending, text) => writeFileSync(join(fresh, source.replace(/\.ts$/, ending)), text);
  for (const thread of CACHED_THREADS) {
    const load = `require(${JSON.stringify(loader)}).loadThread`;
    write(thread, '.cjs', `module.exports = ${load}(${finish(thread)});\n`);
  }
  const url = JSON.stringify(pathToFileURL(loader).href);
  for (const program of CACHED_PROGRAMS) {
    write(program, '.js', `import { runProgram } from ${url};\nrunProgram(${finish(program)});\n`);
  }
}

const exists = (path) => statSync(path, { throwIfNoEntry: false }) !== undefined;

function publish(fresh, target) {
  try {
    renameSync(fresh, target);
  } catch (error) {
    // Another run was first with the same sources.
    if (!exists(target)) throw error;
    rmSync(fresh, { recursive: true, force: true });
  }
  const builds = readdirSync(cache)
    .map((name) => ({ path: join(cache, name), madeAt: statSync(join(cache, name)).mtimeMs }))
    .sort((a, b) => b.madeAt - a.madeAt);
  for (const { path } of builds.slice(KEPT_BUILDS)) rmSync(path, { recursive: true, force: true });
}
