import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';
import { emptyFolder, fleetCommand } from '../support/fleet-command.js';

const LEAKY = readFileSync(packagePath('examples', 'scripts', 'leaky_scaler.py'), 'utf8');

let cwd: string;
beforeEach(() => {
  cwd = emptyFolder();
  writeFileSync(join(cwd, 'leaky.py'), LEAKY);
  writeFileSync(join(cwd, 'clean.py'), 'print(1)\n');
  symlinkSync('leaky.py', join(cwd, 'link.py'));
  mkdirSync(join(cwd, 'folder'));
});

describe('the files of fleet check', () => {
  it('--write corrects the file behind a symbolic link, and --json says what was written', async () => {
    const { stdout, exitCode } = await fleetCommand(['check', '--json', '--write', 'link.py', 'clean.py'], {
      cwd,
    });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject([
      { file: 'link.py', status: 'corrected', written: true },
      { file: 'clean.py', status: 'clean', written: false },
    ]);
    expect(readFileSync(join(cwd, 'leaky.py'), 'utf8')).not.toBe(LEAKY);
  });

  it('--json without --write says nothing of writing', async () => {
    const { stdout } = await fleetCommand(['check', '--json', 'clean.py'], { cwd });
    expect(JSON.parse(stdout)[0]).not.toHaveProperty('written');
  });

  it.each([
    ['./clean.py', 'clean.py and ./clean.py are the same file'],
    ['clean.py', 'clean.py is named twice'],
  ])('clean.py and %s are one file', async (other, sentence) => {
    const { stderr, exitCode } = await fleetCommand(['check', 'clean.py', other], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(sentence);
  });

  it('a file and a symbolic link to it are one file', async () => {
    const { stderr, exitCode } = await fleetCommand(['check', 'leaky.py', 'link.py'], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('leaky.py and link.py are the same file');
  });

  it.each([
    ['nowhere', '--workspace: the folder nowhere does not exist'],
    ['clean.py', '--workspace: clean.py is not a folder'],
  ])('--workspace %s is refused', async (workspace, sentence) => {
    const { stderr, exitCode } = await fleetCommand(['check', '--workspace', workspace, 'clean.py'], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(sentence);
  });
});

describe('standard input stands for one file only', () => {
  it.each([
    [['check', '-', '-']],
    [['refine', '--solution', '-', '--ablation', 'clean.py', '--output', '-']],
    [['refine', '--solution', 'clean.py', '--ablation', '-', '--output', 'clean.py', '--previous', '-']],
    [['contamination', '--known', 'clean.py', '--output', '-', '-']],
  ])('%j is refused', async (args) => {
    const { stderr, exitCode } = await fleetCommand(args, { cwd, input: 'print(1)\n' });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('- may stand for one file only');
  });
});

describe('an error of the whole command, with --json', () => {
  it('check: an entry for each file, and the exit code as without', async () => {
    const env = { FLEET_CONCURRENCY: 'many' };
    const { stdout, exitCode } = await fleetCommand(['check', '--json', 'clean.py', 'leaky.py'], {
      cwd,
      env,
    });
    const error = { code: 'invalid-configuration', message: expect.stringContaining('FLEET_CONCURRENCY') };
    expect(JSON.parse(stdout)).toEqual([
      { file: 'clean.py', error },
      { file: 'leaky.py', error },
    ]);
    expect(exitCode).toBe(2);
  });

  it.each([
    [['config', '--json'], 'invalid-configuration'],
    [['get', 'nothing', '--json'], 'invalid-configuration'],
    [['known', 'import', 'nothing', '--json'], 'invalid-configuration'],
    [['submit', 'nonsense', '--data', 'x', '--json'], 'invalid-configuration'],
    [['list', '--json', '--state', 'nonsense'], 'usage'],
    [['refine', '--json'], 'usage'],
  ])('%j: an object with the error', async (args, code) => {
    const { stdout, exitCode } = await fleetCommand(args, { cwd, env: { FLEET_CONCURRENCY: 'many' } });
    expect(JSON.parse(stdout)).toEqual({ error: { code, message: expect.stringMatching(/\w/) } });
    expect(exitCode).toBe(2);
  });
});
