import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectProducer } from '../../src/queues/connection.js';
import { MAX_TAG } from '../../src/queues/fairness/schedule-script.js';
import { virtualTimeKey } from '../../src/queues/redis-keys.js';
import { FairQueue, numbered } from '../support/fair-queue.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let client: Redis;
let prefixes = 0;
beforeAll(async () => {
  client = await connectProducer(redis.url, { waitForSlow: true });
});
afterAll(async () => {
  client.disconnect();
});

function newQueue(rebaseAt?: number) {
  prefixes += 1;
  const queue = new FairQueue(client, `tenants-${prefixes}`, rebaseAt);
  const add = (tenant: string, ids: readonly string[], priority = 0) =>
    queue.add(ids.map((id) => ({ id, tenant, submitter: '', priority })));
  return Object.assign(queue, { addFor: add });
}

describe('tenants share a queue', () => {
  it('a tenant with 10,000 waiting jobs delays another by one job', async () => {
    const queue = newQueue();
    await queue.addFor('a', numbered('a', 10_000));
    await queue.take(37);
    await queue.addFor('b', ['b0']);
    expect((await queue.waiting()).indexOf('b0')).toBeLessThanOrEqual(1);
  });

  it('tenants go in rotation, each in its own order', async () => {
    const queue = newQueue();
    await queue.addFor('a', numbered('a', 6));
    await queue.addFor('b', numbered('b', 3));
    await queue.addFor('c', numbered('c', 3));
    expect(await queue.take(12)).toEqual([
      ...['a0', 'b0', 'c0', 'a1', 'b1', 'c1', 'a2', 'b2', 'c2'],
      ...['a3', 'a4', 'a5'],
    ]);
  });

  it('being served long ago is neither a debt nor a credit', async () => {
    const queue = newQueue();
    await queue.addFor('a', numbered('a', 100));
    await queue.take(100);
    await queue.addFor('b', numbered('b', 50));
    await queue.addFor('a', ['again']);
    expect((await queue.waiting()).indexOf('again')).toBeLessThanOrEqual(2);
  });

  it('for any arrivals and services: between two busy tenants the counts differ by at most one', async () => {
    const step = fc.record({ tenant: fc.constantFrom('a', 'b', 'c'), jobs: fc.integer({ min: 1, max: 6 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), fc.nat(10), async (steps, served) => {
        const queue = newQueue();
        let number = 0;
        for (const { tenant, jobs } of steps) {
          await queue.addFor(tenant, numbered(tenant, jobs, number));
          number += jobs;
        }
        await queue.take(served);
        await queue.addFor('x', numbered('x', 5));
        await queue.addFor('y', numbered('y', 5));
        const taken = (await queue.take(1_000)).map(([tenant]) => tenant);
        for (let end = 0; end < taken.lastIndexOf('x') && end < taken.lastIndexOf('y'); end += 1) {
          const soFar = taken.slice(0, end + 1);
          const count = (name: string) => soFar.filter((tenant) => tenant === name).length;
          expect(Math.abs(count('x') - count('y'))).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('priorities order the jobs of one tenant and take nothing from another', async () => {
    const queue = newQueue();
    await queue.addFor('a', ['low0', 'low1', 'low2'], 10);
    await queue.addFor('b', ['b0', 'b1', 'b2', 'b3', 'b4']);
    await queue.addFor('a', ['mid'], 5);
    await queue.addFor('a', ['now']);
    const order = await queue.take(10);
    expect(order.filter((id) => !id.startsWith('b'))).toEqual(['now', 'mid', 'low0', 'low1', 'low2']);
    expect(order.slice(0, 6).filter((id) => id.startsWith('b'))).toHaveLength(3);
  });

  it('thousands of urgent jobs of one tenant do not get in the way of another', async () => {
    const queue = newQueue();
    await queue.addFor('a', numbered('a', 1_500), 9);
    await queue.addFor('a', numbered('u', 1_000), 1);
    await queue.addFor('b', ['b0'], 9);
    expect((await queue.waiting()).indexOf('b0')).toBeLessThanOrEqual(1);
    const order = (await queue.waiting()).filter((id) => id !== 'b0');
    expect(order.slice(0, 500).every((id) => id.startsWith('u'))).toBe(true);
    expect(new Set(order).size).toBe(2_500);
  });

  it('tags are moved down before they reach the end, and the order stays', async () => {
    const queue = newQueue(50);
    await queue.addFor('a', numbered('a', 200));
    await queue.take(100);
    await client.zadd(`${queue.key}:delayed`, 1, 'a3');
    const before = await queue.waiting();
    await queue.addFor('b', ['b0']);
    const after = (await queue.waiting()).filter((id) => id !== 'b0');
    expect(after).toEqual(before);
    expect(await client.get(virtualTimeKey(queue.prefix, 'extract'))).toBe('1');
    expect((await queue.waiting()).indexOf('b0')).toBeLessThanOrEqual(1);
    expect(await client.hget(`${queue.key}:${before[0]}`, 'priority')).toBe('2');
    expect(await client.hget(`${queue.key}:a3`, 'priority')).toBe('1');
    const [next] = await queue.addFor('a', ['a200']);
    expect(next).toBe(102);
  });

  it('a tenant with more jobs than there are tags goes on at the last one', async () => {
    const queue = newQueue();
    await client.zadd(`${queue.prefix}::fair:extract:next`, MAX_TAG, 'a');
    expect(await queue.addFor('a', ['a0', 'a1', 'a2'])).toEqual([MAX_TAG, MAX_TAG, MAX_TAG]);
    expect(await queue.take(3)).toEqual(['a0', 'a1', 'a2']);
  });

  it('lost state does no harm: new jobs start at the tag of the waiting ones', async () => {
    const queue = newQueue();
    await queue.addFor('a', numbered('a', 20));
    await queue.take(10);
    await client.del(virtualTimeKey(queue.prefix, 'extract'), `${queue.prefix}::fair:extract:next`);
    await queue.addFor('b', ['b0']);
    expect((await queue.waiting()).indexOf('b0')).toBe(1);
  });

  it.each(['', 'a:b', '*', '\0', '✓', 't'.repeat(5_000), 'next', 'now'])(
    '%j is a tenant like any other',
    async (tenant) => {
      const queue = newQueue();
      await queue.addFor(tenant, ['one', 'two']);
      await queue.addFor('other', ['three']);
      expect(await queue.take(3)).toEqual(['one', 'three', 'two']);
    },
  );

  it('a job is scheduled once, and one that has gone is left alone', async () => {
    const queue = newQueue();
    const request = (id: string) => ({ id, tenant: 'a', submitter: '', priority: 0 });
    expect(await queue.add([request('one')])).toEqual([1]);
    await queue.schedule([request('one'), request('gone')]);
    expect(await queue.add([request('two')])).toEqual([2]);
    expect(await client.exists(`${queue.key}:gone`)).toBe(0);
    expect(await queue.waiting()).toEqual(['one', 'two']);
  });
});
