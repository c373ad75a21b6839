import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisError } from '../../src/errors.js';
import { redisAddress, redisOptionsFrom } from '../../src/queues/redis-address.js';
import { asRedisError } from '../../src/queues/redis-refusal.js';
import { FleetOnRedis } from './redis-core.js';
import { RedisProcess, until } from './redis-processes.js';

describe('a master and a replica under three sentinels', () => {
  let master: RedisProcess;
  let replica: RedisProcess;
  let sentinels: RedisProcess[];
  let url: string;

  beforeAll(async () => {
    master = await RedisProcess.start();
    replica = await RedisProcess.start(['--replicaof', '127.0.0.1', String(master.port)]);
    await until(
      () => replica.ask('INFO', 'replication'),
      (info) => info.includes('master_link_status:up'),
    );
    const watch = [
      `sentinel monitor fleet-master 127.0.0.1 ${master.port} 2`,
      'sentinel down-after-milliseconds fleet-master 1000',
      'sentinel failover-timeout fleet-master 5000',
    ].join('\n');
    sentinels = await Promise.all([1, 2, 3].map(() => RedisProcess.start(['--sentinel'], `${watch}\n`)));
    for (const sentinel of sentinels) {
      await until(
        () => sentinel.ask('INFO', 'sentinel'),
        (info) => info.includes('status=ok') && info.includes('slaves=1,sentinels=3'),
      );
    }
    url = `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/fleet-master`;
  });
  afterAll(() => Promise.all([...sentinels, master, replica].map((server) => server.stop())));

  it('takes jobs, a cancellation and a flow, and goes on after the death of the master', async () => {
    const fleet = await FleetOnRedis.start(url, 'fleet');
    expect(await fleet.runCore()).toEqual([
      'extract completed',
      'solution-check cancelled',
      'solution-check completed',
      'summarize completed',
    ]);
    await master.kill();
    await until(
      () =>
        fleet.check('x = 3\n').then(
          () => true,
          (thrown: unknown) => {
            const error = asRedisError(thrown);
            if (error instanceof RedisError && error.code === 'redis-unreachable') return false;
            throw error;
          },
        ),
      Boolean,
    );
    expect(await replica.ask('ROLE')).toMatch(/^master/);
    await fleet.close();
  });
});

describe('addresses of sentinels and clusters', () => {
  it('read hosts, login, TLS, the name of the master and the database', () => {
    expect(redisOptionsFrom('rediss+sentinel://me:p%40ss@a:1,[::1]:2,c/my%20master?db=3')).toEqual({
      sentinels: [
        { host: 'a', port: 1 },
        { host: '::1', port: 2 },
        { host: 'c', port: 6379 },
      ],
      name: 'my master',
      username: 'me',
      password: 'p@ss',
      db: 3,
      tls: {},
      sentinelTLS: {},
      enableTLSForSentinelMode: true,
    });
    expect(redisOptionsFrom('rediss+cluster://:secret@a:1,b')).toMatchObject({
      host: 'a',
      port: 1,
      password: 'secret',
      tls: {},
      Connector: expect.any(Function),
    });
  });

  it.each([
    ['redis+sentinel://a:1,b:2', /name the master of the sentinels/],
    ['redis+sentinel:///name', /names no host/],
    ['redis+sentinel://a,,b/name', /names no host/],
    ['redis+sentinel://a:99999/name', /cannot be read/],
    ['redis+sentinel://a/name?tag=x', /parameter "tag" is not known/],
    ['redis+cluster://a/1', /no databases/],
    ['redis+cluster://a?db=1', /parameter "db" is not known/],
    ['redis+cluster://a?tag={x}', /without braces/],
    ['redis+cluster://', /names no host/],
  ])('refuse %s', (address, message) => {
    expect(() => redisOptionsFrom(address)).toThrow(message);
  });

  it('show no password', () => {
    expect(redisAddress(redisOptionsFrom('redis+sentinel://me:secret@a:1,b:2/m'))).toBe(
      'm of the sentinels a:1,b:2',
    );
    expect(redisAddress(redisOptionsFrom('redis+cluster://me:secret@a:1,b:2'))).toBe('a:1');
  });
});
