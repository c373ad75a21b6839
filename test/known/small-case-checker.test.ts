import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { completeKnownSolution, fingerprintsOf, PreparedText } from '../../src/contamination/index.js';
import { FleetContaminationChecker } from '../../src/known/fleet-contamination-checker.js';
import { KnownStore } from '../../src/known/known-store.js';
import { SmallCaseChecker } from '../../src/known/small-case-checker.js';
import { connectProducer } from '../../src/queues/connection.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let client: Redis;
let prefixes = 0;
let store: KnownStore;

beforeAll(async () => {
  client = await connectProducer(redis.url, { waitForSlow: true });
});
afterAll(() => client.disconnect());
beforeEach(() => {
  prefixes += 1;
  store = new KnownStore(client, `small-${prefixes}`);
});

const KNOWN = 'function total(a, b, c) { const sum = a + b; return sum * c; }';
const testCase = (id: string) => ({ id, name: id, difficulty: 'easy' as const });

function item(testCaseId: string, solution: string) {
  return {
    entry: { ...completeKnownSolution({ testCaseId, solution }), addedToTraining: '2026-01-01T00:00:00Z' },
    fingerprints: fingerprintsOf(new PreparedText(solution)),
  };
}

describe('small cases of contamination, checked in place', () => {
  it.each([
    ['a copy', KNOWN, 't1'],
    ['a copy with other names', KNOWN.replaceAll('sum', 'zw').replaceAll('total', 'f'), 't1'],
    ['another program', 'print("hello")', 't1'],
    ['a case without known solutions', KNOWN, 't2'],
  ])('SPEC-SIL-009: return the result that the thread returns, for %s', async (_what, output, id) => {
    await store.add([item('t1', KNOWN)]);
    const input = { output, testCase: testCase(id) };
    const result = await new SmallCaseChecker(store).check(input);
    expect(result).toEqual(await new FleetContaminationChecker(store).check(input));
    expect(result).toBeDefined();
  });

  it('see what was added and removed before the check', async () => {
    const checker = new SmallCaseChecker(store);
    const input = { output: KNOWN, testCase: testCase('t1') };
    expect((await checker.check(input))?.contaminated).toBe(false);
    await store.add([item('t1', KNOWN)]);
    expect((await checker.check(input))?.contaminated).toBe(true);
    await store.remove('t1');
    expect((await checker.check(input))?.contaminated).toBe(false);
  });

  it('are none where the output, its thoughts or its known solutions are long', async () => {
    const long = 'x = 1\n'.repeat(1_000);
    const checker = new SmallCaseChecker(store);
    expect(await checker.check({ output: long, testCase: testCase('t') })).toBeUndefined();
    const thoughtful = { ...testCase('t'), thoughtChain: [long] };
    expect(await checker.check({ output: 'x', testCase: thoughtful })).toBeUndefined();
    await store.add([item('t', long)]);
    expect(await checker.check({ output: 'x', testCase: testCase('t') })).toBeUndefined();
    expect(await checker.check({ output: 'x', testCase: testCase('other') })).toBeDefined();
  });

  it('are none where one output would be compared with many known solutions', async () => {
    const solutions = Array.from({ length: 20 }, (_, index) => item('t', `${KNOWN} // ${index}`));
    await store.add(solutions.slice(0, 2));
    const checker = new SmallCaseChecker(store);
    const input = { output: KNOWN.repeat(4), testCase: testCase('t') };
    expect(await checker.check(input)).toBeDefined();
    await store.add(solutions);
    expect(await checker.check(input)).toBeUndefined();
  });

  it('are none if the set is large, or has become so', async () => {
    const checker = new SmallCaseChecker(store);
    const input = { output: 'x = 1', testCase: testCase('t') };
    expect(await checker.check(input)).toBeDefined();
    await store.add(Array.from({ length: 1_001 }, (_, index) => item(`t${index}`, `y = ${index}`)));
    expect(await checker.check(input)).toBeUndefined();
    expect(await new SmallCaseChecker(store).check(input)).toBeUndefined();
  });
});

describe('checks against the known set of a fleet', () => {
  it('read each known solution once, with the settings that each check names', async () => {
    const known = Array.from({ length: 40 }, (_, at) => {
      const lines = Array.from(
        { length: 150 },
        (_line, n) => `value_${at}_${n} = compute(${at}, ${n} + offset)`,
      );
      return lines.join('\n');
    });
    await store.add(known.map((solution) => item('t1', solution)));
    const checker = new FleetContaminationChecker(store);
    await checker.prepare();
    const output = `def other():\n  return 1\n${known[0]?.slice(0, 600)}`;
    /** Processor time of a check, in microseconds. */
    const work = async (config = {}) => {
      const before = process.cpuUsage();
      const { contaminated } = await checker.check({ output, testCase: testCase('t1'), config });
      return { contaminated, spent: process.cpuUsage(before).user };
    };
    const first = await work();
    const again = await work();
    expect(again.spent).toBeLessThan(first.spent / 2);
    expect(again.contaminated).toBe(first.contaminated);
    expect((await work({ similarityThreshold: 0 })).contaminated).toBe(true);
    expect((await work()).contaminated).toBe(first.contaminated);
  });
});
