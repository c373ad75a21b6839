import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FolderWatchers } from '../../src/cli/watch/folder-watchers.js';
import { emptyFolder } from '../support/fleet-command.js';

let root: string;
let events: Set<string>;
let watchers: FolderWatchers;
beforeEach(() => {
  root = emptyFolder();
  events = new Set();
  watchers = new FolderWatchers((folder, _isNew, name) => {
    events.add(join(relative(root, folder), String(name)));
    return true;
  });
});
afterEach(() => watchers.close());

/** Watches the root, and these folders below it with their versions. */
function watchFolders(versions: Readonly<Record<string, string>>): void {
  watchers.watch([
    { file: root, version: '' },
    ...Object.entries(versions).map(([name, version]) => ({ file: join(root, name), version })),
  ]);
}

/** Writes a file and waits until a watcher tells so: it then has told all that had happened before. */
async function notices(file: string): Promise<void> {
  writeFileSync(join(root, file), '');
  const { signal } = new AbortController();
  while (!events.has(file)) await watchers.next(signal);
}

it('a folder that was removed is watched again when its name is, even if it has the same inode', async () => {
  mkdirSync(join(root, 'sub'));
  watchFolders({ sub: '1' });
  await notices('sub/before.py');
  rmSync(join(root, 'sub'), { recursive: true });
  mkdirSync(join(root, 'sub'));
  await notices('between.py');
  watchFolders({ sub: '1' });
  await notices('sub/after.py');
});

it('a folder below one that was moved is watched where it is now', async () => {
  mkdirSync(join(root, 'a/deep'), { recursive: true });
  watchFolders({ a: '1', 'a/deep': '2' });
  await notices('a/deep/before.py');
  renameSync(join(root, 'a'), join(root, 'moved'));
  mkdirSync(join(root, 'a/deep'), { recursive: true });
  await notices('between.py');
  watchFolders({ a: '3', 'a/deep': '4' });
  await notices('a/deep/after.py');
  writeFileSync(join(root, 'moved/deep/elsewhere.py'), '');
  await notices('last.py');
  expect(events).not.toContain('a/deep/elsewhere.py');
});

it('a folder that is gone by now is no error', async () => {
  watchFolders({ gone: '1' });
  await notices('a.py');
});
