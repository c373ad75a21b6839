import { once } from 'node:events';
import { createServer } from 'node:net';
import { RedisConnection } from 'bullmq';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigurationError, RedisError } from '../../src/errors.js';
import { checkRedis, isAtLeast } from '../../src/fleet/redis-check.js';
import { connectProducer } from '../../src/queues/connection.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function redisWith(...extraArguments: string[]): Promise<TestRedis> {
  const redis = await startTestRedis(extraArguments);
  closers.push(() => redis.stop());
  return redis;
}

/** A server that answers what a Redis of another make or setting says to INFO, HELLO and CONFIG. */
async function serverThatSays(info: string, config = '-ERR unknown command\r\n'): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      for (const [, name] of chunk.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g)) {
        if (name?.toLowerCase() === 'info') socket.write(`$${Buffer.byteLength(info)}\r\n${info}\r\n`);
        else if (name?.toLowerCase() === 'config') socket.write(config);
        else if (name?.toLowerCase() === 'hello') socket.write('%1\r\n$5\r\nproto\r\n:3\r\n');
        else socket.write('+OK\r\n');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `redis://127.0.0.1:${address.port}`;
}

function rejection(address: string, timeoutMs = 5_000): Promise<RedisError> {
  return checkRedis(address, { timeoutMs }).then(
    (server) => Promise.reject(new Error(`accepted ${JSON.stringify(server)}`)),
    (thrown: unknown) => {
      expect(thrown).toBeInstanceOf(RedisError);
      return thrown as RedisError;
    },
  );
}

describe('checkRedis', () => {
  it('accepts a Redis that keeps jobs, and names its version and flavor', async () => {
    const redis = await redisWith();
    const server = await checkRedis(redis.url, {
      warn: (message) => {
        throw new Error(message);
      },
    });
    expect(server.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(['redis', 'valkey']).toContain(server.flavor);
  });

  it.each(['allkeys-lru', 'volatile-ttl', 'allkeys-random'])(
    'rejects the eviction policy %s',
    async (policy) => {
      const redis = await redisWith('--maxmemory-policy', policy);
      const error = await rejection(redis.url);
      expect(error.code).toBe('redis-unsuitable');
      expect(error.message).toContain(`maxmemory-policy is ${policy}`);
      expect(error.message).toContain('CONFIG SET maxmemory-policy noeviction');
    },
  );

  it('finds the policy although CONFIG is forbidden, as on managed servers', async () => {
    const redis = await redisWith('--rename-command', 'CONFIG', '', '--maxmemory-policy', 'allkeys-lru');
    expect((await rejection(redis.url)).message).toContain('allkeys-lru');
  });

  it.each([
    ['forbidden', "-NOPERM User default has no permissions to run the 'config|get' command\r\n"],
    ['unknown', "-ERR unknown command 'CONFIG'\r\n"],
  ])('warns if the policy is not reported and CONFIG is %s', async (_, answer) => {
    const warnings: string[] = [];
    const address = await serverThatSays('redis_version:7.2.4\r\nrole:master\r\n', answer);
    await checkRedis(address, { warn: (message) => warnings.push(message) });
    expect(warnings).toEqual([expect.stringContaining('make sure that it is noeviction')]);
  });

  it('rejects a Redis that is older than BullMQ needs', async () => {
    const address = await serverThatSays('redis_version:4.0.14\r\nmaxmemory_policy:noeviction\r\n');
    const error = await rejection(address);
    expect(error.code).toBe('redis-unsuitable');
    expect(error.message).toContain(`is version 4.0.14, and ${RedisConnection.minimumVersion} or newer`);
  });

  it('warns about a Redis that BullMQ accepts but advises against', async () => {
    const warnings: string[] = [];
    const address = await serverThatSays('redis_version:6.0.16\r\nmaxmemory_policy:noeviction\r\n');
    await checkRedis(address, { warn: (message) => warnings.push(message) });
    expect(warnings).toEqual([expect.stringContaining(RedisConnection.recommendedMinimumVersion)]);
  });

  it.each([
    ['valkey_version:8.1.1\r\nredis_version:7.2.4', { flavor: 'valkey', version: '8.1.1' }],
    ['dragonfly_version:df-v1.27.1\r\nredis_version:7.4.0', { flavor: 'dragonfly', version: '1.27.1' }],
    ['redis_version:6.3.4\r\nexecutable:/usr/bin/keydb-server', { flavor: 'keydb', version: '6.3.4' }],
    ['redis_version:255.255.255', { flavor: 'redis', version: '255.255.255' }],
  ])('knows the flavor of %j', async (info, server) => {
    const address = await serverThatSays(`# Server\r\n${info}\r\nmaxmemory_policy:noeviction\r\n`);
    expect(await checkRedis(address)).toEqual(server);
  });

  it('rejects a replica, which accepts no writes', async () => {
    const master = await redisWith();
    const proxy = await TcpProxy.start({ path: master.socketPath });
    closers.push(() => proxy.stop());
    const replica = await redisWith('--replicaof', '127.0.0.1', String(proxy.port));
    expect((await rejection(replica.url)).message).toContain('read-only replica');
  });

  it('rejects a user without the right to run INFO, and wrong credentials', async () => {
    const redis = await redisWith();
    const admin = await connectProducer(redis.url, { waitForSlow: true });
    await admin.call('ACL', 'SETUSER', 'weak', 'on', '>hunter2', '~*', '+@all', '-info');
    await admin.quit();
    const weak = await rejection(`unix://weak:hunter2@${redis.socketPath}`);
    expect(weak.code).toBe('redis-unsuitable');
    expect(weak.message).toContain('INFO');
    const wrong = await rejection(`unix://weak:hunter3@${redis.socketPath}`);
    expect(wrong.code).toBe('redis-unsuitable');
    expect(wrong.message).not.toContain('hunter3');
  });

  it('rejects an address where nothing listens, and one whose socket is gone', async () => {
    const redis = await redisWith();
    const proxy = await TcpProxy.start({ path: redis.socketPath });
    const { url } = proxy;
    await proxy.stop();
    await redis.kill();
    for (const address of [url, redis.url, 'unix:///nowhere/redis.sock']) {
      const error = await rejection(address);
      expect(error.code).toBe('redis-unreachable');
      expect(error.message).toMatch(/cannot be reached .*(ECONNREFUSED|ENOENT).*; start it, or correct/);
    }
  });

  it('does not wait forever on a link that drops everything, nor on a frozen server', async () => {
    const redis = await redisWith();
    const proxy = await TcpProxy.start({ path: redis.socketPath });
    closers.push(() => proxy.stop());
    proxy.mode = 'black-hole';
    expect((await rejection(proxy.url, 200)).code).toBe('redis-unreachable');
    redis.pause();
    expect((await rejection(redis.url, 200)).code).toBe('redis-unreachable');
    redis.resume();
    await checkRedis(redis.url);
  });

  it('rejects an invalid address', async () => {
    await expect(checkRedis('localhost:6379')).rejects.toThrow(ConfigurationError);
  });
});

describe('isAtLeast', () => {
  it('orders versions by their numbers', () => {
    const part = fc.nat(300);
    fc.assert(
      fc.property(fc.tuple(part, part, part), fc.tuple(part, part, part), (one, other) => {
        const order = one
          .map((number, index) => number - (other[index] ?? 0))
          .find((difference) => difference !== 0);
        expect(isAtLeast(one.join('.'), other.join('.'))).toBe((order ?? 0) >= 0);
      }),
    );
  });

  it.each(['', 'unknown', 'v7'])('takes %j for too old', (version) => {
    expect(isAtLeast(version, '5.0.0')).toBe(false);
  });
});
