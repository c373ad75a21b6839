import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisPayloadStore } from '../../src/payloads/payload-store.js';
import { PAYLOAD_GRACE_MS, sweepPayloads } from '../../src/payloads/sweep-payloads.js';
import { comparable, referencesIn } from '../../src/payloads/text-reference.js';
import { connectProducer } from '../../src/queues/connection.js';
import { payloadIndexKey, payloadJobsKey, payloadKey } from '../../src/queues/redis-keys.js';
import { totalTextBytes } from '../../src/queues/validate.js';
import { redisOfFile } from '../support/redis.js';

const LONG = 'value = 1\n'.repeat(20_000);

const redis = redisOfFile();
let client: Redis;
let prefixes = 0;
beforeAll(async () => {
  client = await connectProducer(redis.url, { waitForSlow: true });
});
afterAll(async () => {
  client.disconnect();
});

function newStore(offloadBytes?: number) {
  prefixes += 1;
  const prefix = `{payloads}-${prefixes}`;
  return { prefix, store: new RedisPayloadStore(client, prefix, { offloadBytes }) };
}

describe('the payload store', () => {
  it('stores a long text separately, compressed and once, and restores it', async () => {
    const { prefix, store } = newStore();
    const data = { solution: { content: LONG }, tags: { run: 'r' }, list: [LONG, 'short'] };
    const stored = await store.offload(data, ['job-1']);
    expect(JSON.stringify(stored).length).toBeLessThan(500);
    const [digest = '', ...others] = referencesIn(stored);
    expect(others).toEqual([]);
    expect(await client.hstrlen(payloadKey(prefix, digest), 'data')).toBeLessThan(LONG.length / 10);
    expect(await store.restore(stored, 'job-1')).toEqual(data);
  });

  it('leaves data without long texts as they are, without asking Redis', async () => {
    const { prefix, store } = newStore();
    const data = { content: 'x'.repeat(65_536) };
    expect(await store.offload(data, ['job-1'])).toBe(data);
    expect(await client.keys(`${prefix}*`)).toEqual([]);
  });

  it('gives any text back exactly: astral characters, half surrogate pairs, NUL, CRLF', async () => {
    const { store } = newStore(1_024);
    const anyText = fc.string({ unit: 'binary' }).map((text) => `${text}\0\r\n\u{1F600}`.repeat(400));
    const halves = fc.constant('\ud800x'.repeat(900));
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyText, halves), async (content) => {
        const stored = await store.offload({ content }, ['job']);
        expect(referencesIn(stored)).toHaveLength(1);
        expect(await store.restore(stored, 'job')).toEqual({ content });
      }),
      { numRuns: 50 },
    );
  });

  it('compares contents whether they are stored separately or not', async () => {
    const { store } = newStore(1_024);
    const other = newStore(100_000).store;
    const data = { content: 'y = 2\n'.repeat(1_000) };
    expect(comparable(await store.offload(data, ['a']))).toEqual(
      comparable(await other.offload(data, ['b'])),
    );
    expect(comparable({ content: `${data.content} ` })).not.toEqual(comparable(data));
  });

  it('says which text is gone', async () => {
    const { prefix, store } = newStore();
    const stored = await store.offload({ content: LONG }, ['job']);
    await client.del(payloadKey(prefix, referencesIn(stored)[0] ?? ''));
    await expect(store.restore(stored, 'job')).rejects.toMatchObject({
      code: 'payload-missing',
      message: expect.stringContaining('is not in the payload store'),
    });
  });

  it('a decompression bomb instead of a text ends at the size that the job names', async () => {
    const { prefix, store } = newStore();
    const stored = await store.offload({ content: LONG }, ['job']);
    const bomb = deflateRawSync(Buffer.alloc(100 * 2 ** 20));
    await client.hset(payloadKey(prefix, referencesIn(stored)[0] ?? ''), 'data', bomb);
    const before = process.memoryUsage().arrayBuffers;
    await expect(store.restore(stored, 'job')).rejects.toMatchObject({ code: 'payload-missing' });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 2 ** 20);
  });

  it('a text that was exchanged is not taken for the stored one', async () => {
    const { prefix, store } = newStore();
    const stored = await store.offload({ content: LONG }, ['job']);
    const other = deflateRawSync(LONG.replaceAll('1', '2'));
    await client.hset(payloadKey(prefix, referencesIn(stored)[0] ?? ''), 'data', other);
    await expect(store.restore(stored, 'job')).rejects.toThrow('is not the text that was stored');
  });

  it.each([-1, 2 ** 40, 1])('a reference that claims %d bytes is not followed', async (bytes) => {
    const { store } = newStore();
    const stored = await store.offload({ content: LONG }, ['job']);
    const forged = { content: { ...(stored.content as unknown as object), bytes } };
    await expect(store.restore(forged, 'job')).rejects.toMatchObject({
      code: bytes > 1 ? 'payload-too-large' : 'payload-missing',
    });
  });

  it('data in the form of a reference are data, unless the text was stored for the same job', async () => {
    const { store } = newStore();
    const { content } = await store.offload({ content: LONG }, ['one', 'parent']);
    const forged = {
      result: [content, { ...(content as unknown as object), bytes: 1.5 }],
      deep: { content },
    };
    for (const other of ['two', 'one:', 'o', '']) expect(await store.restore(forged, other)).toEqual(forged);
    const unknown = { 'fleet:text': 'a'.repeat(64), bytes: 10 };
    expect(await store.restore({ unknown, content }, 'parent')).toEqual({ unknown, content: LONG });
  });

  it('references that expand to too much in total are rejected before any text is read', async () => {
    const { prefix, store } = newStore();
    const { content } = await store.offload({ content: LONG }, ['job']);
    await client.del(payloadKey(prefix, referencesIn(content)[0] ?? ''));
    const bytes = 2 * totalTextBytes();
    for (const many of [
      Array.from({ length: Math.ceil(bytes / LONG.length) }, () => content),
      Array.from({ length: 20_000 }, () => ({ ...(content as unknown as object), bytes: 0 })),
    ]) {
      await expect(store.restore({ many }, 'job')).rejects.toMatchObject({ code: 'payload-too-large' });
    }
  });
});

describe('sweeping', () => {
  const later = () => Date.now() + PAYLOAD_GRACE_MS + 1_000;

  it('keeps a text as long as one of its jobs exists, and removes all of it with the last', async () => {
    const { prefix, store } = newStore();
    const jobs = [`${prefix}:summarize:1`, `${prefix}:summarize:2`];
    for (const job of jobs) {
      await store.offload({ content: LONG }, [job]);
      await client.hset(job, 'data', '{}');
    }
    await client.del(jobs[0] ?? '');
    expect(await sweepPayloads(client, prefix, { now: later() })).toEqual([]);
    await client.del(jobs[1] ?? '');
    expect(await sweepPayloads(client, prefix, { now: later() })).toHaveLength(1);
    expect(await client.keys(`${prefix}*`)).toEqual([]);
  });

  it('leaves texts whose job may still come, and has a dry run that removes nothing', async () => {
    const { prefix, store } = newStore();
    const stored = await store.offload({ content: LONG }, [`${prefix}:summarize:1`]);
    expect(await sweepPayloads(client, prefix)).toEqual([]);
    const orphans = referencesIn(stored);
    expect(await sweepPayloads(client, prefix, { now: later(), dryRun: true })).toEqual(orphans);
    expect(await store.restore(stored, `${prefix}:summarize:1`)).toEqual({ content: LONG });
    expect(await client.zcard(payloadIndexKey(prefix))).toBe(1);
  });

  it('forgets thousands of jobs that are gone and stops at the first that is there', async () => {
    const { prefix, store } = newStore();
    const gone = Array.from({ length: 2_000 }, (_, at) => `${prefix}:summarize:${at}`);
    const stored = await store.offload({ content: LONG }, gone);
    const living = `${prefix}:summarize:living`;
    await store.offload({ content: LONG }, [living]);
    await client.hset(living, 'data', '{}');
    const jobs = payloadJobsKey(prefix, referencesIn(stored)[0] ?? '');
    for (let round = 0; round < 5; round += 1) await sweepPayloads(client, prefix, { now: later() });
    expect(await client.zcard(jobs)).toBeLessThan(600);
    expect(await store.restore(stored, living)).toEqual({ content: LONG });
  });
});
