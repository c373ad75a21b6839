import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isPrivateGroupOf } from '../../src/fleet/private-group.js';
import { openProjectState, projectStatePath } from '../../src/fleet/project-state.js';
import { safeFolder } from '../../src/fleet/safe-folders.js';
import { homeOfSystem, stateDirectory, stateDirectoryPath } from '../../src/fleet/state-directory.js';
import { packagePath } from '../../src/package-root.js';

const IS_ROOT = process.getuid?.() === 0;
const SOMEBODY_ELSE = 54_321;
/** A main group that has neither the number nor the name of its user. */
const SHARED_GROUP = 54_322;
const OF_SYSTEM = join(homeOfSystem() ?? '', '.local', 'state', 'solution-fleet');

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'state-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(scratch, { recursive: true, force: true });
});

function environment(values: { readonly XDG_STATE_HOME?: string; readonly HOME?: string }): void {
  vi.stubEnv('XDG_STATE_HOME', values.XDG_STATE_HOME ?? '');
  vi.stubEnv('HOME', values.HOME ?? scratch);
}

describe('the state directory', () => {
  it('is that of the XDG specification, created for this user alone', () => {
    environment({ XDG_STATE_HOME: join(scratch, 'x', 'y') });
    expect(stateDirectory()).toBe(join(scratch, 'x', 'y', 'solution-fleet'));
    for (const path of ['x', 'x/y', 'x/y/solution-fleet']) {
      expect(statSync(join(scratch, path)).mode & 0o777).toBe(0o700);
    }
    environment({});
    expect(stateDirectory()).toBe(join(scratch, '.local', 'state', 'solution-fleet'));
  });

  it.each(['.', 'state', './x', '../x'])('ignores the relative XDG_STATE_HOME %j', (relative) => {
    environment({ XDG_STATE_HOME: relative });
    expect(stateDirectoryPath()).toBe(join(scratch, '.local', 'state', 'solution-fleet'));
  });

  it.each([
    ['is not set', ''],
    ['is relative', '.'],
    ['does not exist', '/no/such/home'],
  ])('is below the system’s home folder of the user if HOME %s', (_what, home) => {
    environment({ HOME: home });
    expect(stateDirectoryPath()).toBe(OF_SYSTEM);
  });

  it.skipIf(!IS_ROOT)('of root is not in the home folder of another user', () => {
    chownSync(scratch, SOMEBODY_ELSE, SOMEBODY_ELSE);
    environment({});
    expect(stateDirectoryPath()).toBe(OF_SYSTEM);
  });

  it('says in one sentence that it cannot be made, and what to do', () => {
    // No user, not even root, can create folders in the kernel's file system.
    environment({ XDG_STATE_HOME: '/proc/self/state' });
    expect(() => stateDirectory()).toThrow(/^\/proc\/\S+ cannot be used \(.*\); .*XDG_STATE_HOME/);
  });
});

describe('the way to a folder', () => {
  it('may lead through links of this user', () => {
    mkdirSync(join(scratch, 'real'));
    symlinkSync('real', join(scratch, 'one'));
    symlinkSync(join(scratch, 'one'), join(scratch, 'two'));
    expect(safeFolder(join(scratch, 'two', 'new'))).toBe(join(scratch, 'real', 'new'));
  });

  it.each([
    ['a loop of links', () => symlinkSync('loop', join(scratch, 'loop')), 'loop'],
    ['a folder that others can write', () => mkdirMode('open', 0o777), 'open/x'],
    ['a link through one', () => linkThrough('open'), 'link'],
  ])('may not be %s', (_what, prepare, path) => {
    prepare();
    expect(() => safeFolder(join(scratch, path))).toThrow(/too many symbolic links|written by other users/);
  });

  it.skipIf(!IS_ROOT)('may not be a link or a folder of another user, not even for root', () => {
    mkdirMode('theirs', 0o755);
    chownSync(join(scratch, 'theirs'), SOMEBODY_ELSE, SOMEBODY_ELSE);
    expect(() => safeFolder(join(scratch, 'theirs', 'x'))).toThrow('belongs to another user (54321)');
  });

  function linkThrough(name: string): void {
    mkdirMode(name, 0o777);
    symlinkSync(`${name}/x`, join(scratch, 'link'));
  }

  function mkdirMode(name: string, mode: number): void {
    mkdirSync(join(scratch, name));
    chmodSync(join(scratch, name), mode);
  }
});

describe('the state of a project', () => {
  it('is one for every way to the project, and has a name that people can read', () => {
    environment({ XDG_STATE_HOME: join(scratch, 'state') });
    const project = join(scratch, 'My project: ünïcode\n and long');
    mkdirSync(project);
    symlinkSync(project, join(scratch, 'link'));
    const { path, created } = openProjectState(project);
    expect(path).toMatch(/\/My_project_n_code_an-[0-9a-f]{16}$/);
    expect(created).toBe(true);
    expect(openProjectState(join(scratch, 'link'))).toEqual({ path, created: false });
    expect(projectStatePath(`${project}/./.`)).toBe(path);
  });

  it('may be in the home folder of the user, if that is the project', () => {
    const home = homeOfSystem() ?? '';
    vi.stubEnv('XDG_STATE_HOME', mkdtempSync(join(home, '.fleet-test-')));
    try {
      expect(openProjectState(home).created).toBe(true);
    } finally {
      rmSync(process.env.XDG_STATE_HOME ?? '', { recursive: true });
    }
  });

  it.each([
    ['does not exist', 'missing'],
    ['is a file', 'file'],
  ])('is rejected if the project %s', (_what, name) => {
    environment({ XDG_STATE_HOME: join(scratch, 'state') });
    writeFileSync(join(scratch, 'file'), '');
    expect(() => openProjectState(join(scratch, name))).toThrow(/FLEET_DATA_DIR/);
  });
});

describe('a group that may write to a folder on the way', () => {
  const users =
    'root:x:0:0::/root:/bin/sh\nann:x:1001:1001::/home/ann:/bin/sh\nbob:x:1002:100::/home/bob:/bin/sh\n';
  const groups = 'root:x:0:\nusers:x:100:\nann:x:1001:\nlab:x:200:ann,bob\neve:x:1005:bob\n';
  const files = { users, groups };

  it.each([
    ['has the name of the user', { name: 'ann', uid: 1001, gid: 1001 }, 1001],
    ['has the name of the user, and another number', { name: 'ann', uid: 7, gid: 1001 }, 1001],
    ['has the number of a user that the files do not know', { uid: 5000, gid: 5000 }, 5000],
  ])('is private to the user if it %s', (_what, user, gid) => {
    expect(isPrivateGroupOf(user, gid, files)).toBe(true);
  });

  it.each([
    ['is one for all users', { name: 'bob', uid: 1002, gid: 100 }, 100],
    ['has others in it', { name: 'ann', uid: 1001, gid: 200 }, 200],
    ['has the name of the user and another member', { name: 'eve', uid: 1005, gid: 1005 }, 1005],
    ['is the main group of another user too', { name: 'users', uid: 9, gid: 100 }, 100],
    ['is not the main group of the user', { name: 'ann', uid: 1001, gid: 1001 }, 200],
    ['is unknown and has another number', { name: 'kim', uid: 5000, gid: 6000 }, 6000],
  ])('is not if it %s', (_what, user, gid) => {
    expect(isPrivateGroupOf(user, gid, files)).toBe(false);
  });

  it.skipIf(!IS_ROOT)('makes the state directory unusable if it has other users', () => {
    chownSync(scratch, 0, SHARED_GROUP);
    chmodSync(scratch, 0o770);
    const program = `
      process.setgid(${SHARED_GROUP});
      const { safeFolder } = await import(${JSON.stringify(packagePath('dist', 'fleet', 'safe-folders.js'))});
      try { console.log(safeFolder(${JSON.stringify(scratch)})) } catch (thrown) { console.log(thrown.message) }`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      encoding: 'utf8',
    });
    expect(stdout).toContain('can be written by other users (mode 770)');
  });
});
