import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePair, type PairComparison } from '../../src/contamination/compare-pair.js';
import { PreparedText } from '../../src/contamination/prepared-text.js';
import { readCorpus } from './pairs/corpus.js';

const PROGRAMS = [
  'tuning-python-1.txt',
  'tuning-python-2.txt',
  'unseen-python.txt',
  'tuning-javascript.txt',
].flatMap(readCorpus);
const program = fc.constantFrom(...PROGRAMS);
const compare = (output: string, known: string): PairComparison =>
  comparePair(new PreparedText(output), new PreparedText(known), { minimumTokens: 0 });

describe('SPEC-SIL-009: the checks of a pair', () => {
  it('SPEC-SIL-009: a program contains itself wholly', () => {
    for (const { text } of PROGRAMS) {
      const { measures } = compare(text, text);
      expect(measures.containment?.value).toBeCloseTo(1, 5);
      expect(measures.fingerprint?.value).toBeCloseTo(1, 5);
      expect(measures.evidence?.value).toBeGreaterThan(0);
    }
  });

  it('SPEC-SIL-009: adding other code to a copied part never makes it contain less', () => {
    const position = fc.nat(2);
    fc.assert(
      fc.property(
        program,
        program,
        program,
        fc.double({ min: 0.4, max: 1, noNaN: true }),
        position,
        (known, before, after, fraction, at) => {
          fc.pre(known.language === before.language && known.language === after.language);
          const lines = known.text.split('\n');
          const part = lines.slice(0, Math.ceil(lines.length * fraction)).join('\n');
          const padded = [at === 0 ? '' : before.text, part, at === 1 ? '' : after.text].join('\n\n');
          const bare = compare(part, known.text).measures;
          const more = compare(padded, known.text).measures;
          // A cut-off line at the seam may read differently with something after it.
          expect(more.containment?.value ?? 0).toBeGreaterThanOrEqual((bare.containment?.value ?? 0) - 0.05);
          expect(more.evidence?.value ?? 0).toBeGreaterThanOrEqual((bare.evidence?.value ?? 0) - 0.05);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('SPEC-SIL-009: no value leaves its range, and spans lie in their texts', () => {
    fc.assert(
      fc.property(program, program, (a, b) => {
        const { measures } = compare(a.text, b.text);
        for (const [name, { value, spans }] of Object.entries(measures)) {
          expect(value).toBeGreaterThanOrEqual(0);
          if (name !== 'evidence') expect(value).toBeLessThanOrEqual(1);
          for (const { output, known } of spans()) {
            expect([output[0] < output[1], output[1] <= a.text.length]).toEqual([true, true]);
            expect([known[0] < known[1], known[1] <= b.text.length]).toEqual([true, true]);
          }
        }
      }),
      { numRuns: 80 },
    );
  });

  it('SPEC-SIL-009: the same pair always gets the same numbers', () => {
    fc.assert(
      fc.property(program, program, (a, b) => {
        const numbers = (): number[] =>
          Object.values(compare(a.text, b.text).measures).map(({ value }) => value);
        expect(numbers()).toEqual(numbers());
      }),
      { numRuns: 30 },
    );
  });
});
