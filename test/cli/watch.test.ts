import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';
import {
  emptyFolder,
  fleetCommand,
  type RunningCommand,
  startFleetCommand,
} from '../support/fleet-command.js';

const LEAKY = readFileSync(packagePath('examples', 'scripts', 'leaky_scaler.py'), 'utf8');
const CLEAN = readFileSync(packagePath('examples', 'scripts', 'clean_pipeline.py'), 'utf8');

let cwd: string;
beforeEach(() => {
  cwd = emptyFolder();
  mkdirSync(join(cwd, 'src'));
  write('.gitignore', 'data/\n');
  mkdirSync(join(cwd, '.git'));
  write('src/a.py', CLEAN);
  write('src/broken.py', 'x = (1,\nprint(score)\n');
});

let running: RunningCommand | undefined;
afterEach(() => running?.child.kill('SIGKILL'));

function write(file: string, text: string): void {
  writeFileSync(join(cwd, file), text);
}

describe('fleet watch', () => {
  it('checks each file once, and again what is written, replaced, added or removed: a line each', async () => {
    // Neither is asked.
    const env = { FLEET_REDIS_URL: 'redis://127.0.0.1:1', ANTHROPIC_API_KEY: 'test-key' };
    running = startFleetCommand(['watch', '.'], { cwd, env });
    await running.printed('2 files checked; waiting for changes');
    expect(running.lines).toContain('src/a.py: clean');
    expect(running.lines.filter((line) => line.startsWith('src/broken.py: '))).toHaveLength(1);

    write('src/a.py', LEAKY);
    await running.printed('src/a.py: corrected: low scaling, lines 41-46');

    write('src/new.tmp', LEAKY);
    renameSync(join(cwd, 'src/new.tmp'), join(cwd, 'src/b.py'));
    await running.printed('src/b.py: corrected: low scaling');

    mkdirSync(join(cwd, 'data'));
    write('data/ignored.py', LEAKY);
    mkdirSync(join(cwd, 'deeper/still'), { recursive: true });
    write('deeper/still/c.py', CLEAN);
    await running.printed('deeper/still/c.py: clean');
    write('deeper/still/c.py', LEAKY);
    await running.printed('deeper/still/c.py: corrected');

    rmSync(join(cwd, 'src/b.py'));
    await running.printed('src/b.py: gone');
    expect(running.lines.filter((line) => line.includes('ignored'))).toEqual([]);
    expect(running.lines.filter((line) => line.startsWith('src/broken.py: '))).toHaveLength(1);
    expect(await running.end('SIGINT')).toBe(130);
  });

  it.each([
    [
      'a folder',
      () => {
        rmSync(join(cwd, 'src'), { recursive: true });
        mkdirSync(join(cwd, 'src'));
        write('src/a.py', LEAKY);
      },
    ],
    [
      'a folder and those below it',
      () => {
        mkdirSync(join(cwd, 'other/sub'), { recursive: true });
        write('other/a.py', LEAKY);
        write('other/sub/b.py', CLEAN);
        renameSync(join(cwd, 'src'), join(cwd, 'data'));
        renameSync(join(cwd, 'other'), join(cwd, 'src'));
      },
    ],
    [
      'the folder itself',
      () => {
        mkdirSync(join(cwd, 'data/src/sub'), { recursive: true });
        write('data/src/a.py', LEAKY);
        write('data/src/sub/b.py', CLEAN);
        renameSync(join(cwd, 'src'), join(cwd, 'old'));
        renameSync(join(cwd, 'data/src'), join(cwd, 'src'));
      },
      'src',
    ],
  ])('goes on in %s that was replaced under its name', async (_what, replace, folder = '.') => {
    mkdirSync(join(cwd, 'src/sub'));
    write('src/sub/b.py', LEAKY);
    running = startFleetCommand(['watch', folder], { cwd });
    await running.printed('3 files checked');
    replace();
    await running.printed('src/a.py: corrected');
    for (const file of ['src/a.py', 'src/sub/b.py']) {
      const before = running.lines.length;
      mkdirSync(join(cwd, 'src/sub'), { recursive: true });
      write(file, `${file.endsWith('a.py') ? CLEAN : LEAKY}# again\n`);
      await running.printed(`${file}: ${file.endsWith('a.py') ? 'clean' : 'corrected'}`, before);
    }
  });

  it('goes on while folders are removed below it, and where one cannot be read', async () => {
    const folders = Array.from({ length: 100 }, (_, at) => `src/many/f${at}`);
    for (const folder of folders) {
      mkdirSync(join(cwd, folder), { recursive: true });
      write(`${folder}/x.py`, '');
    }
    mkdirSync(join(cwd, 'src/n\uFFFD'));
    running = startFleetCommand(['watch', '.'], { cwd });
    await running.printed('2 files checked');
    expect(running.lines.filter((line) => line.startsWith('src/n\uFFFD: not checked: '))).toHaveLength(1);
    rmSync(join(cwd, 'src/many'), { recursive: true });
    write('src/a.py', LEAKY);
    await running.printed('src/a.py: corrected');
    expect(running.lines.filter((line) => line.startsWith('src/n\uFFFD: not checked: '))).toHaveLength(1);
  });

  it('--json: an object a line, as of check --json', async () => {
    running = startFleetCommand(['watch', '--json', '--exclude', 'broken.py'], { cwd });
    await running.printed('1 file checked');
    const checked = await fleetCommand(['check', '--offline', '--json', 'src/a.py'], { cwd });
    const lines = running.lines.filter((line) => line.startsWith('{'));
    expect(lines.map((line) => JSON.parse(line))).toEqual(JSON.parse(checked.stdout));
    rmSync(join(cwd, 'src'), { recursive: true });
    await running.printed('{"file":"src/a.py","gone":true}');
    expect(await running.end('SIGTERM')).toBe(143);
  });

  it('ends when nobody reads its output any more, and runs as on many cores without a warning', async () => {
    write('cores.cjs', "require('node:os').availableParallelism = () => 5;");
    for (let at = 0; at < 12; at += 1) write(`src/c${at}.py`, CLEAN);
    const env = { NODE_OPTIONS: `--require ${join(cwd, 'cores.cjs')}` };
    running = startFleetCommand(['watch'], { cwd, env });
    running.child.stdout?.once('data', () => running?.child.stdout?.destroy());
    expect(await running.exited).toBe(0);
    expect(running.lines.filter((line) => /Warning|error/.test(line))).toEqual([]);
  });

  it('ends when its folder is removed', async () => {
    const folder = join(cwd, 'src');
    running = startFleetCommand(['watch', '--json', folder]);
    await running.printed('2 files checked');
    rmSync(cwd, { recursive: true });
    expect(await running.exited).toBe(2);
    const message = `the folder ${folder} does not exist`;
    expect(running.lines).toContain(JSON.stringify({ error: { code: 'unreadable-input', message } }));
  });

  it.each([
    ['nowhere', 'the folder nowhere does not exist'],
    ['src/a.py', 'src/a.py is not a folder'],
  ])('%s is refused', async (folder, sentence) => {
    const { stderr, exitCode } = await fleetCommand(['watch', folder], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(sentence);
  });
});
