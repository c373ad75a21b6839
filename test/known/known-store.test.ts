import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { InvertedIndex } from '../../src/contamination/index/inverted-index.js';
import type { KnownEntry } from '../../src/known/known-entry.js';
import { KnownIndexFollower } from '../../src/known/known-index-follower.js';
import { KnownStore } from '../../src/known/known-store.js';
import { connectProducer } from '../../src/queues/connection.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let client: Redis;
let other: Redis;
let prefixes = 0;
let store: KnownStore;
let elsewhere: KnownStore;

beforeAll(async () => {
  client = await connectProducer(redis.url, { waitForSlow: true });
  other = await connectProducer(redis.url, { waitForSlow: true });
});
afterAll(async () => {
  client.disconnect();
  other.disconnect();
});
beforeEach(() => {
  prefixes += 1;
  store = new KnownStore(client, `known-${prefixes}`);
  elsewhere = new KnownStore(other, `known-${prefixes}`);
});

function item(testCaseId: string, solution: string, prints: number[] = [1, 2, 3]) {
  const entry: KnownEntry = {
    testCaseId,
    solution,
    hash: `hash-of-${solution}`,
    addedToTraining: '2026-01-01T00:00:00Z',
  };
  return { entry, fingerprints: Int32Array.from(prints) };
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of source) all.push(one);
  return all;
}

describe('the fleet-wide set of known solutions', () => {
  it('keeps several solutions a test case, and each once', async () => {
    expect(await store.add([item('t1', 'a'), item('t1', 'b'), item('t2', 'a'), item('t1', 'a')])).toBe(3);
    expect(await store.size()).toBe(3);
    expect((await store.ofCase('t1')).map(({ solution }) => solution).sort()).toEqual(['a', 'b']);
    expect(await collect(store.all())).toHaveLength(3);
  });

  it('loses nothing when two add at once', async () => {
    const batch = (from: string) =>
      Array.from({ length: 200 }, (_, index) => item(`${from}-${index}`, `s${index}`));
    const [mine, theirs] = await Promise.all([store.add(batch('mine')), elsewhere.add(batch('theirs'))]);
    expect([mine, theirs]).toEqual([200, 200]);
    expect(await store.size()).toBe(400);
  });

  it('removes one solution, or all of a test case, for good', async () => {
    await store.add([item('t1', 'a'), item('t1', 'b'), item('t2', 'c')]);
    expect(await store.remove('t1', 'hash-of-a')).toBe(1);
    expect(await store.remove('t1', 'hash-of-a')).toBe(0);
    expect(await store.remove('t1')).toBe(1);
    expect(await store.ofCase('t1')).toEqual([]);
    expect((await collect(store.all())).map(({ testCaseId }) => testCaseId)).toEqual(['t2']);
    expect(await client.keys(`known-${prefixes}:known:case:*`)).toEqual([`known-${prefixes}:known:case:t2`]);
  });

  it.each(['a:b', 'emoji 😀', '__proto__', 'x'.repeat(1_000), '{tag}'])(
    'takes %s as a test case id',
    async (id) => {
      await store.add([item(id, 'a')]);
      expect((await store.ofCase(id))[0]).toMatchObject({ testCaseId: id, solution: 'a' });
      const index = await new KnownIndexFollower(store, new InvertedIndex()).current();
      expect(index.search(Int32Array.from([1, 2, 3]), 5)[0]?.reference).toEqual({
        hash: 'hash-of-a',
        testCaseId: id,
      });
    },
  );

  it('gives fingerprints back to the last bit', async () => {
    const prints = [0, -1, 2_147_483_647, -2_147_483_648, 42];
    await store.add([item('t', 'a', prints)]);
    const [page] = await collect(store.allFingerprints());
    expect([...(page?.[0]?.fingerprints ?? [])]).toEqual(prints);
  });
});

describe("a worker's index of the set", () => {
  const found = async (follower: KnownIndexFollower) =>
    (await follower.current())
      .search(Int32Array.from([1, 2, 3]), 10)
      .map(({ reference }) => reference.testCaseId);

  it('sees what was added and removed anywhere before it is asked', async () => {
    await elsewhere.add([item('early', 'a')]);
    const follower = new KnownIndexFollower(store, new InvertedIndex());
    expect(await found(follower)).toEqual(['early']);
    await elsewhere.add([item('late', 'b')]);
    expect((await found(follower)).sort()).toEqual(['early', 'late']);
    await elsewhere.remove('early');
    expect(await found(follower)).toEqual(['late']);
    await elsewhere.add([item('early', 'a')]);
    expect((await found(follower)).sort()).toEqual(['early', 'late']);
  });

  it('follows a history of several pages, and changes that undo each other', async () => {
    const follower = new KnownIndexFollower(store, new InvertedIndex());
    expect(await found(follower)).toEqual([]);
    const items = Array.from({ length: 2_500 }, (_, index) =>
      item(`t${index}`, `s${index}`, [index + 10, index + 20]),
    );
    await elsewhere.add(items);
    await elsewhere.add([item('gone', 'x')]);
    await elsewhere.remove('gone');
    const index = await follower.current();
    expect(index.size).toBe(2_500);
    expect(await found(follower)).toEqual([]);
  });

  it('is right for many that ask at once', async () => {
    const follower = new KnownIndexFollower(store, new InvertedIndex());
    await elsewhere.add([item('t', 'a')]);
    const answers = await Promise.all(Array.from({ length: 20 }, () => found(follower)));
    expect(new Set(answers.map(String))).toEqual(new Set(['t']));
  });
});
