import { afterEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { addContamination } from '../../src/producers/contamination.js';
import { addKnownSolutions } from '../../src/producers/known-solutions.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let test: TestFleet;
afterEach(() => test.close());

const testCase = (id: string) => ({ id, name: id, difficulty: 'easy' as const });
/** Tokens that are there again and again: each of one text may go with each of the other. */
const repeated = (length: number, tokens: string) => tokens.repeat(Math.ceil(length / tokens.length));

describe('a comparison that takes more than it may', () => {
  it('fails with a specific error, delays no small case, and its worker survives', async () => {
    test = await startTestFleet(redis, 'hostile-contamination');
    const known = Array.from({ length: 4 }, (_, index) => ({
      testCaseId: `known-${index}`,
      solution: `${'y '.repeat(index)}${repeated(50_000, 'a b = c ( d ) ')}`,
    }));
    await addKnownSolutions(test.fleet, known);
    await test.worker(createOfflineRunner(), {
      ...{ kinds: ['contamination'], concurrency: 3, lockMs: 5_000 },
      analysis: { timeoutMs: 300, heapMb: 256 },
    });
    const check = (output: string, tenant: string) =>
      addContamination(test.fleet, { output, testCase: testCase(tenant) }, { tenant });
    await (await check('x = 1', 'b')).result();
    const large = await Promise.all(
      ['a b = c ( d ) ', 'z a b = c ( d ) d ) '].map((tokens) => check(repeated(500_000, tokens), 'a')),
    );
    expect((await (await check('x = 2', 'b')).result()).contaminated).toBe(false);
    for (const handle of large) {
      await expect(handle.result()).rejects.toMatchObject({ code: 'analysis-limit' });
      expect((await handle.view()).attempts).toBe(1);
    }
    expect((await (await check('x = 3', 'b')).result()).contaminated).toBe(false);
    const lines = test.logLines.map(({ msg }) => String(msg));
    expect(lines.filter((line) => /\block\b|taken over/.test(line))).toEqual([]);
  });
});
