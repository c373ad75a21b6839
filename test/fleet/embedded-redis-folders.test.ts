import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisError } from '../../src/errors.js';
import { acquireEmbeddedRedis, type EmbeddedRedis } from '../../src/fleet/embedded-redis.js';
import { findRedisServer } from '../../src/fleet/embedded-redis-binary.js';
import { becomeSupervisor } from '../../src/fleet/embedded-redis-lock.js';
import { openProjectState, projectStatePath } from '../../src/fleet/project-state.js';
import { RedisUser, read, serverPid, write } from '../support/embedded-redis-users.js';

let scratch: string;
const acquired: EmbeddedRedis[] = [];
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'fleet-folders-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const redis of acquired.splice(0)) await redis.release();
  rmSync(scratch, { recursive: true, force: true });
});

async function acquire(project: string): Promise<EmbeddedRedis> {
  const redis = await acquireEmbeddedRedis(project);
  acquired.push(redis);
  return redis;
}

function folder(...names: string[]): string {
  const path = join(scratch, ...names);
  mkdirSync(path, { recursive: true });
  return path;
}

describe('project folders of all kinds', () => {
  it.each(['with spaces', 'ümläut-日本', '100%25', 'a#b?c&d', 'quo\'te"s', '-dash', 'line\nbreak'])(
    'works in %j',
    async (name) => {
      const redis = await acquire(folder(name));
      await write(redis.url, 'key', 'value');
      expect(await read(redis.url, 'key')).toBe('value');
      expect(existsSync(join(projectStatePath(join(scratch, name)), 'appendonlydir'))).toBe(true);
    },
  );

  it('works if the path is too long for a socket address, and two commands still share one server', async () => {
    const project = folder('project');
    vi.stubEnv('XDG_STATE_HOME', folder('a'.repeat(60), 'b'.repeat(60), 'ü'.repeat(60)));
    const redis = await acquire(project);
    expect(Buffer.byteLength(redis.url)).toBeLessThan(130);
    await write(redis.url, 'key', 'value');
    // Another TMPDIR is another short way, to the same server.
    const user = new RedisUser(project, { env: { ...process.env, TMPDIR: folder('other-tmp') } });
    const url = await user.url();
    expect(await serverPid(url)).toBe(await serverPid(redis.url));
    expect(await read(url, 'key')).toBe('value');
    await user.release();
    expect(existsSync(join(projectStatePath(project), 'appendonlydir'))).toBe(true);
  });

  it('starts separate servers for two folders', async () => {
    const [one, other] = [await acquire(folder('one')), await acquire(folder('other'))];
    await write(one.url, 'key', 'value');
    expect(await read(other.url, 'key')).toBeNull();
  });

  it('is one server whichever way leads to the folder', async () => {
    const before = process.cwd();
    const name = folder('relative');
    symlinkSync(name, join(scratch, 'link'));
    // Only this file uses the forked test process, so its working directory may be changed.
    process.chdir(scratch);
    try {
      const urls = [await acquire('relative'), await acquire('./link/.'), await acquire(name)];
      expect(new Set(urls.map(({ url }) => url)).size).toBe(1);
    } finally {
      process.chdir(before);
    }
  });
});

describe('leftovers of an earlier run', () => {
  it('does not mind stale sockets, locks and temporary files', async () => {
    const project = folder('stale');
    const { path } = openProjectState(project);
    writeFileSync(join(path, 'supervisor.7'), JSON.stringify({ pid: process.pid, startedAt: 'long ago' }));
    writeFileSync(join(path, 'supervisor.8'), 'not JSON');
    writeFileSync(join(path, 'redis.sock'), '');
    writeFileSync(join(path, 'control.sock'), '');
    writeFileSync(join(path, 'lock-of-1'), '');
    const redis = await acquire(project);
    await write(redis.url, 'key', 'value');
    expect(existsSync(join(path, 'supervisor.9'))).toBe(true);
  });

  it('loads data whose last entry was cut off by a crash', async () => {
    const project = folder('cut');
    const first = await acquireEmbeddedRedis(project);
    await write(first.url, 'first', 'kept');
    await write(first.url, 'second', 'cut');
    await first.release();
    const file = newestAppendOnlyFile(project);
    truncateSync(file.path, file.size - 5);
    const second = await acquire(project);
    expect(await read(second.url, 'first')).toBe('kept');
    expect(await read(second.url, 'second')).toBeNull();
  });

  it('reports why the data cannot be loaded, and leaves them alone', async () => {
    const project = folder('damaged');
    const first = await acquireEmbeddedRedis(project);
    await write(first.url, 'key', 'value');
    await first.release();
    const file = newestAppendOnlyFile(project);
    writeFileSync(file.path, 'this is not an append-only file\n'.repeat(10));
    const thrown = await acquireEmbeddedRedis(project).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(RedisError);
    expect(thrown).toMatchObject({
      code: 'redis-unsuitable',
      message: expect.stringContaining(projectStatePath(project)),
    });
    expect(String(thrown)).toMatch(/append only file/i);
    expect(newestAppendOnlyFile(project).size).toBe(320);
  });
});

describe('the lock of a supervisor', () => {
  it('is taken once while its owner lives, and goes to a successor afterwards', () => {
    const path = folder('lock');
    expect(becomeSupervisor(path)).toBe(true);
    expect(becomeSupervisor(path)).toBe(false);
    writeFileSync(join(path, 'supervisor.1'), JSON.stringify({ pid: process.pid, startedAt: 'long ago' }));
    expect(becomeSupervisor(path)).toBe(true);
    expect(readdirSync(path).sort()).toEqual(['supervisor.1', 'supervisor.2']);
  });

  it('does not fill the folder', () => {
    const path = folder('lock');
    for (let dead = 1; dead <= 30; dead += 1) {
      writeFileSync(
        join(path, `supervisor.${dead}`),
        JSON.stringify({ pid: process.pid, startedAt: 'long ago' }),
      );
    }
    expect(becomeSupervisor(path)).toBe(true);
    expect(readdirSync(path).length).toBeLessThan(6);
  });
});

describe('what cannot work', () => {
  it('says that no server is installed, with the command of this machine that installs one', () => {
    const path = folder('bin');
    expect(() => findRedisServer([path])).toThrow(RedisError);
    expect(() => findRedisServer([path])).toThrow(
      /No redis-server or valkey-server .* Install Redis 6.2 or newer/,
    );
    for (const [manager, command] of [
      ['brew', 'brew install redis'],
      ['apk', 'sudo apk add redis'],
      ['dnf', 'sudo dnf install valkey'],
      ['apt-get', 'sudo apt-get install redis-server'],
    ] as const) {
      writeFileSync(join(path, manager), '', { mode: 0o755 });
      expect(() => findRedisServer([path])).toThrow(command);
    }
  });

  it('finds valkey-server if there is no redis-server, and only executable files', () => {
    const path = folder('bin');
    writeFileSync(join(path, 'redis-server'), '', { mode: 0o644 });
    mkdirSync(join(path, 'deeper', 'redis-server'), { recursive: true });
    writeFileSync(join(path, 'valkey-server'), '', { mode: 0o755 });
    expect(findRedisServer(['', 'relative', join(path, 'deeper'), path])).toBe(join(path, 'valkey-server'));
  });

  it('does not wait forever for a program that answers instead of the supervisor', async () => {
    const project = folder('impostor');
    const { path } = openProjectState(project);
    const connections: (() => void)[] = [];
    const impostor = createServer((socket) => connections.push(() => socket.destroy()));
    await new Promise<void>((resolve) => impostor.listen(join(path, 'control.sock'), resolve));
    await expect(acquireEmbeddedRedis(project, { startLimitMs: 300 })).rejects.toMatchObject({
      code: 'redis-unreachable',
      message: expect.stringContaining('was not ready within'),
    });
    for (const close of connections) close();
    await new Promise((resolve) => impostor.close(resolve));
  });
});

function newestAppendOnlyFile(project: string): { readonly path: string; readonly size: number } {
  const data = join(projectStatePath(project), 'appendonlydir');
  const name = readdirSync(data)
    .filter((file) => file.endsWith('.incr.aof'))
    .sort()
    .at(-1);
  if (name === undefined) throw new Error('no append-only file');
  const path = join(data, name);
  return { path, size: statSync(path).size };
}
