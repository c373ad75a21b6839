import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConfigurationError } from '../../src/errors.js';
import { acquireEmbeddedRedis } from '../../src/fleet/embedded-redis.js';
import { openProjectState, projectStatePath } from '../../src/fleet/project-state.js';
import { connectProducer } from '../../src/queues/connection.js';
import { read } from '../support/embedded-redis-users.js';
import { fleetCommand } from '../support/fleet-command.js';
import { PLANTED_KEY, plantHostileData } from '../support/hostile-data.js';

const IS_ROOT = process.getuid?.() === 0;
const SOMEBODY_ELSE = 54_321;

let scratch: string;
let project: string;
let state: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'foreign-'));
  project = join(scratch, 'project');
  state = join(scratch, 'state');
  mkdirSync(project);
  vi.stubEnv('XDG_STATE_HOME', state);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(scratch, { recursive: true, force: true });
});

async function rejection(): Promise<string> {
  const thrown = await acquireEmbeddedRedis(project).then(
    (redis) => redis.release().then(() => 'it was opened'),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(ConfigurationError);
  expect(String(thrown)).toMatch(/XDG_STATE_HOME|FLEET_DATA_DIR/);
  return String(thrown);
}

describe('data that a checkout brings in .fleet', () => {
  it.each([
    ['check', ['check', 'x.py']],
    ['list', ['list']],
  ])('are not opened, changed or moved by %s', async (_name, args) => {
    const old = join(project, '.fleet', 'redis');
    const { marker } = plantHostileData(old);
    symlinkSync('/etc/hostname', join(old, 'redis.log'));
    writeFileSync(join(project, 'x.py'), 'x = 1\n');
    const before = readdirSync(old);
    const { exitCode } = await fleetCommand(args, { cwd: project, env: { XDG_STATE_HOME: state } });
    expect(exitCode).toBe(0);
    expect(existsSync(marker)).toBe(false);
    expect(readdirSync(old)).toEqual(before);
  });

  it('are not in the Redis of the project, and are mentioned once, in one line', async () => {
    plantHostileData(join(project, '.fleet', 'redis'));
    const redis = await acquireEmbeddedRedis(project);
    expect(await read(redis.url, PLANTED_KEY)).toBeNull();
    await redis.release();
    rmSync(state, { recursive: true });
    const options = { cwd: project, env: { XDG_STATE_HOME: state } };
    const note = /^data of version 0\.1\.0 in \S+ are not used; docs\/upgrading\.md .*\n/;
    expect((await fleetCommand(['list'], options)).stderr).toMatch(note);
    expect((await fleetCommand(['list'], options)).stderr).not.toMatch(note);
  });

  it('lead nowhere if .fleet is a symbolic link', async () => {
    const target = join(scratch, 'target');
    mkdirSync(target, { mode: 0o755 });
    symlinkSync(target, join(project, '.fleet'));
    const redis = await acquireEmbeddedRedis(project);
    await redis.release();
    expect(readdirSync(target)).toEqual([]);
    expect(statSync(target).mode & 0o777).toBe(0o755);
  });
});

/** The state folder of the project with hostile data, as something other than this program may have left it there. */
function plantState(): string {
  const path = projectStatePath(project);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  plantHostileData(path);
  return path;
}

describe('a state folder that this program did not make', () => {
  it.each([
    ['has no origin', () => void plantState()],
    [
      'has an origin of another folder',
      () => writeFileSync(join(plantState(), 'origin.json'), JSON.stringify({ project, inode: '1' })),
    ],
    ['has an origin that is no JSON', () => writeFileSync(join(plantState(), 'origin.json'), '{')],
    ['has a pipe for an origin', () => symlinkSync('/dev/stdin', join(plantState(), 'origin.json'))],
    [
      'is a copy of one that it made, attributes and all',
      () => {
        const { path } = openProjectState(project);
        cpSync(path, `${path}.copy`, { recursive: true, preserveTimestamps: true });
        rmSync(path, { recursive: true });
        renameSync(`${path}.copy`, path);
      },
    ],
    [
      'was made for another project',
      () => {
        const other = join(scratch, 'other');
        mkdirSync(other);
        renameSync(openProjectState(other).path, projectStatePath(project));
      },
    ],
    [
      'is a symbolic link',
      () => {
        const { path } = openProjectState(project);
        renameSync(path, join(scratch, 'elsewhere'));
        symlinkSync(join(scratch, 'elsewhere'), path);
      },
    ],
    [
      'lies in a linked folder of the fleet',
      () => {
        const fleet = dirname(openProjectState(project).path);
        renameSync(fleet, join(scratch, 'elsewhere'));
        symlinkSync(join(scratch, 'elsewhere'), fleet);
      },
    ],
    ['can be written by all users', () => chmodSync(openProjectState(project).path, 0o777)],
    ['can be written by its group', () => chmodSync(openProjectState(project).path, 0o770)],
    [
      'is in a fleet folder that all users can write',
      () => chmodSync(dirname(openProjectState(project).path), 0o777),
    ],
    [
      'is in a state folder that all users can write',
      () => chmodSync(dirname(dirname(openProjectState(project).path)), 0o777),
    ],
    [
      'is a file',
      () => {
        const { path } = openProjectState(project);
        rmSync(path, { recursive: true });
        writeFileSync(path, '');
      },
    ],
  ])('is rejected if it %s', async (_what, prepare) => {
    prepare();
    const modes = statSync(state).mode;
    await rejection();
    // Nothing was put right on the way.
    expect(statSync(state).mode).toBe(modes);
    expect(existsSync(join(projectStatePath(project), 'marker'))).toBe(false);
  });

  it.skipIf(!IS_ROOT).each([
    ['folder of the project', () => openProjectState(project).path],
    ['folder of the fleet', () => dirname(openProjectState(project).path)],
    ['state directory', () => dirname(dirname(openProjectState(project).path))],
    ['folder above the state directory', () => dirname(dirname(dirname(openProjectState(project).path)))],
    ['origin', () => join(openProjectState(project).path, 'origin.json')],
  ])('is rejected if the %s belongs to another user', async (_what, prepare) => {
    chownSync(prepare(), SOMEBODY_ELSE, SOMEBODY_ELSE);
    expect(await rejection()).toMatch(/another user|plain file of this user/);
  });

  it.each(['redis.log', 'supervisor.log', 'redis.sock', 'control.sock', 'supervisor.1', 'appendonlydir'])(
    'is rejected if %s in it is a link; its target stays unchanged',
    async (name) => {
      const target = join(scratch, 'target');
      writeFileSync(target, 'as it was');
      symlinkSync(target, join(openProjectState(project).path, name));
      await rejection();
      expect(readFileSync(target, 'utf8')).toBe('as it was');
    },
  );

  it.each([
    ['itself', () => project],
    ['a folder below it', () => join(project, 'a', 'b')],
  ])('is rejected if the state directory is in the project folder: %s', async (_what, where) => {
    vi.stubEnv('XDG_STATE_HOME', where());
    plantState();
    expect(await rejection()).toContain('inside the project folder');
  });

  it('is rejected if HOME is the checkout and the command runs below it', async () => {
    vi.stubEnv('XDG_STATE_HOME', '');
    vi.stubEnv('HOME', project);
    const below = join(project, 'below');
    mkdirSync(below);
    const path = projectStatePath(below);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const { marker } = plantHostileData(path);
    writeFileSync(join(path, 'origin.json'), JSON.stringify({ project: below, inode: '7' }));
    await expect(acquireEmbeddedRedis(below)).rejects.toThrow('was not made by this program');
    expect(existsSync(marker)).toBe(false);
  });
});

describe('a server that is made to load hostile data all the same', () => {
  it('runs none of their commands that reach code, files or other hosts', async () => {
    const { marker } = plantHostileData(openProjectState(project).path);
    const opened = await acquireEmbeddedRedis(project).then(
      (redis) => redis.release().then(() => 'opened'),
      (error: unknown) => String(error),
    );
    expect(existsSync(marker)).toBe(false);
    // Without a compiler the data are only keys, and the folder belongs to the user.
    expect(opened).toMatch(/unknown command.*MODULE|opened/i);
  });

  it('knows none of them from its clients either', async () => {
    const redis = await acquireEmbeddedRedis(project);
    const client = await connectProducer(redis.url, { waitForSlow: true });
    const lines = [
      ...['MODULE LIST', 'CONFIG GET dir', 'DEBUG OBJECT x', 'ACL LIST', 'SAVE', 'BGSAVE', 'RESTORE x 0 x'],
      ...['REPLICAOF 127.0.0.1 1', 'SLAVEOF 127.0.0.1 1', 'MIGRATE 127.0.0.1 1 x 0 10', 'PSYNC ? -1', 'SYNC'],
    ];
    const answers = await Promise.all(
      lines.map((line) => {
        const [command = '', ...args] = line.split(' ');
        return client.call(command, ...args).catch((error: unknown) => String(error));
      }),
    );
    client.disconnect();
    await redis.release();
    expect(answers.filter((answer) => !/unknown command/i.test(String(answer)))).toEqual([]);
  });
});
