import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fingerprintsOf,
  InvertedIndex,
  MemoryKnownSet,
  PreparedText,
  queryFingerprints,
} from '../../src/contamination/index.js';
import { completeKnownSolution } from '../../src/contamination/known-set.js';
import { buildPairs } from './pairs/build-pairs.js';
import { readCorpus } from './pairs/corpus.js';

/** A third of the tuning pairs: each is read as a whole, twice. */
const PAIRS = buildPairs('tuning').filter((_, at) => at % 3 === 0);

const reference = (n: number, testCaseId = `task-${n}`) => ({ testCaseId, hash: `hash-${n}` });

describe('SPEC-SIL-009: the index of known solutions', () => {
  it('SPEC-SIL-009: finds what shares rare fingerprints, best first', () => {
    const index = new InvertedIndex();
    for (let n = 0; n < 200; n++) index.add(reference(n), Int32Array.of(1, 2, 1_000 + n, 2_000 + n));
    const found = index.search(Int32Array.of(1, 2, 1_007, 2_007, 1_008), 3);
    expect(found.map((each) => each.reference.hash)).toEqual(['hash-7', 'hash-8', expect.any(String)]);
    expect(found[0]).toMatchObject({ shared: 4 });
    expect(index.commonness(1)).toBe(1);
    expect(index.commonness(1_007)).toBe(1 / 200);
    expect(index.commonness(-5)).toBe(0);
  });

  it('SPEC-SIL-009: leaves out one task’s own solutions, and what shares too little', () => {
    const index = new InvertedIndex();
    index.add(reference(1, 'own'), Int32Array.of(1, 2, 3));
    index.add(reference(2), Int32Array.of(1, 2, ...Array.from({ length: 30 }, (_, i) => 100 + i)));
    expect(index.search(Int32Array.of(1, 2, 3), 5, 'own')).toEqual([]);
    expect(index.search(Int32Array.of(1, 2, 3), 5)).toHaveLength(1);
  });

  it('SPEC-SIL-009: finds a text of another task by its hash, also after most were removed', () => {
    const index = new InvertedIndex();
    const same = ['a', 'b', 'c'].map((task) => ({ testCaseId: task, hash: 'same' }));
    for (let n = 0; n < 1_500; n++) index.add(reference(n), Int32Array.of(n));
    for (const each of same) index.add(each, Int32Array.of(1));
    for (let n = 0; n < 1_400; n++) index.remove(reference(n));
    expect(index.withHash('same', 'a')?.testCaseId).toBe('b');
    index.remove({ testCaseId: 'b', hash: 'same' });
    index.remove({ testCaseId: 'c', hash: 'same' });
    expect(index.withHash('same', 'a')).toBeUndefined();
    expect(index.withHash('same')?.testCaseId).toBe('a');
    expect(index.withHash('hash-1450')).toEqual(reference(1_450));
    expect(index.withHash('hash-3')).toBeUndefined();
  });

  it('SPEC-SIL-009: behaves like a plain map of sets under any additions and removals', () => {
    const step = fc.record({
      add: fc.boolean(),
      n: fc.integer({ min: 0, max: 12 }),
      prints: fc.array(fc.integer({ min: -3, max: 9 }), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.array(fc.integer({ min: -3, max: 9 }), { minLength: 2, maxLength: 8 }),
        (steps, query) => {
          const index = new InvertedIndex();
          const plain = new Map<number, Set<number>>();
          for (const { add, n, prints } of steps) {
            if (add) {
              index.add(reference(n), Int32Array.from(new Set(prints)));
              if (!plain.has(n)) plain.set(n, new Set(prints));
            } else expect(index.remove(reference(n))).toBe(plain.delete(n));
          }
          expect(index.size).toBe(plain.size);
          const asked = new Set(query);
          const expected = [...plain]
            .map(([n, prints]) => ({
              n,
              shared: [...prints].filter((each) => asked.has(each)).length,
              of: prints.size,
            }))
            .filter(({ shared, of }) => shared >= 2 && shared >= 0.2 * of)
            .map(({ n, shared }) => `hash-${n}:${shared}`);
          const found = index
            .search(Int32Array.from(asked), 100)
            .map((each) => `${each.reference.hash}:${each.shared}`);
          expect(found.sort()).toEqual(expected.sort());
        },
      ),
    );
  });

  it('SPEC-SIL-009: gives the room of removed solutions back', () => {
    const index = new InvertedIndex();
    for (let n = 0; n < 5_000; n++) index.add(reference(n), Int32Array.of(n, n + 1, 7_777_777));
    for (let n = 0; n < 4_000; n++) index.remove(reference(n));
    expect(index.size).toBe(1_000);
    expect(index.search(Int32Array.of(10, 11), 5)).toEqual([]);
    expect(index.search(Int32Array.of(4_500, 4_501), 5)[0]?.reference.hash).toBe('hash-4500');
    index.add(reference(10), Int32Array.of(10, 11, 7_777_777));
    expect(index.search(Int32Array.of(10, 11), 5)).toHaveLength(1);
    index.clear();
    expect(index.size).toBe(0);
    expect(index.search(Int32Array.of(4_500, 4_501), 5)).toEqual([]);
  });

  it('SPEC-SIL-009: renamed and reordered programs keep their fingerprints', () => {
    const pairs = PAIRS.filter(({ kind }) => kind === 'renamed' || kind === 'reordered');
    for (const pair of pairs) {
      const known = fingerprintsOf(new PreparedText(pair.known));
      const output = new Set(queryFingerprints(new PreparedText(pair.output)));
      const shared = known.filter((print) => output.has(print)).length;
      expect([pair.id, shared >= 0.6 * known.length]).toEqual([pair.id, true]);
    }
  });

  it('SPEC-SIL-009: finds the copied solution among all others, whatever the disguise', () => {
    const set = new MemoryKnownSet();
    const files = [
      'tuning-python-1.txt',
      'tuning-python-2.txt',
      'tuning-javascript.txt',
      'unseen-python.txt',
      'unseen-javascript.txt',
    ];
    for (const each of files.flatMap(readCorpus)) {
      set.add(completeKnownSolution({ testCaseId: `${each.task}/${each.author}`, solution: each.text }));
    }
    const copies = PAIRS.filter(
      ({ label, kind, language }) =>
        label === 'contaminated' && language !== 'prose' && kind !== 'embedded-code' && kind !== 'partial',
    );
    const found = copies.filter(({ known, output }) => {
      const [best] = set.index.search(queryFingerprints(new PreparedText(output)), 1);
      return best?.reference.hash === completeKnownSolution({ testCaseId: 'x', solution: known }).hash;
    });
    expect(found.length / copies.length).toBeGreaterThanOrEqual(0.98);
  });
});
