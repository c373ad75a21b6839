import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
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
import { runTimed } from '../../scripts/testing/run-timed.mjs';
import { packagePath } from '../../src/package-root.js';

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'fleet-run-tests-'));
  mkdirSync(join(project, 'test'));
  for (const part of ['run-tests.mjs', 'testing']) {
    cpSync(packagePath('scripts', part), join(project, 'scripts', part), { recursive: true });
  }
  // Its node_modules are a folder of their own: a run leaves its report there, where ours must stay.
  mkdirSync(join(project, 'node_modules'));
  for (const name of readdirSync(packagePath('node_modules')).filter((name) => !name.startsWith('.'))) {
    symlinkSync(packagePath('node_modules', name), join(project, 'node_modules', name));
  }
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

/** Runs the tests of a small project that has one test file with this text. */
function run(
  text: string | undefined,
  ...args: string[]
): { readonly status: number | null; readonly last: string; readonly output: string } {
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
  return { status, last: stdout.trimEnd().split('\n').at(-1) ?? '', output: stdout };
}

/** What `npm run check:requirements` reads. */
const report = () => join(project, 'node_modules', '.cache', 'tests.json');

describe('npm test ends with one line of counts and an exit status that agrees with it', () => {
  const passing = "it('a', () => undefined);";
  const failing = "it('b', () => { throw new Error('no'); });";
  it('a file cannot be loaded, a hook fails before its tests, and the process of the tests dies', () => {
    writeFileSync(join(project, 'test', 'missing.test.js'), "import './missing.js';");
    const dies =
      "import { it } from 'vitest'; it('c', () => process.kill(process.pid, 'SIGKILL')); it('d', () => undefined);";
    writeFileSync(join(project, 'test', 'dies.test.js'), dies);
    const hook =
      "describe('x', () => { beforeAll(() => { throw new Error('no'); }); it('y', () => undefined); });";
    const { status, last, output } = run(passing + hook, 'test/');
    expect([status, last]).toEqual([1, '1 passed, 4 failed, 1 skipped']);
    // Where an argument chooses the tests, nothing is run again, and the report of the whole suite stays.
    expect(output).not.toContain('Running again');
    expect(existsSync(report())).toBe(false);
  });

  it('a promise is rejected unseen', () => {
    const text = "it('a', () => { Promise.reject(new Error('no')); });";
    expect(run(text, 'test/')).toMatchObject({ status: 1, last: '1 passed, 1 failed' });
  });

  it('passes its arguments to vitest, and counts what is skipped', () => {
    const skipped = "it.skip('c', () => undefined);it.todo('d');";
    expect(run(passing + failing + skipped, '-t', 'a')).toMatchObject({
      status: 0,
      last: '1 passed, 0 failed, 3 skipped',
    });
    expect(run(undefined, 'nowhere')).toMatchObject({ status: 1, last: '0 passed, 0 failed' });
  });
});

describe('a file in which a test failed is run once more, alone', () => {
  /** Fails in its first run and passes in the second. */
  const passesSecond = `import { existsSync, writeFileSync } from 'node:fs';
    it('seldom', () => {
      if (existsSync('ran')) return;
      writeFileSync('ran', '');
      throw new Error('first run');
    });`;

  it('and a test that passes then counts, and is named', () => {
    const { status, last, output } = run(passesSecond);
    expect({ status, last }).toEqual({ status: 0, last: '1 passed, 0 failed' });
    expect(JSON.parse(readFileSync(report(), 'utf8')).testResults).toMatchObject([{ status: 'passed' }]);
    expect(output).toContain('\nflaky: test/a.test.js\n');
    expect(output).toContain('passed when run again, alone: test/a.test.js > seldom\n');
    // The end says where the time went, of both runs together.
    const list = String.raw`( +[\d.]+ s {2}test/a\.test\.js\n){2}`;
    const times = String.raw`Wall time \d+ s, processor time \d+ s .*\n1 passed`;
    expect(output).toMatch(
      new RegExp(`^Slowest files:\n${list}\nMost processor time:\n${list}${times}`, 'm'),
    );
  });

  it('but not beside one that fails both times', () => {
    const { status, last, output } = run(`${passesSecond}it('always', () => { throw new Error('no'); });`);
    expect({ status, last }).toEqual({ status: 1, last: '1 passed, 1 failed' });
    expect(output.match(/passed when run again, alone: .*/g)).toEqual([expect.stringContaining('> seldom')]);
  });
});

describe('the processor time of a run', () => {
  it('is that of the processes that a test starts as well', () => {
    const spin = 'while (process.cpuUsage().user < 2e5) for (let i = 0; i < 1e5; i += 1);';
    const child = `require('node:child_process').execFileSync(process.execPath, ['--eval', '${spin}'])`;
    const { status, cpuSeconds } = runTimed(process.execPath, ['--eval', child], {});
    expect(status).toBe(0);
    expect(cpuSeconds).toBeGreaterThanOrEqual(0.2);
  });
});
