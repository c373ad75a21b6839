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

  it('goes on in folders that were replaced under their names, and in its own', async () => {
    mkdirSync(join(cwd, 'src/pkg/sub'), { recursive: true });
    write('src/pkg/sub/b.py', LEAKY);
    running = startFleetCommand(['watch', 'src'], { cwd });
    await running.printed('3 files checked');
    for (const [folder, file] of [
      ['src/pkg', 'src/pkg/sub/b.py'],
      ['src', 'src/b.py'],
    ] as const) {
      const replacement = join(cwd, `data/${folder}`);
      mkdirSync(join(replacement, 'sub'), { recursive: true });
      for (const name of ['b.py', 'sub/b.py']) writeFileSync(join(replacement, name), CLEAN);
      renameSync(join(cwd, folder), join(cwd, `old-${folder.length}`));
      renameSync(replacement, join(cwd, folder));
      await running.printed(`${folder}/sub/b.py: clean`);
      for (const [text, status] of [
        [LEAKY, 'corrected'],
        [CLEAN, 'clean'],
      ] as const) {
        const before = running.lines.length;
        write(file, `${text}# again\n`);
        await running.printed(`${file}: ${status}`, before);
      }
    }
    expect(await running.end('SIGTERM')).toBe(143);
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

  it('--json: an object a line, as of check --json, and ends when its folder is removed', async () => {
    const folder = join(cwd, 'src');
    const file = join(folder, 'sub/b.py');
    mkdirSync(join(folder, 'sub'));
    writeFileSync(file, LEAKY);
    running = startFleetCommand(['watch', '--json', '--exclude', 'broken.py', folder]);
    await running.printed('2 files checked');
    const checked = await fleetCommand(['check', '--offline', '--json', join(folder, 'a.py'), file]);
    const lines = running.lines.filter((line) => line.startsWith('{')).sort();
    expect(lines.map((line) => JSON.parse(line))).toEqual(JSON.parse(checked.stdout));
    rmSync(join(folder, 'sub'), { recursive: true });
    await running.printed(JSON.stringify({ file, gone: true }));
    rmSync(cwd, { recursive: true });
    expect(await running.exited).toBe(2);
    const message = `the folder ${folder} does not exist`;
    expect(running.lines).toContain(JSON.stringify({ error: { code: 'unreadable-input', message } }));
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

  it('prints nothing about the files that were in work when a signal ended it', async () => {
    for (let at = 0; at < 20; at += 1) write(`src/c${at}.py`, `${LEAKY}# ${at}\n`);
    running = startFleetCommand(['watch'], { cwd });
    await running.printed('corrected');
    expect(await running.end('SIGINT')).toBe(130);
    await running.exited;
    expect(running.lines.length).toBeLessThan(20);
    expect(running.lines.filter((line) => /abort|internal/.test(line))).toEqual([]);
  });

  it.each([
    ['nowhere', 'the folder nowhere does not exist'],
    ['src/a.py', 'src/a.py is not a folder'],
    ['src/a.py/sub', 'the folder src/a.py/sub lies below something that is not a folder'],
  ])('%s is refused', async (folder, sentence) => {
    const { stderr, exitCode } = await fleetCommand(['watch', folder], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(sentence);
  });
});
