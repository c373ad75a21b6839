import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceFile } from '../../src/cli/check/replace-file.js';
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
    mkdirSync(join(folder, 'links'));
    const link = join(folder, 'links', 'link.py');
    symlinkSync('../script.py', link);
    await replaceFile(link, 'after');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('after');
    expect(readdirSync(join(folder, 'links'))).toEqual(['link.py']);
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
