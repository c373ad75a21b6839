import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endReplacements, replaceFile, writeOutput } from '../../src/cli/replace-file.js';
import { emptyFolder } from '../support/fleet-command.js';

const isAdministrator = process.geteuid?.() === 0;
const NOBODY = 65_534;

let folder: string;
let file: string;
let umask: number;
beforeEach(() => {
  folder = emptyFolder();
  file = join(folder, 'script.py');
  writeFileSync(file, 'before');
  umask = process.umask(0o077);
});
afterEach(() => {
  process.umask(umask);
});

/** Does something as a user who may not do everything. */
async function asAnybody<T>(action: () => Promise<T>): Promise<T> {
  if (!isAdministrator) return action();
  chmodSync(dirname(folder), 0o711);
  chmodSync(folder, statSync(folder).mode | 0o055);
  process.seteuid?.(NOBODY);
  try {
    return await action();
  } finally {
    process.seteuid?.(0);
  }
}

describe('replacing a file', () => {
  it.each([0o644, 0o664, 0o755, 0o600])('keeps mode %o, whatever the umask is', async (mode) => {
    chmodSync(file, mode);
    await replaceFile(file, 'after');
    expect(statSync(file).mode & 0o777).toBe(mode);
    expect(readFileSync(file, 'utf8')).toBe('after');
    expect(readdirSync(folder)).toEqual(['script.py']);
  });

  it.runIf(isAdministrator)('keeps the owner where that is allowed', async () => {
    chownSync(file, NOBODY, NOBODY);
    await replaceFile(file, 'after');
    expect(statSync(file)).toMatchObject({ uid: NOBODY, gid: NOBODY });
  });

  it('replaces what a symbolic link leads to, and leaves the link', async () => {
    const link = join(folder, 'link.py');
    symlinkSync('script.py', link);
    await replaceFile(link, 'after');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('after');
    expect(readdirSync(folder).sort()).toEqual(['link.py', 'script.py']);
  });

  it('leaves a file as it was to which a link leads from another folder', async () => {
    mkdirSync(join(folder, 'links'));
    const link = join(folder, 'links', 'link.py');
    symlinkSync('../script.py', link);
    await expect(replaceFile(link, 'after')).rejects.toMatchObject({
      code: 'unwritable-output',
      message: expect.stringContaining('a symbolic link leads from it to a file outside of'),
    });
    expect(readFileSync(file, 'utf8')).toBe('before');
  });

  it('follows links of the working directory inside it, and none out of it', async () => {
    const checkout = join(folder, 'checkout');
    mkdirSync(join(checkout, 'scripts'), { recursive: true });
    writeFileSync(join(checkout, 'inside.py'), 'before');
    symlinkSync('../inside.py', join(checkout, 'scripts', 'in.py'));
    symlinkSync('../../script.py', join(checkout, 'scripts', 'out.py'));
    symlinkSync('..', join(checkout, 'parent'));
    const before = process.cwd();
    process.chdir(checkout);
    try {
      await replaceFile('scripts/in.py', 'after');
      for (const name of ['scripts/out.py', 'parent/script.py']) {
        await expect(replaceFile(name, 'after'), name).rejects.toMatchObject({ code: 'unwritable-output' });
      }
      expect(readFileSync(join(checkout, 'inside.py'), 'utf8')).toBe('after');
      expect(readFileSync(file, 'utf8')).toBe('before');
    } finally {
      process.chdir(before);
    }
  });

  it('changes nothing of a file to which a link leads that replaces the new text', async () => {
    // Another user, who may write to the folder, waits for the new file.
    const victim = join(folder, 'victim');
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    writeFileSync(victim, 'theirs', { mode: 0o600 });
    const exchanged = new Set<string>();
    const watcher = watch(shared, (_event, name) => {
      if (name?.startsWith('.fleet-') !== true || exchanged.has(name)) return;
      try {
        unlinkSync(join(shared, name));
        exchanged.add(name);
        symlinkSync(victim, join(shared, name));
      } catch {
        // It has its final name already, or the link is there.
      }
    });
    const script = join(shared, 'script.py');
    try {
      for (let round = 0; exchanged.size < 3 && round < 100; round += 1) {
        rmSync(script, { force: true });
        writeFileSync(script, 'before');
        chmodSync(script, 0o666);
        if (isAdministrator) chownSync(script, NOBODY, NOBODY);
        await replaceFile(script, 'after').catch((thrown: unknown) => {
          expect(thrown).toMatchObject({ code: 'unwritable-output' });
        });
        expect(statSync(victim)).toMatchObject({ uid: process.geteuid?.(), mode: 0o100600 });
      }
    } finally {
      watcher.close();
    }
    expect(exchanged.size).toBeGreaterThan(0);
    expect(readFileSync(victim, 'utf8')).toBe('theirs');
  });

  it('takes a file with the longest name there can be', async () => {
    const long = join(folder, `${'x'.repeat(252)}.py`);
    writeFileSync(long, 'before');
    await replaceFile(long, 'after');
    expect(readFileSync(long, 'utf8')).toBe('after');
  });

  it.each([
    ['file', 0o444, 0o777],
    ['folder', 0o666, 0o555],
  ])('leaves all as it was where the %s may not be written', async (_what, mode, folderMode) => {
    chmodSync(file, mode);
    chmodSync(folder, folderMode);
    const replaced = asAnybody(() => replaceFile(file, 'after'));
    await expect(replaced).rejects.toMatchObject({
      code: 'unwritable-output',
      message: `${file} cannot be written: it or its folder may not be written; it is as it was`,
    });
    chmodSync(folder, 0o755);
    expect(readFileSync(file, 'utf8')).toBe('before');
    expect(readdirSync(folder)).toEqual(['script.py']);
  });

  it('leaves no other file where the text cannot be written whole', async () => {
    mkdirSync(join(folder, 'taken'));
    await expect(replaceFile(join(folder, 'taken'), 'after')).rejects.toMatchObject({
      code: 'unwritable-output',
    });
    expect(readdirSync(folder).sort()).toEqual(['script.py', 'taken']);
  });
});

describe('writing a file that may be there', () => {
  it.each([
    ['a link to a file elsewhere', 'report.html'],
    ['a link to a file that is not there', 'new.html'],
    ['a link to a folder elsewhere', 'reports/report.html'],
  ])('writes through no link that leads out of the working directory: %s', async (_what, name) => {
    const checkout = join(folder, 'checkout');
    mkdirSync(checkout);
    symlinkSync('../script.py', join(checkout, 'report.html'));
    symlinkSync('../new.py', join(checkout, 'new.html'));
    symlinkSync('..', join(checkout, 'reports'));
    const before = process.cwd();
    process.chdir(checkout);
    try {
      await expect(writeOutput(name, 'after')).rejects.toMatchObject({ code: 'unwritable-output' });
      await writeOutput('own.html', 'once');
      await writeOutput('own.html', 'twice');
      expect(readFileSync('own.html', 'utf8')).toBe('twice');
    } finally {
      process.chdir(before);
    }
    expect(readFileSync(file, 'utf8')).toBe('before');
    expect(readdirSync(folder).sort()).toEqual(['checkout', 'script.py']);
  });

  it('writes to a stream that is named literally, and to nothing', async () => {
    await writeOutput('/dev/null', 'after');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });
});

// The last one: nothing is written after it.
it('a process that ends waits for what is being written, and begins no more', async () => {
  const writing = replaceFile(file, 'after'.repeat(4_000_000));
  while (readdirSync(folder).length === 1) await new Promise(setImmediate);
  await endReplacements();
  expect(readdirSync(folder)).toEqual(['script.py']);
  expect(statSync(file).size).toBe(20_000_000);
  await writing;
  await expect(replaceFile(file, 'later')).rejects.toMatchObject({
    code: 'unwritable-output',
    message: `${file} cannot be written: the command was ended; it is as it was`,
  });
  await expect(writeOutput(join(folder, 'new.txt'), 'later')).rejects.toThrow('the command was ended');
  expect(readdirSync(folder)).toEqual(['script.py']);
});
