import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, filesOf } from '../../src/cli/check/python-files.js';
import { totalsText } from '../../src/cli/check/totals.js';
import { emptyFolder, fleetCommand } from '../support/fleet-command.js';

/** A folder with files: by their paths, their text (default: a script). */
function folderOf(...files: readonly (string | readonly [string, string])[]): string {
  const folder = emptyFolder();
  for (const file of files) {
    const [name, text] = typeof file === 'string' ? ([file, 'print(1)\n'] as const) : file;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
async function found(folder: string, exclude: readonly string[] = [], below = '.'): Promise<string[]> {
  const { files } = await filesOf([join(folder, below)], exclude);
  return files.map((file) => file.slice(folder.length + 1));
}

describe('the files of a folder', () => {
  it('are its scripts and notebooks, by name; hidden folders, packages of others and empty files are left out', async () => {
    const folder = folderOf(
      ...['b.py', 'a/z.ipynb', 'a/y.py', 'notes.txt', 'data.pyc', '.hidden/x.py', '.x.py'],
      ...['node_modules/m/x.py', '__pycache__/x.py', 'lib/site-packages/x.py'],
      ...(['venv/pyvenv.cfg', 'venv/bin/x.py', 'conda/conda-meta/history', 'conda/x.py'] as const),
      ...([
        ['a/__init__.py', ''],
        ['b/__init__.py', '\n\n'],
        ['c/__init__.py', 'x = 1\n'],
      ] as const),
    );
    expect(await found(folder)).toEqual(['a/y.py', 'a/z.ipynb', 'b.py', 'c/__init__.py']);
  });

  it.each([
    ['a name', 'x.py\n', [], ['a/y.py', 'y.py']],
    ['a folder', 'a/\n', [], ['x.py', 'y.py']],
    ['an anchored name', '/x.py\n', [], ['a/x.py', 'a/y.py', 'y.py']],
    ['a negation', '*.py\n!y.py\n', [], ['a/y.py', 'y.py']],
    ['another case', 'X.PY\n', [], ['a/x.py', 'a/y.py', 'x.py', 'y.py']],
    ['a deeper file', '*.py\n', [['a/.gitignore', '!x.py\n']], ['a/x.py']],
    ['a rule of a subfolder', '', [['a/.gitignore', '/x.py\n']], ['a/y.py', 'x.py', 'y.py']],
  ] as const)('follow .gitignore: %s', async (_, rules, more, expected) => {
    const folder = folderOf('x.py', 'y.py', 'a/x.py', 'a/y.py', ['.gitignore', rules], ...more);
    expect(await found(folder)).toEqual(expected);
  });

  it('follow the rules of the repository above, unless they leave out the folder that is named', async () => {
    const folder = folderOf('src/x.py', 'src/y.py', 'build/x.py', 'build/z.py', [
      '.gitignore',
      'build/\nx.py\n',
    ]);
    mkdirSync(join(folder, '.git', 'info'), { recursive: true });
    writeFileSync(join(folder, '.git', 'info', 'exclude'), '/src/y.py\n');
    expect(await found(folder, [], 'build')).toEqual(['build/x.py', 'build/z.py']);
    await expect(found(folder, [], 'src')).rejects.toMatchObject({ code: 'unreadable-input' });
    expect(await found(folder, [], 'src').catch((thrown: Error) => thrown.message)).toContain(
      'src holds no Python',
    );
  });

  it('leave out what --exclude names, and follow no symbolic link', async () => {
    const folder = folderOf('x.py', 'tests/x.py', 'a/tests/y.py', 'a/x_test.py');
    symlinkSync('..', join(folder, 'a', 'loop'));
    symlinkSync('../x.py', join(folder, 'a', 'link.py'));
    expect(await found(folder, ['/tests/', '*_test.py'])).toEqual(['a/tests/y.py', 'x.py']);
  });

  it('are listed once, and a file that is named is never left out', async () => {
    const folder = folderOf('x.py', 'a/y.py', ['.gitignore', 'x.py\n']);
    const [x, a] = [join(folder, 'x.py'), join(folder, 'a')];
    expect((await filesOf([x, folder, a], [])).files).toEqual([x, join(a, 'y.py')]);
    await expect(filesOf([x], ['y.py'])).rejects.toMatchObject({ code: 'usage' });
    expect((await filesOf(['-', join(folder, 'gone.py')], [])).files).toEqual(['-', join(folder, 'gone.py')]);
  });
});

/** Does something as a user who may read what others may read. */
async function asNobody<T>(action: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return await action();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

describe('what cannot be looked into', () => {
  it('is never left out: neither files that cannot be read or reached, nor folders', async () => {
    const folder = folderOf('a.py', 'closed/x.py', 'deep/closed/x.py', 'locked/leak.py', [
      'small.py',
      'x=1\n',
    ]);
    for (const [name, mode] of [
      ['.', 0o755],
      ['closed', 0o300],
      ['deep/closed', 0o300],
      ['locked', 0o744],
      ['small.py', 0o200],
    ] as const) {
      chmodSync(join(folder, name), mode);
    }
    if (process.geteuid?.() === 0) chmodSync(dirname(folder), 0o711);
    // For the owner, the bits of others do not count.
    else chmodSync(join(folder, 'locked'), 0o644);
    const { files, unreadable } = await asNobody(() => filesOf([folder], []));
    const short = (file: string) => file.slice(folder.length + 1);
    expect(files.map(short)).toEqual(['a.py', 'locked/leak.py', 'small.py']);
    expect(unreadable.map(({ file, error }) => [short(file), error.message])).toEqual(
      ['closed', 'deep/closed'].map((name) => [name, `the folder ${join(folder, name)} may not be read`]),
    );
    const closed = await asNobody(() => filesOf([join(folder, 'closed'), join(folder, 'a.py')], []));
    expect(closed.files.map(short)).toEqual(['a.py']);
    expect(closed.unreadable.map(({ file }) => short(file))).toEqual(['closed']);
    for (const name of ['closed', 'deep/closed', 'locked']) chmodSync(join(folder, name), 0o700);
  });

  it('is named by fleet check, which checks the others and ends with 2', async () => {
    const cwd = folderOf('a.py', 'enc/b.py');
    const named = (name: string, byte: number) =>
      Buffer.concat([Buffer.from(join(cwd, 'enc', name)), Buffer.of(byte), Buffer.from('.py')]);
    renameSync(join(cwd, 'enc/b.py'), named('b', 0xff));
    mkdirSync(Buffer.concat([Buffer.from(join(cwd, 'folder')), Buffer.of(0xff)]));
    const { stdout, exitCode } = await fleetCommand(['check', '--offline', '--json', '.'], { cwd });
    expect(exitCode).toBe(2);
    const entries = JSON.parse(stdout) as { file: string; error?: { message: string } }[];
    expect(entries.map(({ file, error }) => [file, error?.message.replace(/^.*?: /, '')])).toEqual([
      ['a.py', undefined],
      ...['enc/b\uFFFD.py', 'folder\uFFFD'].map((file) => [
        file,
        'the name is not UTF-8, or holds U+FFFD; rename the file',
      ]),
    ]);
  });

  it('is not what was removed while the folder was searched', async () => {
    const folder = folderOf('a.py', 'gone.py', ['small.py', 'x=1\n'], 'sub/x.py', 'sub/sub/x.py');
    // It is read after the folder was listed, and before anything in it is looked at.
    const rules = join(folder, '.gitignore');
    execFileSync('mkfifo', [rules]);
    const search = filesBelow(folder, []);
    const listed = await open(rules, 'w');
    for (const name of ['gone.py', 'small.py', 'sub']) rmSync(join(folder, name), { recursive: true });
    await listed.close();
    const { unreadable, files } = await search;
    expect(unreadable).toEqual([]);
    expect(files.map(({ file }) => file)).toEqual([join(folder, 'a.py')]);
    rmSync(folder, { recursive: true });
    await expect(filesBelow(folder, [])).rejects.toMatchObject({
      code: 'unreadable-input',
      message: `the folder ${folder} does not exist`,
    });
  });
});

it('fleet check DIR names each file and ends with a total', async () => {
  const cwd = folderOf('a.py', 'b/c.py', ['b/bad.py', 'print(\n'], ['.gitignore', 'a.py\n']);
  const { stdout, exitCode } = await fleetCommand(['check', '.', '--exclude', 'bad.py'], { cwd });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/b\/c\.py/);
  expect(stdout).not.toMatch(/a\.py|bad\.py|files:/);
  const both = await fleetCommand(['check', 'b', 'a.py'], { cwd });
  expect(both.exitCode).toBe(2);
  expect(both.stdout.trimEnd().split('\n').at(-1)).toBe('3 files: 2 clean, 1 not checked');
});

it('a total counts files once, and leaks', () => {
  const totals = { files: 9, clean: 6, withLeaks: 2, notChecked: 1, leaks: 3, corrected: 1 };
  expect(totalsText(totals)).toBe('9 files: 6 clean, 2 with leaks (3 leaks, 1 corrected), 1 not checked');
});
