import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyzeLeakage } from '../../src/leakage/index.js';
import { LayeredMap } from '../../src/leakage/values/layered-map.js';

const entry = fc.tuple(fc.integer({ min: 0, max: 40 }), fc.nat());

describe('a layered map', () => {
  it('holds what a map holds, in the same order, and leaves the map it was made from as it was', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), fc.array(entry, { maxLength: 200 }), (first, later) => {
        const start = new Map(first);
        const plain = new Map(first);
        let layered: ReadonlyMap<number, number> = start;
        for (const [key, value] of later) {
          const before = [...layered];
          const next = LayeredMap.withEntry(layered, key, value);
          expect([...layered]).toEqual(before);
          layered = next;
          plain.set(key, value);
        }
        expect([...layered]).toEqual([...plain]);
        expect([...layered.keys()]).toEqual([...plain.keys()]);
        expect([...layered.values()]).toEqual([...plain.values()]);
        expect([...new Map(layered)]).toEqual([...plain]);
        expect(layered.size).toBe(plain.size);
        const visited: [number, number][] = [];
        layered.forEach((value, key) => {
          visited.push([key, value]);
        });
        expect(visited).toEqual([...plain]);
        for (let key = 0; key <= 41; key += 1) {
          expect(layered.has(key)).toBe(plain.has(key));
          expect(layered.get(key)).toBe(plain.get(key));
        }
      }),
      { numRuns: 50 },
    );
  });

  it('keeps the columns of a table: ten times the columns take far less than a hundred times the copying', async () => {
    const small = await entriesSet(columnByColumn(300));
    expect(await entriesSet(columnByColumn(3_000))).toBeLessThan(small * 15);
  });
});

/** A script that sets the columns of a table one after the other. */
function columnByColumn(columns: number): string {
  const lines = Array.from({ length: columns }, (_, at) => `df["f_${at}"] = df["c_${at}"] * 2 + df["other"]`);
  return ['import pandas as pd', 'df = pd.read_csv("a.csv")', ...lines, ''].join('\n');
}

/** How many entries are put into maps while a script is analyzed, those of copies included. */
async function entriesSet(script: string): Promise<number> {
  const { set } = Map.prototype;
  let count = 0;
  Map.prototype.set = function (this: Map<unknown, unknown>, key, value) {
    count += 1;
    return set.call(this, key, value) as Map<unknown, unknown>;
  };
  try {
    await analyzeLeakage(script);
  } finally {
    Map.prototype.set = set;
  }
  return count;
}
