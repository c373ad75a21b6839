import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ChangedFiles } from '../../src/cli/watch/changed-files.js';
import { emptyFolder } from '../support/fleet-command.js';

function folderOf(...names: readonly string[]): string {
  const folder = emptyFolder();
  mkdirSync(join(folder, 'sub'));
  for (const name of names) writeFileSync(join(folder, name), 'print(1)\n');
  return folder;
}

it('a look finds what is other than at the last one, also by its permissions alone', async () => {
  const folder = folderOf('a.py', 'sub/b.py');
  const files = new ChangedFiles(folder, []);
  const [a, b] = [join(folder, 'a.py'), join(folder, 'sub/b.py')];
  expect((await files.look()).changed).toEqual([a, b]);
  expect(await files.look()).toMatchObject({ changed: [], gone: [], unreadable: [] });
  chmodSync(a, 0o600);
  expect((await files.look()).changed).toEqual([a]);
  rmSync(b);
  expect(await files.look()).toMatchObject({ changed: [], gone: [b] });
});

it('names a folder that cannot be read once, and again after it was readable', async () => {
  const folder = folderOf('a.py');
  const odd = join(folder, 'sub/\uFFFD');
  const files = new ChangedFiles(folder, []);
  const unreadable = async () => (await files.look()).unreadable.map(({ file }) => file);
  mkdirSync(odd);
  expect(await unreadable()).toEqual([odd]);
  expect(await unreadable()).toEqual([]);
  rmSync(odd, { recursive: true });
  expect(await unreadable()).toEqual([]);
  mkdirSync(odd);
  expect(await unreadable()).toEqual([odd]);
});

it.each([
  ['a script was written', false, 'a.py', true],
  ['a notebook was added', true, 'n.ipynb', true],
  ['rules were written', false, '.gitignore', true],
  ['a name was added, which may be of a folder', true, 'new', true],
  ['permissions of a folder were changed', false, 'sub', true],
  ['the system names nothing', false, null, true],
  ['a log was appended to', false, 'run.log', false],
  ['a hidden file was added', true, '.a.py.swp', false],
] as const)('an event can be relevant: %s', async (_what, isNew, name, isRelevant) => {
  const folder = folderOf('a.py', 'run.log');
  const files = new ChangedFiles(folder, []);
  await files.look();
  expect(files.isRelevant(folder, isNew, name)).toBe(isRelevant);
});
