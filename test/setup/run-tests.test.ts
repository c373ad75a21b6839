import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'fleet-run-tests-'));
  mkdirSync(join(project, 'test'));
  mkdirSync(join(project, 'scripts'));
  cpSync(packagePath('scripts', 'run-tests.mjs'), join(project, 'scripts', 'run-tests.mjs'));
  symlinkSync(packagePath('node_modules'), join(project, 'node_modules'));
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

/** Runs the tests of a small project that has one test file with this text. */
function run(
  text: string | undefined,
  ...args: string[]
): { readonly status: number | null; readonly last: string } {
  if (text !== undefined) {
    writeFileSync(
      join(project, 'test', 'a.test.js'),
      `import { beforeAll, describe, it } from 'vitest';\n${text}`,
    );
  }
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(project, 'scripts', 'run-tests.mjs'), ...args],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  return { status, last: stdout.trimEnd().split('\n').at(-1) ?? '' };
}

describe('npm test ends with one line of counts and an exit status that agrees with it', () => {
  const passing = "it('a', () => undefined);";
  const failing = "it('b', () => { throw new Error('no'); });";
  it.each([
    ['all pass', passing, 0, '1 passed, 0 failed'],
    ['one fails', passing + failing, 1, '1 passed, 1 failed'],
    [
      'some are skipped',
      `${passing}it.skip('c', () => undefined);it.todo('d');`,
      0,
      '1 passed, 0 failed, 2 skipped',
    ],
    ['a file cannot be loaded', "import './missing.js';", 1, '0 passed, 1 failed'],
    [
      'a hook fails before its tests',
      `${passing}describe('x', () => { beforeAll(() => { throw new Error('no'); }); it('y', () => undefined); });`,
      1,
      '1 passed, 1 failed, 1 skipped',
    ],
    [
      'a promise is rejected unseen',
      "it('a', () => { Promise.reject(new Error('no')); });",
      1,
      '1 passed, 1 failed',
    ],
    ['every test is skipped', "it.skip('a', () => undefined);", 1, '0 passed, 0 failed, 1 skipped'],
    ['there is no test', undefined, 1, '0 passed, 0 failed'],
  ])('%s', (_, text, status, last) => {
    expect(run(text)).toEqual({ status, last });
  });

  it('passes its arguments to vitest', () => {
    expect(run(passing + failing, '-t', 'a')).toEqual({ status: 0, last: '1 passed, 0 failed, 1 skipped' });
    expect(run(undefined, 'nowhere')).toEqual({ status: 1, last: '0 passed, 0 failed' });
  });
});
