import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assignPriorities } from '../../src/queues/fairness/assign-priorities.js';
import { redisOfFile } from '../support/redis.js';
import { takeJobs } from '../support/take-jobs.js';

const BAND = 2 ** 32;
const redis = redisOfFile();
let client: Redis;
let prefixes = 0;

beforeAll(() => {
  client = new Redis({ path: redis.socketPath });
});
afterAll(() => client.disconnect());

/** A queue whose jobs are only what fairness looks at: their place and their priority. */
function newQueue(rebaseAt?: number) {
  prefixes += 1;
  const prefix = `submitters-${prefixes}`;
  const key = `${prefix}:extract`;
  const prioritized = `${key}:prioritized`;
  return {
    async add(submitter: string, tenant: string, ids: readonly string[], priority = 0) {
      const requests = ids.map((id) => ({ id, tenant, submitter, priority }));
      const tags = await assignPriorities(client, prefix, 'extract', requests, rebaseAt);
      for (const [at, id] of ids.entries()) {
        const tag = tags[at] ?? 0;
        await client.hset(`${key}:${id}`, 'priority', tag);
        await client.zadd(prioritized, tag * BAND + (await client.incr(`${key}:pc`)), id);
      }
    },
    waiting: () => client.zrange(prioritized, '0', '-1'),
    remove: (id: string) => client.zrem(prioritized, id),
    take: (count: number) => takeJobs(client, prefix, 'extract', count),
  };
}

const names = (tenant: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => `${tenant}${at + from}`);
const letters = (ids: readonly string[]) => ids.map((id) => id[0]).join('');

describe('turns of submitters', () => {
  it.each([
    ['one tenant name', () => 'same'],
    ['3,000 tenant names', (at: number) => `name ${at}`],
  ])('3,000 jobs of one submitter under %s go before one job of another', async (_name, tenantOf) => {
    const queue = newQueue();
    for (const [at, id] of names('m', 3_000).entries()) await queue.add('many', tenantOf(at), [id]);
    await queue.add('other', 'same', ['single']);
    expect((await queue.waiting()).indexOf('single')).toBeLessThanOrEqual(1);
  });

  it.each([
    ['of priorities', (at: number) => at % 7],
    ['without', () => 0],
  ])(
    'keep Redis busy for a short time at once, whatever tenants a batch has: %s',
    async (_name, priorityOf) => {
      const prefix = `busy-${_name}`;
      const request = (tenant: string, at: number, priority: number) => ({
        id: `${tenant}-${at}`,
        tenant,
        submitter: 's',
        priority,
      });
      const first = names('a', 1_000).map((_, at) => request('a', at, 5));
      await assignPriorities(client, prefix, 'extract', first);
      for (const [at, { id }] of first.entries()) await client.zadd(`${prefix}:extract:prioritized`, at, id);
      await client.config('RESETSTAT');
      const many = names('t', 500).map((name, at) => request(name, at, priorityOf(at)));
      await assignPriorities(client, prefix, 'extract', many);
      const calls = [...(await client.info('commandstats')).matchAll(/cmdstat_(\w+):calls=(\d+)/g)].map(
        ([, name = '', count]) => [name, Number(count)] as const,
      );
      const runs = calls.find(([name]) => name === 'evalsha')?.[1] ?? 0;
      const inside = calls.reduce((sum, [, count]) => sum + count, 0) - runs;
      expect(runs).toBeGreaterThan(0);
      // A run of all 500 has more than 350,000.
      expect(inside / runs).toBeLessThan(6_000);
    },
  );

  it('a batch with priorities that names tenants again is little more work for Redis than one without', async () => {
    const tenants = names('t', 3_000);
    /** Seconds that Redis computes for a batch with a job for each tenant. */
    const workFor = async (prefix: string, priority: number) => {
      const spent = async () => Number(/used_cpu_user:([\d.]+)/.exec(await client.info('cpu'))?.[1]);
      const requests = tenants.map((tenant) => ({
        id: `${tenant}-${priority}`,
        tenant,
        submitter: 's',
        priority,
      }));
      const before = await spent();
      const tags = await assignPriorities(client, prefix, 'extract', requests);
      const work = (await spent()) - before;
      const waiting = requests.flatMap(({ id }, at) => [(tags[at] ?? 0) * BAND + at, id]);
      await client.zadd(`${prefix}:extract:prioritized`, ...waiting);
      return work;
    };
    const plain = await workFor('plain', 0);
    await workFor('again', 5);
    // When each job looked at the 500 next ones of its submitter, it was seven times the work.
    expect((await workFor('again', 1)) / plain).toBeLessThan(4);
  });

  it('keeps nothing for tenants whose jobs were begun', async () => {
    const queue = newQueue();
    for (const id of names('t', 30)) await queue.add('s', id, [id], 3);
    await queue.take(30);
    await queue.add('s', 'x', ['late'], 3);
    // That of the last one that was begun, and that of the late one.
    expect((await client.keys(`submitters-${prefixes}::fair:extract:own:*`)).length).toBeLessThanOrEqual(2);
  });

  it('takes turns by submitter, and by tenant within each', async () => {
    const queue = newQueue();
    await queue.add('s', 'a', names('a', 6));
    await queue.add('t', 'c', names('c', 6));
    await queue.add('s', 'b', names('b', 3));
    const order = letters(await queue.take(12));
    expect(order.replaceAll(/[ab]/g, 's')).toMatch(/^(sc|cs){6}$/);
    expect(order.replaceAll('c', '')).toBe('ababab');
    expect(await queue.waiting()).toEqual(names('a', 3, 3));
  });

  it('a tenant that comes late waits for one job of its submitter, however many wait', async () => {
    const queue = newQueue();
    await queue.add('s', 'a', names('a', 2_000));
    for (const id of names('b', 5)) await queue.add('s', 'b', [id]);
    expect(letters(await queue.take(10))).toMatch(/^ab(ab|ba){4}$/);
  });

  it('keeps a tenant’s jobs in their order, but for the last of those that are moved', async () => {
    const queue = newQueue();
    await queue.add('s', 'a', names('a', 30));
    for (const id of names('b', 10)) await queue.add('s', 'b', [id]);
    const order = await queue.take(40);
    expect(order.filter((id) => id.startsWith('a'))).toEqual(names('a', 30));
    expect(order.filter((id) => id.startsWith('b'))).toEqual(names('b', 10));
  });

  it('priority is of use against the same tenant’s jobs alone', async () => {
    const queue = newQueue();
    await queue.add('s', 'a', names('a', 6));
    await queue.add('s', 'b', names('l', 6), 9);
    await queue.add('s', 'b', names('h', 3), 1);
    await queue.add('s', 'b', ['z'], 0);
    const order = await queue.take(16);
    expect(order.filter((id) => !id.startsWith('a'))).toEqual(['z', ...names('h', 3), ...names('l', 6)]);
    // `a` has every other turn, whatever `b` calls urgent.
    expect(letters(order.slice(0, 12)).replaceAll(/[^a]/g, 'b')).toMatch(/^(ab|ba){6}$/);
  });

  it('an urgent job of a client goes before no job of another submitter', async () => {
    const queue = newQueue();
    await queue.add('t', 'x', names('t', 20));
    await queue.add('s', 'a', names('l', 20), 5);
    for (const id of names('u', 20)) await queue.add('s', 'a', [id], 1);
    const first = letters(await queue.take(40));
    expect(first.replaceAll(/[^t]/g, 's')).toMatch(/^(ts|st){20}$/);
  });

  it('places every job once, whatever comes and goes', async () => {
    const queue = newQueue(8);
    const submitted: string[] = [];
    const taken: string[] = [];
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let step = 0; step < 300; step += 1) {
      const ids = names(`${step}-`, 1 + random(4));
      submitted.push(...ids);
      await queue.add(['', 's', 't'][random(3)] ?? '', `tenant ${random(4)}`, ids, random(3));
      if (random(3) === 0) taken.push(...(await queue.take(random(6))));
      if (random(20) === 0) {
        const [victim] = await queue.waiting();
        if (victim !== undefined && (await queue.remove(victim)) === 1) taken.push(victim);
      }
    }
    taken.push(...(await queue.take(10_000)));
    expect([...taken].sort()).toEqual([...submitted].sort());
  });
});
