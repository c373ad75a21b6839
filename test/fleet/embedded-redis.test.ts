import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireEmbeddedRedis } from '../../src/fleet/embedded-redis.js';
import { projectStatePath } from '../../src/fleet/project-state.js';
import { checkRedis } from '../../src/fleet/redis-check.js';
import {
  isRunning,
  RedisUser,
  read,
  serverPid,
  supervisorPid,
  write,
} from '../support/embedded-redis-users.js';

let project: string;
let users: RedisUser[];
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'fleet-embedded-'));
  users = [];
});
afterEach(async () => {
  for (const user of users) await user.kill();
  await expect.poll(() => isRunning(supervisorPid(project))).toBe(false);
  // A server that is just ending may still write a file between listing and removing.
  rmSync(project, { recursive: true, force: true, maxRetries: 10 });
});

function startUser(): RedisUser {
  const user = new RedisUser(project);
  users.push(user);
  return user;
}

describe('one server for the commands of a project folder', () => {
  it('keeps jobs: it passes the check that a worker makes, and is private', async () => {
    const redis = await acquireEmbeddedRedis(project);
    await checkRedis(redis.url);
    const folder = projectStatePath(project);
    expect(redis.url).toBe(`unix://${folder}/redis.sock`);
    for (const path of [folder, dirname(folder)]) expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(readdirSync(project)).toEqual([]);
    await redis.release();
  });

  it('is shared by two processes and stopped with the last of them', async () => {
    const [first, second] = [startUser(), startUser()];
    const [url, sameUrl] = await Promise.all([first.url(), second.url()]);
    expect(sameUrl).toBe(url);
    const [server, supervisor] = [await serverPid(url), supervisorPid(project)];
    await write(url, 'key', 'value');
    await first.release();
    expect(await serverPid(url)).toBe(server);
    expect(await read(url, 'key')).toBe('value');
    await second.release();
    expect(isRunning(server)).toBe(false);
    await expect.poll(() => isRunning(supervisor)).toBe(false);
  });

  it('is started once by five commands that begin at the same instant', async () => {
    const starting = Array.from({ length: 5 }, startUser);
    const urls = await Promise.all(starting.map((user) => user.url()));
    const pids = await Promise.all(urls.map(serverPid));
    expect(new Set(pids).size).toBe(1);
    // A second server on the same data would have left its start in the log.
    const log = readFileSync(join(projectStatePath(project), 'redis.log'), 'utf8');
    expect(log.match(/Redis is starting|Valkey is starting/g)).toHaveLength(1);
  });

  it('has two users if one process acquires it twice', async () => {
    const first = await acquireEmbeddedRedis(project);
    const second = await acquireEmbeddedRedis(project);
    const server = await serverPid(first.url);
    await first.release();
    await first.release();
    expect(await serverPid(second.url)).toBe(server);
    await second.release();
    expect(isRunning(server)).toBe(false);
  });

  it('has its data again when it is started again', async () => {
    const first = await acquireEmbeddedRedis(project);
    await write(first.url, 'key', 'value');
    await first.release();
    const second = await acquireEmbeddedRedis(project);
    expect(await read(second.url, 'key')).toBe('value');
    await second.release();
  });

  it('does not count a connection that only looks whether a supervisor is there', async () => {
    const redis = await acquireEmbeddedRedis(project);
    const server = await serverPid(redis.url);
    const looking = connect(join(projectStatePath(project), 'control.sock'));
    await once(looking, 'connect');
    await redis.release();
    expect(isRunning(server)).toBe(false);
    looking.destroy();
  });

  it('can be taken by a command that comes while it is being stopped', async () => {
    const first = await acquireEmbeddedRedis(project);
    const leaving = first.release();
    const second = await acquireEmbeddedRedis(project);
    await leaving;
    await write(second.url, 'key', 'value');
    await second.release();
  });
});

describe('users that end in other ways', () => {
  it('survives kill -9 of a user, and another goes on with all data', async () => {
    const [first, second] = [startUser(), startUser()];
    const [url] = await Promise.all([first.url(), second.url()]);
    const server = await serverPid(url);
    await write(url, 'key', 'value');
    await first.kill();
    expect(await serverPid(url)).toBe(server);
    expect(await read(url, 'key')).toBe('value');
    await second.release();
    expect(isRunning(server)).toBe(false);
  });

  it('ends by itself after kill -9 of its last user, with its data on disk', async () => {
    const user = startUser();
    const url = await user.url();
    const server = await serverPid(url);
    await write(url, 'key', 'value');
    await user.kill();
    await expect.poll(() => isRunning(server)).toBe(false);
    const next = await acquireEmbeddedRedis(project);
    expect(await read(next.url, 'key')).toBe('value');
    await next.release();
  });

  it('is not reached by Ctrl-C in the terminal of the command that started it', async () => {
    const first = startUser();
    const url = await first.url();
    const second = startUser();
    await second.url();
    const server = await serverPid(url);
    await first.interrupt();
    expect(await serverPid(url)).toBe(server);
    await second.release();
  });

  it('does not keep a command alive that forgets to release it', async () => {
    const user = startUser();
    await user.url();
    // Standard input ends: the program has nothing left to do but the connection to the supervisor.
    user.process.stdin?.end();
    expect(await user.says()).toBe('ended');
  });

  it('passes none of the keys of the command on', async () => {
    process.env.ANTHROPIC_API_KEY = 'secret-of-the-command';
    const redis = await acquireEmbeddedRedis(project);
    delete process.env.ANTHROPIC_API_KEY;
    for (const pid of [supervisorPid(project), await serverPid(redis.url)]) {
      if (process.platform !== 'linux') continue;
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('secret-of-the-command');
    }
    await redis.release();
  });
});

describe('servers that end in other ways', () => {
  it('is back on its data after kill -9 of the server, at the same address', async () => {
    const redis = await acquireEmbeddedRedis(project);
    await write(redis.url, 'key', 'value');
    const killed = await serverPid(redis.url);
    process.kill(killed, 'SIGKILL');
    await expect.poll(() => read(redis.url, 'key').catch(() => 'away')).toBe('value');
    expect(await serverPid(redis.url)).not.toBe(killed);
    await redis.release();
  });

  it('goes on after kill -9 of its supervisor, and is still stopped with its last user', async () => {
    const redis = await acquireEmbeddedRedis(project);
    await write(redis.url, 'key', 'value');
    const [server, supervisor] = [await serverPid(redis.url), supervisorPid(project)];
    process.kill(supervisor, 'SIGKILL');
    await expect.poll(() => supervisorPid(project)).not.toBe(supervisor);
    await expect.poll(() => isRunning(server)).toBe(false);
    await expect.poll(() => read(redis.url, 'key').catch(() => 'away')).toBe('value');
    const successor = await serverPid(redis.url);
    await redis.release();
    expect(isRunning(successor)).toBe(false);
  });

  it('replaces a server that kill -9 of everything else left running', async () => {
    const user = startUser();
    const url = await user.url();
    await write(url, 'key', 'value');
    const leftover = await serverPid(url);
    process.kill(supervisorPid(project), 'SIGKILL');
    await user.kill();
    const redis = await acquireEmbeddedRedis(project);
    expect(await read(redis.url, 'key')).toBe('value');
    expect(isRunning(leftover)).toBe(false);
    await redis.release();
  });

  it('ends cleanly when the supervisor gets a signal, as at a shutdown of the machine', async () => {
    const user = startUser();
    const url = await user.url();
    const server = await serverPid(url);
    await write(url, 'key', 'value');
    user.process.kill('SIGSTOP');
    process.kill(supervisorPid(project), 'SIGTERM');
    await expect.poll(() => isRunning(server)).toBe(false);
    await expect.poll(() => isRunning(supervisorPid(project))).toBe(false);
  });
});
