import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { acquireThrowawayRedis } from '../../src/fleet/embedded-redis.js';
import { sweepThrowawayFolders } from '../../src/fleet/embedded-redis-leftovers.js';
import { THROWAWAY_PREFIX } from '../../src/fleet/embedded-redis-protocol.js';
import { checkRedis } from '../../src/fleet/redis-check.js';
import {
  isRunning,
  RedisUser,
  read,
  serverPid,
  supervisorIn,
  write,
} from '../support/embedded-redis-users.js';

let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'once-'));
  vi.stubEnv('TMPDIR', temporary);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true, force: true });
});

const foldersLeft = () => readdirSync(temporary).filter((name) => name.startsWith(THROWAWAY_PREFIX));
const folderOf = (url: string) => dirname(url.slice('unix://'.length));

describe('a throw-away Redis', () => {
  it.runIf(process.geteuid?.() === 0)('reports it if no folder can be created', async () => {
    // No user, not even root, can create folders in the kernel's file system.
    vi.stubEnv('TMPDIR', '/proc');
    await expect(acquireThrowawayRedis()).rejects.toMatchObject({
      code: 'invalid-configuration',
      message: expect.stringContaining('set TMPDIR'),
    });
  });

  it('is private, passes the check of a worker, keeps nothing on disk, and goes with its folder', async () => {
    const [one, other] = await Promise.all([acquireThrowawayRedis(), acquireThrowawayRedis()]);
    await checkRedis(one.url);
    await write(one.url, 'key', 'value');
    expect(await read(other.url, 'key')).toBeNull();
    const folder = folderOf(one.url);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).filter((name) => /aof|rdb|appendonly/.test(name))).toEqual([]);
    await Promise.all([one.release(), other.release()]);
    expect(foldersLeft()).toEqual([]);
  });

  it('goes after kill -9 of the command', async () => {
    const user = new RedisUser(undefined);
    const url = await user.url();
    const server = await serverPid(url);
    await user.kill();
    await expect.poll(() => isRunning(server)).toBe(false);
    await expect.poll(foldersLeft).toEqual([]);
  });

  it.each([
    ['its server', (url: string) => serverPid(url)],
    ['its supervisor', async (url: string) => supervisorIn(folderOf(url))],
  ])('says that it is lost after kill -9 of %s, and still goes', async (_who, pidOf) => {
    const redis = await acquireThrowawayRedis();
    const server = await serverPid(redis.url);
    const lost = new Promise((resolve) => redis.lost.addEventListener('abort', resolve));
    process.kill(await pidOf(redis.url), 'SIGKILL');
    await lost;
    expect(redis.lost.reason).toMatchObject({ code: 'redis-unreachable' });
    await redis.release();
    await expect.poll(() => isRunning(server)).toBe(false);
    await expect.poll(foldersLeft).toEqual([]);
  });

  it('is swept after kill -9 of everything but the server; folders in use, young ones and those of others stay', async () => {
    const user = new RedisUser(undefined);
    const url = await user.url();
    const server = await serverPid(url);
    const used = await acquireThrowawayRedis();
    const supervisor = supervisorIn(folderOf(url));
    process.kill(supervisor, 'SIGKILL');
    await user.kill();
    await expect.poll(() => isRunning(supervisor)).toBe(false);
    const stay = [`${THROWAWAY_PREFIX}young1`, 'another'].map((name) => join(temporary, name));
    for (const path of stay) mkdirSync(path);
    const link = join(temporary, `${THROWAWAY_PREFIX}link`);
    symlinkSync(stay[1] ?? '', link);
    for (const path of [folderOf(url), folderOf(used.url)]) utimesSync(path, 0, 0);
    // Other threads of the killed supervisor may keep its socket open for a moment, and the sweep then leaves it alone.
    const sweep = async () => {
      await sweepThrowawayFolders(temporary);
      return isRunning(server);
    };
    await expect.poll(sweep).toBe(false);
    expect(existsSync(folderOf(url))).toBe(false);
    for (const path of [...stay, link]) expect(existsSync(path)).toBe(true);
    await write(used.url, 'key', 'value');
    await used.release();
  });
});
