import { Queue } from 'bullmq';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigurationError, RedisError } from '../../src/errors.js';
import { connectProducer, producerConnection, workerConnection } from '../../src/queues/connection.js';
import { redisAddress, redisOptionsFrom } from '../../src/queues/redis-address.js';
import { asRedisError } from '../../src/queues/redis-refusal.js';
import { ScriptSharingRedis } from '../../src/queues/script-sharing-redis.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { TcpProxy } from '../support/tcp-proxy.js';

describe('redisOptionsFrom', () => {
  it.each([
    ['redis://localhost', { host: 'localhost', port: 6379 }],
    ['REDIS://Example.org:7000', { host: 'Example.org', port: 7000 }],
    ['redis://127.0.0.1:6380/3', { host: '127.0.0.1', port: 6380, db: 3 }],
    ['redis://host?db=4', { host: 'host', port: 6379, db: 4 }],
    ['redis://[::1]:6380', { host: '::1', port: 6380 }],
    ['redis://:secret@host', { host: 'host', port: 6379, password: 'secret' }],
    [
      'redis://me:p%40ss%2Fw%3Ard@host/0',
      { host: 'host', port: 6379, username: 'me', password: 'p@ss/w:rd', db: 0 },
    ],
    ['rediss://host:6390', { host: 'host', port: 6390, tls: {} }],
    ['  redis://host\n', { host: 'host', port: 6379 }],
    ['unix:///run/redis.sock', { path: '/run/redis.sock' }],
    ['unix:///run/my%20files/r%C3%A9dis.sock?db=2', { path: '/run/my files/rédis.sock', db: 2 }],
    ['unix://me:p%40ss@/run/redis.sock', { path: '/run/redis.sock', username: 'me', password: 'p@ss' }],
  ])('reads %s', (address, options) => {
    expect(redisOptionsFrom(address)).toEqual(options);
  });

  it.each([
    ['', /no scheme/],
    ['localhost:6379', /no scheme/],
    ['/run/redis.sock', /no scheme/],
    ['http://host', /scheme "http" is not known/],
    ['constructor://host', /scheme "constructor" is not known/],
    ['redis://', /names no host/],
    ['redis:///2', /names no host/],
    ['redis://host:99999', /cannot be read/],
    ['redis://host/two', /database must be a number/],
    ['redis://host/-1', /database must be a number/],
    ['redis://host/1?db=2', /database twice/],
    ['redis://host?database=2', /parameter "database" is not known/],
    ['redis://host#x', /%23/],
    ['unix://relative.sock', /absolute path/],
    ['unix:///a%00b', /NUL/],
    ['unix:///a%zz', /encodes no character/],
    [`unix:///${'a'.repeat(107)}`, /108 bytes; the system allows 107/],
  ])('rejects %s', (address, message) => {
    expect(() => redisOptionsFrom(address)).toThrow(ConfigurationError);
    expect(() => redisOptionsFrom(address)).toThrow(message);
  });

  it.each([
    'redis://me:hunter2@host:badport',
    'redis://:hunter2/x@host',
    'redis://me:hunter2%zz@host',
    'http://me:hunter2@host',
    'unix://me:hunter2@relative',
    'redis://me:hunter2@host/x',
  ])('never shows a password: %s', (address) => {
    const thrown = catchError(() => redisOptionsFrom(address));
    expect(thrown).toBeInstanceOf(ConfigurationError);
    expect(JSON.stringify([thrown, String(thrown), (thrown as Error).stack])).not.toContain('hunter2');
  });

  it('gives back any user, password and database that were encoded', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.nat(999_999),
        (username, password, db) => {
          const user = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`;
          const expected = { username, password, db };
          expect(redisOptionsFrom(`redis://${user}@host/${db}`)).toMatchObject(expected);
          expect(redisOptionsFrom(`unix://${user}@/run/s?db=${db}`)).toMatchObject(expected);
        },
      ),
    );
  });

  it('describes the address of a connection without its password', () => {
    expect(redisAddress(redisOptionsFrom('rediss://me:hunter2@host:7000/2'))).toBe('host:7000 (database 2)');
    expect(redisAddress(redisOptionsFrom('unix://me:hunter2@/run/s'))).toBe('unix:///run/s');
  });
});

describe('connections to a real Redis', () => {
  let redis: TestRedis;
  let proxy: TcpProxy;
  beforeEach(async () => {
    redis = await startTestRedis();
    proxy = await TcpProxy.start({ path: redis.socketPath });
  });
  afterEach(async () => {
    await proxy.stop();
    await redis.stop();
  });

  it('connects by Unix socket and by TCP, into the named database', async () => {
    const overSocket = await connectProducer(`${redis.url}?db=3`);
    const overTcp = await connectProducer(`${proxy.url}/3`);
    await overSocket.set('key', 'value');
    expect(await overTcp.get('key')).toBe('value');
    await Promise.all([overSocket.quit(), overTcp.quit()]);
  });

  it('authenticates with user and password, and reports rejected ones without showing them', async () => {
    const admin = await connectProducer(redis.url);
    await admin.call('ACL', 'SETUSER', 'me', 'on', '>p@ss word', '~*', '&*', '+@all');
    await admin.call('ACL', 'SETUSER', 'default', 'off');
    const client = await connectProducer(`redis://me:p%40ss%20word@127.0.0.1:${proxy.port}`);
    expect(await client.call('ACL', 'WHOAMI')).toBe('me');
    const rejected = await connectProducer(`redis://me:hunter2@127.0.0.1:${proxy.port}`).catch((e) => e);
    expect(rejected).toBeInstanceOf(RedisError);
    expect(rejected).toMatchObject({ code: 'redis-unsuitable' });
    expect(String(rejected)).not.toContain('hunter2');
    await Promise.all([admin.quit(), client.quit()]);
  });

  it('a producer gets a typed error within its limit when Redis is away or silent', async () => {
    await redis.kill();
    await expect(connectProducer(redis.url)).rejects.toMatchObject({ code: 'redis-unreachable' });
    proxy.mode = 'black-hole';
    await expect(connectProducer(proxy.url, { timeoutMs: 100 })).rejects.toMatchObject({
      code: 'redis-unreachable',
      message: expect.stringContaining(`127.0.0.1:${proxy.port} cannot be reached`),
    });
  });

  it('a producer fails while Redis is away, and works again after its return', async () => {
    const client = await connectProducer(redis.url);
    const queue = new Queue('summarize', { connection: client });
    queue.on('error', () => undefined);
    await queue.add('first', {});
    const closed = new Promise((resolve) => client.once('close', resolve));
    await redis.kill();
    await closed;
    const thrown = await queue.add('second', {}).catch((error) => error);
    expect(asRedisError(thrown)).toMatchObject({ code: 'redis-unreachable', retryable: true });
    const ready = new Promise((resolve) => client.once('ready', resolve));
    await redis.restart();
    await ready;
    await queue.add('third', {});
    expect((await queue.getWaiting()).map((job) => job.name).sort()).toEqual(['first', 'third']);
    await queue.close();
    client.disconnect();
  });

  it('a command in flight when the link breaks is reported, not sent a second time', async () => {
    const client = await connectProducer(proxy.url);
    // The request reaches Redis, its answer does not come back.
    proxy.mode = 'half-open';
    const pending = client.incr('counter').catch((error) => error);
    const direct = await connectProducer(redis.url);
    await expect.poll(() => direct.get('counter')).toBe('1');
    const ready = new Promise((resolve) => client.once('ready', resolve));
    proxy.mode = 'open';
    proxy.cut();
    expect(asRedisError(await pending)).toMatchObject({ code: 'redis-unreachable' });
    await ready;
    expect(await direct.get('counter')).toBe('1');
    await Promise.all([client.quit(), direct.quit()]);
  });

  it('a worker connection waits for Redis and goes on after its return', async () => {
    const client = new Redis(workerConnection(redis.url));
    client.on('error', () => undefined);
    await client.set('key', 'value');
    const closed = new Promise((resolve) => client.once('close', resolve));
    await redis.kill();
    await closed;
    const answer = client.ping();
    await redis.restart();
    expect(await answer).toBe('PONG');
    client.disconnect();
  });

  it('sets bounds on every kind of silence', () => {
    expect(workerConnection(redis.url)).toMatchObject({ maxRetriesPerRequest: null, socketTimeout: 11_000 });
    expect(producerConnection(redis.url)).toMatchObject({ commandTimeout: 5_000, enableOfflineQueue: false });
    // A supervised server may pause for any time.
    for (const connectionOf of [workerConnection, producerConnection]) {
      const options = connectionOf(redis.url, { waitForSlow: true });
      expect([options.commandTimeout, options.socketTimeout]).toEqual([undefined, undefined]);
    }
  });

  it('the error of a discarded transaction is the error that discarded it', () => {
    const discarded = (...reasons: string[]) =>
      Object.assign(new Error('EXECABORT Transaction discarded because of previous errors.'), {
        previousErrors: reasons.map((reason) => new Error(reason)),
      });
    expect(asRedisError(discarded('MOVED 1 10.0.0.1:6379'))).toMatchObject({ code: 'redis-unreachable' });
    const wrong = discarded('ERR wrong number of arguments');
    expect(asRedisError(wrong)).toBe(wrong);
  });

  it('leaves errors that are not about the connection alone', () => {
    const other = new Error('WRONGTYPE Operation against a key');
    expect(asRedisError(other)).toBe(other);
    expect(asRedisError('text')).toBe('text');
  });
});

function catchError(run: () => unknown): unknown {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  throw new Error('nothing was thrown');
}

describe('scripts that several connections define', () => {
  interface WithScript {
    answer(...args: string[]): Promise<unknown>;
    answerBuffer(...args: string[]): Promise<unknown>;
  }
  let redis: TestRedis;
  const clients: (ScriptSharingRedis & WithScript)[] = [];
  beforeEach(async () => {
    redis = await startTestRedis();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.disconnect();
    await redis.stop();
  });

  function defining(lua: string, numberOfKeys: number, keyPrefix = '') {
    const client = new ScriptSharingRedis({ path: redis.socketPath, keyPrefix });
    client.defineCommand('answer', { lua, numberOfKeys });
    // It tries to connect until the server is back.
    client.on('error', () => undefined);
    clients.push(client as ScriptSharingRedis & WithScript);
    return client as ScriptSharingRedis & WithScript;
  }

  it('are shared where they are the same, and run on their own connection, alone and in a transaction', async () => {
    const text = 'return redis.call("GET", KEYS[1]) or ARGV[1]';
    const [first, second] = [defining(text, 1), defining(text, 1)];
    expect(second.answer).toBe(first.answer);
    // Before any other: this connection has never sent the script.
    expect(await second.answer('k', 'second')).toBe('second');
    await first.set('k', 'stored');
    expect(await first.answer('k', 'first')).toBe('stored');
    expect(await second.answerBuffer('k', '')).toEqual(Buffer.from('stored'));
    const transaction = second.multi() as ReturnType<ScriptSharingRedis['multi']> & WithScript;
    void transaction.answer('other', 'in it');
    expect(await transaction.exec()).toEqual([[null, 'in it']]);
    // A server that was started again knows no script.
    await redis.restart();
    expect(await second.answer('other', 'again')).toBe('again');
  });

  it('are not shared where their text, keys or prefix of keys differ', async () => {
    expect(await defining('return ARGV[1]', 1).answer('k', 'a')).toBe('a');
    expect(await defining('return ARGV[2]', 1).answer('k', 'a', 'b')).toBe('b');
    expect(await defining('return #KEYS', 2).answer('k', 'l')).toBe(2);
    expect(await defining('return KEYS[1]', 1, 'mine:').answer('k')).toBe('mine:k');
    expect(await defining('return KEYS[1]', 1).answer('k')).toBe('k');
  });
});
