import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContaminationDetector } from '../../src/contamination/index.js';
import { commonRegions, MIN_REGION_LENGTH } from '../../src/contamination/text/common-regions.js';

describe('SPEC-SIL-009: similarity check', () => {
  it('SPEC-SIL-009: 0.95 itself is not above the threshold', () => {
    const detector = new ContaminationDetector({ similarityThreshold: 1 });
    expect(detector.checkSimilarity('return a + b', 'return a + b')).toMatchObject({
      similarity: 1,
      contaminated: false,
    });
  });
});

describe('SPEC-SIL-009: matched regions', () => {
  const detector = new ContaminationDetector();
  const shared = 'for each of the words in the list, count how often it is there';

  it('SPEC-SIL-009: hold what both texts share, with offsets in both', () => {
    const output = `Something first.\n\n${shared}; then stop.`;
    const known = `A known text: ${shared}. And an end of its own.`;
    const { matchedRegions, spans } = detector.checkSimilarity(output, known);
    expect(matchedRegions).toHaveLength(1);
    const [span] = spans;
    expect(output.slice(...(span?.output ?? [0, 0]))).toContain(shared);
    expect(known.slice(...(span?.known ?? [0, 0]))).toContain(shared);
  });

  it('SPEC-SIL-009: see through line breaks and letter case', () => {
    const { spans } = detector.checkSimilarity(shared.toUpperCase().replace(/ /g, '\r\n  '), shared);
    expect(spans[0]?.known).toEqual([0, shared.length]);
  });

  it('SPEC-SIL-009: are cut at 100 characters, longest first', () => {
    const long = 'x1 y2 z3 '.repeat(40);
    const { matchedRegions } = detector.checkSimilarity(`${shared} | ${long}`, `${long} / ${shared}`);
    expect(matchedRegions[0]).toHaveLength(103);
    expect(matchedRegions[0]?.endsWith('...')).toBe(true);
  });

  it('SPEC-SIL-009: the first one is a longest common region', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 0, maxLength: 60 });
    const long = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 40, maxLength: 120 });
    fc.assert(
      fc.property(letters, letters, long, letters, letters, (p, q, m, r, s) => {
        const a = [...p, ...m, ...q].join('');
        const b = [...r, ...m, ...s].join('');
        const longest = longestCommon(a, b);
        const [found] = commonRegions(a, b, 1);
        const length = found === undefined ? 0 : found.output[1] - found.output[0];
        expect(length).toBe(longest < MIN_REGION_LENGTH ? 0 : longest);
        if (found !== undefined) expect(a.slice(...found.output)).toBe(b.slice(...found.known));
      }),
      { numRuns: 100 },
    );
  });

  it('SPEC-SIL-009: do not overlap in either text', () => {
    const block = 'one block of text that is long enough to count as a region, ';
    const spans = commonRegions(block.repeat(4), block.repeat(6), 10);
    for (const side of ['output', 'known'] as const) {
      const ranges = spans.map((span) => span[side]).sort((a, b) => a[0] - b[0]);
      ranges.slice(1).forEach((range, i) => {
        expect(range[0]).toBeGreaterThanOrEqual(ranges[i]?.[1] ?? 0);
      });
    }
  });
});

function longestCommon(a: string, b: string): number {
  let best = 0;
  let previous = new Array<number>(b.length + 1).fill(0);
  for (const char of a) {
    const current = new Array<number>(b.length + 1).fill(0);
    for (let j = 1; j <= b.length; j++) {
      if (b[j - 1] === char) current[j] = (previous[j - 1] ?? 0) + 1;
      best = Math.max(best, current[j] ?? 0);
    }
    previous = current;
  }
  return best;
}
