import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { packagePath } from '../../src/package-root.js';

let project: string;
/** A project that was built: most tests begin with a copy. */
let built: string;

function newProject(): void {
  project = mkdtempSync(join(tmpdir(), 'fleet-build-'));
  for (const file of [
    'scripts/build.mjs',
    'scripts/bundle.mjs',
    'scripts/setup',
    'assets',
    'src/code-cache',
    'tsconfig.json',
    'tsconfig.build.json',
    'package.json',
  ]) {
    cpSync(packagePath(file), join(project, file), { recursive: true });
  }
  write('package-lock.json', '{}');
  mkdirSync(join(project, 'node_modules', '@types'), { recursive: true });
  for (const name of ['typescript', '@typescript', '@types/node', 'undici-types', 'esbuild', '@esbuild']) {
    symlinkSync(packagePath('node_modules', name), join(project, 'node_modules', name));
  }
  const main =
    "#!/usr/bin/env node\nimport { Fault } from '../errors.js';\nimport { part } from '../part.js';\n";
  write(
    'src/cli/main.ts',
    `${main}export const commands = ['ask'];\nconsole.log(part, new Fault().name, import.meta.url);\n`,
  );
  write('src/errors.ts', "export class Fault extends Error {\n  override name = 'Fault';\n}\n");
  write('src/error-table.ts', 'export const TABLE = {};\n');
  write('src/other.ts', 'export const two: number = 2;\n');
  const thread = [
    "import { part } from '../part.js';",
    'export default async (_task: string) => [part, import.meta.url];',
    "export const isThorough = (task: string) => task === 'all';",
  ].join('\n');
  write('src/fleet/analysis-task.ts', thread);
  write('src/part.ts', 'export const part: number = 2;\n');
}

beforeAll(() => {
  newProject();
  built = project;
  expect(build()).toEqual({ status: 0, output: '' });
});
afterAll(() => rmSync(built, { recursive: true, force: true }));
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'fleet-build-'));
  cpSync(built, project, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(project, file)), { recursive: true });
  writeFileSync(join(project, file), text);
}

function read(file: string): string {
  return readFileSync(join(project, file), 'utf8');
}

function build(): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(project, 'scripts', 'build.mjs')], {
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

/** What the command line prints. */
function command(...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(join(project, 'dist/cli/main.js'), args, { encoding: 'utf8' });
  return stdout + stderr;
}

/** The thread, and the location of its module. */
function thread() {
  const url = pathToFileURL(join(project, 'dist/fleet/analysis-task.js')).href;
  const load = createRequire(import.meta.url);
  const { default: run } = load(join(project, 'dist/fleet/analysis-task.cjs')) as {
    default: (task: string) => Promise<unknown>;
  };
  return { run, url };
}

const codeOf = (folder: string) =>
  readdirSync(join(project, 'dist', folder, 'bundle')).filter((file) => file.endsWith('.cache'));

const inode = (file: string) => statSync(join(project, file)).ino;

describe('npm run build', () => {
  it('compiles src/ into dist/, with a command that can be run', () => {
    expect(read('dist/cli/main.js')).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(statSync(join(project, 'dist/cli/main.js')).mode & 0o111).toBe(0o111);
    expect(readdirSync(join(project, 'dist')).sort()).toEqual([
      'cli',
      'code-cache',
      'error-table.d.ts',
      'error-table.js',
      'errors.d.ts',
      'errors.js',
      'fleet',
      'other.d.ts',
      'other.js',
      'part.d.ts',
      'part.js',
    ]);
    expect(existsSync(join(project, '.fleet'))).toBe(false);
  });

  it('bundles a thread into its own file, which finds other files as before', async () => {
    rmSync(join(project, 'dist/part.js'));
    const { run, url } = thread();
    expect(await run('some')).toEqual([2, url]);
  });

  it('bundles the command line, which finds other files as before and shares the classes of errors', () => {
    rmSync(join(project, 'dist/part.js'));
    write('dist/errors.js', "export class Fault { name = 'the shared one'; }\n");
    const path = join(project, 'dist/cli/main.js');
    expect(command()).toBe(`2 the shared one ${pathToFileURL(path).href}\n`);
  });

  describe('the code that V8 compiled for a bundle', () => {
    it('is kept once a command has ended, for each command, and used from then on', () => {
      expect(command('ask')).toBe(command());
      expect(codeOf('cli')).toEqual([expect.stringMatching(/^main-\w+\.cjs\.ask\.\w+\.cache$/)]);
      const [file = ''] = codeOf('cli');
      const before = inode(`dist/cli/bundle/${file}`);
      expect(statSync(join(project, `dist/cli/bundle/${file}`)).mode & 0o022).toBe(0);
      expect(command('ask')).toBe(command());
      expect(inode(`dist/cli/bundle/${file}`)).toBe(before);
    });

    it.each([['other'], ['../../../stray'], ['--help']])('is not kept for what is no command: %s', (word) => {
      expect(command(word)).toBe(command());
      expect(codeOf('cli')).toEqual([]);
      expect(existsSync(join(project, 'stray'))).toBe(false);
    });

    it('is neither kept nor used with NODE_DISABLE_COMPILE_CACHE', () => {
      vi.stubEnv('NODE_DISABLE_COMPILE_CACHE', '1');
      onTestFinished(() => {
        vi.unstubAllEnvs();
      });
      expect(command('ask')).toMatch(/^2 /);
      expect(codeOf('cli')).toEqual([]);
    });

    it('is kept for a thread after the task that needs most of it, and once', async () => {
      const { run } = thread();
      await run('some');
      expect(codeOf('fleet')).toEqual([]);
      expect(await run('all')).toEqual(await run('some'));
      expect(codeOf('fleet')).toEqual([
        expect.stringMatching(/^analysis-task-\w+\.cjs\.thread\.\w+\.cache$/),
      ]);
    });

    it('is compiled again where it is damaged or of another version', () => {
      const expected = command('ask');
      const [file = ''] = codeOf('cli');
      for (const damaged of ['', 'not code', read(`dist/cli/bundle/${file}`).slice(0, 100)]) {
        write(`dist/cli/bundle/${file}`, damaged);
        expect(command('ask')).toBe(expected);
        expect(statSync(join(project, `dist/cli/bundle/${file}`)).size).toBeGreaterThan(200);
      }
    });

    it('is no change of dist/, and goes with its bundle', () => {
      command('ask');
      const before = inode('dist/other.js');
      expect(build().status).toBe(0);
      expect(inode('dist/other.js')).toBe(before);
      expect(codeOf('cli')).toHaveLength(1);
      write('src/part.ts', 'export const part: number = 3;\n');
      expect(build().status).toBe(0);
      expect(codeOf('cli')).toEqual([]);
      expect(command('ask')).toMatch(/^3 /);
    });
  });

  it('does nothing where nothing has changed', () => {
    const before = inode('dist/other.js');
    expect(build().status).toBe(0);
    expect(inode('dist/other.js')).toBe(before);
  });

  it('compiles again after a change of the sources, and removes what has no source any more', () => {
    write('src/cli/main.ts', 'export const commands = [];\nconsole.log(3);\n');
    rmSync(join(project, 'src/other.ts'));
    write('src/deeper/third.ts', 'export const third: number = 3;\n');
    expect(build().status).toBe(0);
    expect(command()).toBe('3\n');
    expect(existsSync(join(project, 'dist/other.js'))).toBe(false);
    expect(existsSync(join(project, 'dist/deeper/third.js'))).toBe(true);
  });

  it.each([
    [
      'a changed file, which is the only thing that is wrong',
      () => write('dist/other.js', 'export const two = 666;\n'),
    ],
    [
      'a missing file, and one of another hand',
      () => {
        rmSync(join(project, 'dist/other.js'));
        write('dist/stray.js', '');
      },
    ],
    ['no dist/ at all', () => rmSync(join(project, 'dist'), { recursive: true })],
  ])('puts dist/ right again: %s', (_, spoil) => {
    spoil();
    expect(build().status).toBe(0);
    expect(read('dist/other.js')).toContain('two = 2');
    expect(existsSync(join(project, 'dist/stray.js'))).toBe(false);
  });

  it('compiles again after a change of the configuration', () => {
    const before = inode('dist/other.js');
    write('tsconfig.json', read('tsconfig.json').replace('"es2023",\n    "lib"', '"es2022",\n    "lib"'));
    build();
    expect(inode('dist/other.js')).not.toBe(before);
  });

  it('leaves dist/ as it was where the sources do not compile, and says where', () => {
    write('src/other.ts', 'export const two: number = "two";\n');
    const { status, output } = build();
    expect(status).toBe(1);
    expect(output).toMatch(/src\/other\.ts\(1,14\)[\s\S]*The build failed; dist\/ is as it was/);
    expect(read('dist/other.js')).toContain('two = 2');
    // A failure is not remembered as a success.
    expect(build().status).toBe(1);
  });

  it('refuses to build where one byte of the compiled grammar is another, also where dist/ is up to date', () => {
    const path = join(project, 'assets', 'tree-sitter-python.wasm');
    const bytes = readFileSync(path);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    const { status, output } = build();
    expect(status).toBe(1);
    expect(output).toMatch(
      /assets\/tree-sitter-python\.wasm has the SHA-256 [0-9a-f]{64}, but SHA256SUMS records/,
    );
    rmSync(path);
    expect(build().output).toContain('assets/tree-sitter-python.wasm is missing.');
  });

  it('asks for the set-up where TypeScript is not installed', () => {
    rmSync(join(project, 'node_modules/typescript'));
    expect(build()).toEqual({ status: 2, output: expect.stringContaining('npm run setup') });
  });
});
