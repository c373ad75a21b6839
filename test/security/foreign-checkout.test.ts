import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { findRedisServer } from '../../src/fleet/embedded-redis-binary.js';
import { PythonParser } from '../../src/solution/python-parser.js';

/** Modules that the Python child imports, and some that Python imports by itself at its start. */
const MODULES = ['ast', 'json', 'signal', 'struct', 'sitecustomize', 'usercustomize', 'encodings'];

/** Another user's checkout as the working directory, with files that leave a marker when they are run. */
describe('in a hostile checkout as working directory', () => {
  const before = process.cwd();
  const checkout = mkdtempSync(join(tmpdir(), 'hostile-'));
  const packagePrograms = join(checkout, 'node_modules', '.bin');
  const marker = join(checkout, 'marker');

  beforeAll(() => {
    for (const name of MODULES)
      writeFileSync(join(checkout, `${name}.py`), `open(${JSON.stringify(marker)}, "w")\n`);
    for (const folder of ['.', 'bin', join('node_modules', '.bin')]) {
      mkdirSync(join(checkout, folder), { recursive: true });
      for (const program of ['python3', 'redis-server', 'valkey-server']) {
        const path = join(checkout, folder, program);
        writeFileSync(path, `#!/bin/sh\ntouch '${marker}'\nexit 1\n`);
        chmodSync(path, 0o755);
      }
    }
    process.chdir(checkout);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });
  afterAll(() => {
    process.chdir(before);
    rmSync(checkout, { recursive: true, force: true });
  });

  it.each([
    ['modules of the standard library by name', {}],
    [
      'PYTHONPATH, PYTHONHOME and PYTHONSTARTUP',
      { PYTHONPATH: '.', PYTHONHOME: '.', PYTHONSTARTUP: 'ast.py' },
    ],
    ['an empty entry of the PATH', { PATH: ['', process.env.PATH].join(delimiter) }],
    ['relative entries of the PATH', { PATH: ['.', 'bin', process.env.PATH].join(delimiter) }],
    [
      'programs of its packages on the PATH',
      { PATH: [`${packagePrograms}/`, packagePrograms, process.env.PATH].join(delimiter) },
    ],
  ])('neither its Python nor its Redis runs: %s', async (_what, env) => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    expect(await new PythonParser('python3').parse('x = 1\n')).toEqual({ ok: true });
    expect(findRedisServer()).not.toContain(checkout);
    expect(existsSync(marker)).toBe(false);
  });

  it('an interpreter that FLEET_PYTHON names by a relative path is the one of that path', async () => {
    await new PythonParser('bin/python3').parse('x = 1\n');
    expect(existsSync(marker)).toBe(true);
  });
});
