import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FairQueue, numbered } from '../support/fair-queue.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let client: Redis;
let prefixes = 0;

beforeAll(() => {
  client = new Redis({ path: redis.socketPath });
});
afterAll(() => client.disconnect());

function newQueue(rebaseAt?: number) {
  prefixes += 1;
  const queue = new FairQueue(client, `submitters-${prefixes}`, rebaseAt);
  const add = (submitter: string, tenant: string, ids: readonly string[], priority = 0) =>
    queue.add(ids.map((id) => ({ id, tenant, submitter, priority })));
  return Object.assign(queue, { addFor: add });
}

const letters = (ids: readonly string[]) => ids.map((id) => id[0]).join('');

describe('submitters share a queue', () => {
  it.each([
    ['one tenant name', () => 'same'],
    ['400 tenant names', (at: number) => `name ${at}`],
  ])('400 jobs of one submitter under %s go before one job of another', async (_name, tenantOf) => {
    const queue = newQueue();
    for (const [at, id] of numbered('m', 400).entries()) await queue.addFor('many', tenantOf(at), [id]);
    await queue.addFor('other', 'same', ['single']);
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
      const queue = new FairQueue(client, prefix);
      await queue.add(numbered('a', 1_000).map((_, at) => request('a', at, 5)));
      const many = numbered('t', 500).map((name, at) => request(name, at, priorityOf(at)));
      await queue.addUnscheduled(many);
      await client.config('RESETSTAT');
      await queue.schedule(many);
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
    const tenants = numbered('t', 1_500);
    /** Seconds that Redis computes for a batch with a job for each tenant. */
    const workFor = async (prefix: string, priority: number) => {
      const spent = async () => Number(/used_cpu_user:([\d.]+)/.exec(await client.info('cpu'))?.[1]);
      const requests = tenants.map((tenant) => ({
        id: `${tenant}-${priority}`,
        tenant,
        submitter: 's',
        priority,
      }));
      const queue = new FairQueue(client, prefix);
      await queue.addUnscheduled(requests);
      const before = await spent();
      await queue.schedule(requests);
      return (await spent()) - before;
    };
    const plain = await workFor('plain', 0);
    await workFor('again', 5);
    // When each job looked at the 500 next ones of its submitter, it was seven times the work.
    expect((await workFor('again', 1)) / plain).toBeLessThan(4);
  });

  it('stores nothing for tenants whose jobs were started', async () => {
    const queue = newQueue();
    for (const id of numbered('t', 30)) await queue.addFor('s', id, [id], 3);
    await queue.take(30);
    await queue.addFor('s', 'x', ['late'], 3);
    // That of the last started one, and that of the late one.
    expect((await client.keys(`submitters-${prefixes}::fair:extract:own:*`)).length).toBeLessThanOrEqual(2);
  });

  it('rotates between submitters, and between the tenants of each', async () => {
    const queue = newQueue();
    await queue.addFor('s', 'a', numbered('a', 6));
    await queue.addFor('t', 'c', numbered('c', 6));
    await queue.addFor('s', 'b', numbered('b', 3));
    const order = letters(await queue.take(12));
    expect(order.replaceAll(/[ab]/g, 's')).toMatch(/^(sc|cs){6}$/);
    expect(order.replaceAll('c', '')).toBe('ababab');
    expect(await queue.waiting()).toEqual(numbered('a', 3, 3));
  });

  it('a tenant that comes late waits for one job of its submitter, however many wait', async () => {
    const queue = newQueue();
    await queue.addFor('s', 'a', numbered('a', 2_000));
    for (const id of numbered('b', 5)) await queue.addFor('s', 'b', [id]);
    expect(letters(await queue.take(10))).toMatch(/^ab(ab|ba){4}$/);
  });

  it('keeps a tenant’s jobs in their order, except for the last of those that are moved', async () => {
    const queue = newQueue();
    await queue.addFor('s', 'a', numbered('a', 30));
    for (const id of numbered('b', 10)) await queue.addFor('s', 'b', [id]);
    const order = await queue.take(40);
    expect(order.filter((id) => id.startsWith('a'))).toEqual(numbered('a', 30));
    expect(order.filter((id) => id.startsWith('b'))).toEqual(numbered('b', 10));
  });

  it('priority is of use against the same tenant’s jobs alone', async () => {
    const queue = newQueue();
    await queue.addFor('s', 'a', numbered('a', 6));
    await queue.addFor('s', 'b', numbered('l', 6), 9);
    await queue.addFor('s', 'b', numbered('h', 3), 1);
    await queue.addFor('s', 'b', ['z'], 0);
    const order = await queue.take(16);
    expect(order.filter((id) => !id.startsWith('a'))).toEqual([
      'z',
      ...numbered('h', 3),
      ...numbered('l', 6),
    ]);
    // `a` has every other job, whatever `b` calls urgent.
    expect(letters(order.slice(0, 12)).replaceAll(/[^a]/g, 'b')).toMatch(/^(ab|ba){6}$/);
  });

  it('an urgent job goes before less urgent ones, however many urgent ones wait before those', async () => {
    const queue = newQueue();
    await queue.addFor('s', 'a', numbered('u', 300), 1);
    await queue.addFor('s', 'a', numbered('p', 500), 1_000);
    await queue.addFor('s', 'a', ['late'], 1);
    expect((await queue.waiting()).indexOf('late')).toBe(300);
  });

  it('an urgent job of a client goes before no job of another submitter', async () => {
    const queue = newQueue();
    await queue.addFor('t', 'x', numbered('t', 20));
    await queue.addFor('s', 'a', numbered('l', 20), 5);
    for (const id of numbered('u', 20)) await queue.addFor('s', 'a', [id], 1);
    const first = letters(await queue.take(40));
    expect(first.replaceAll(/[^t]/g, 's')).toMatch(/^(ts|st){20}$/);
  });

  it('schedules every job once, whatever is added and removed', async () => {
    const queue = newQueue(8);
    const submitted: string[] = [];
    const taken: string[] = [];
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let step = 0; step < 300; step += 1) {
      const ids = numbered(`${step}-`, 1 + random(4));
      submitted.push(...ids);
      await queue.addFor(['', 's', 't'][random(3)] ?? '', `tenant ${random(4)}`, ids, random(3));
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
