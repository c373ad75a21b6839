import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'fleet-setup-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

function runSetup(args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  return spawnSync(process.execPath, [packagePath('scripts', 'setup.mjs'), ...args], {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs an expression on a module of the set-up, in a process of its own, and gives its JSON. */
function ask(module: string, expression: string): unknown {
  const code = `import * as m from ${JSON.stringify(packagePath('scripts', 'setup', module))};
    console.log(JSON.stringify(${expression}) ?? 'null');`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

describe('npm run setup', () => {
  it('finds everything there on a second run, changes nothing and says nothing', () => {
    const before = readFileSync(packagePath('node_modules', '.package-lock.json'), 'utf8');
    expect(runSetup([])).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(readFileSync(packagePath('node_modules', '.package-lock.json'), 'utf8')).toBe(before);
  });

  it('names an unknown argument and shows its usage', () => {
    const { status, stderr } = runSetup(['--frobnicate']);
    expect(status).toBe(2);
    expect(stderr).toMatch(/Unknown argument "--frobnicate"[\s\S]*Usage: /);
    expect(runSetup(['--with', 'everything']).status).toBe(2);
    expect(runSetup(['--help'])).toMatchObject({ status: 0, stdout: expect.stringContaining('--with') });
  });

  it('says that Redis is missing, and exits with 2, where no package manager can be found', () => {
    const { status, stderr } = runSetup([], { PATH: scratch });
    // Where a server is in one of the folders that are searched beside the PATH, there is nothing to say.
    if (status === 0) return;
    expect(status).toBe(2);
    expect(stderr).toMatch(/^Missing: a Redis server\. No package manager .* install it by hand\.\n$/);
  });

  it('skips an optional part aloud where it cannot be had', () => {
    const redis = spawnSync('sh', ['-c', 'command -v redis-server || command -v valkey-server'], {
      encoding: 'utf8',
    });
    symlinkSync(redis.stdout.trim(), join(scratch, 'redis-server'));
    const { status, stderr } = runSetup(['--with', 'chromium'], { PATH: scratch });
    expect(status).toBe(0);
    expect(stderr).toMatch(/^SKIPPED: Missing: Chromium\./);
  });
});

describe('whether node_modules fits the lock file', () => {
  const lock = { version: '1.0.0' };
  function problem(wanted: object, installed: object | string | undefined): unknown {
    writeFileSync(join(scratch, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...wanted } }));
    if (installed !== undefined) {
      mkdirSync(join(scratch, 'node_modules'));
      const text = typeof installed === 'string' ? installed : JSON.stringify({ packages: installed });
      writeFileSync(join(scratch, 'node_modules', '.package-lock.json'), text);
    }
    return ask('npm-dependencies.mjs', `m.dependencyProblem(${JSON.stringify(scratch)})`);
  }

  it.each([
    ['all is there', { 'node_modules/a': lock }, { 'node_modules/a': lock }, null],
    ['nothing is installed', { 'node_modules/a': lock }, undefined, 'they are not installed yet'],
    [
      'the record is cut off',
      { 'node_modules/a': lock },
      '{"packages": {"node_mod',
      'they are not installed yet',
    ],
    [
      'a version differs',
      { 'node_modules/a': lock },
      { 'node_modules/a': { version: '0.9.0' } },
      /a is 0\.9\.0, .* 1\.0\.0/,
    ],
    ['one is missing', { 'node_modules/a': lock }, {}, /node_modules\/a is missing/],
    ['an optional one is missing', { 'node_modules/a': { ...lock, optional: true } }, {}, null],
    [
      'it came from another kind of machine',
      { 'node_modules/a': { ...lock, optional: true, os: ['sunos'] } },
      { 'node_modules/a': lock },
      /another kind of machine/,
    ],
  ])('%s', (_, wanted, installed, expected) => {
    const found = problem(wanted, installed);
    if (expected instanceof RegExp) expect(found).toMatch(expected);
    else expect(found).toBe(expected);
  });
});

describe('the lock of a set-up', () => {
  /** Holds the lock, and reports whether another did at the same time, by a file that must not exist yet. */
  function lockOwner(): ReturnType<typeof spawn> {
    const [lock, inside] = [join(scratch, 'locks', 'a.lock'), join(scratch, 'inside')];
    const code = `import { withLock } from ${JSON.stringify(packagePath('scripts', 'setup', 'lock.mjs'))};
      import { rmSync, writeFileSync } from 'node:fs';
      for (let round = 0; round < 20; round += 1) await withLock(${JSON.stringify(lock)}, async () => {
        writeFileSync(${JSON.stringify(inside)}, '', { flag: 'wx' });
        await new Promise((resolve) => setImmediate(resolve));
        rmSync(${JSON.stringify(inside)});
      });`;
    return spawn(process.execPath, ['--input-type=module', '--eval', code], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  }

  it('lets one process at a time in, and takes over from one that died', async () => {
    mkdirSync(join(scratch, 'locks'));
    const dead = spawn('true');
    await once(dead, 'exit');
    writeFileSync(join(scratch, 'locks', 'a.lock'), String(dead.pid));
    const lockOwners = Array.from({ length: 4 }, lockOwner);
    const codes = await Promise.all(lockOwners.map(async (process) => (await once(process, 'exit'))[0]));
    expect(codes).toEqual([0, 0, 0, 0]);
    expect(readdirSync(join(scratch, 'locks'))).toEqual([]);
  });
});
