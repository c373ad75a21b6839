import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { publishedSimilarity } from '../../bench/peers/published-similarity.js';
import { trigramSimilarity } from '../../src/contamination/similarity.js';
import { isWhiteSpace } from '../../src/contamination/text/folded-text.js';
import { foldedUnit, NEEDS_CONTEXT } from '../../src/contamination/text/unit-codes.js';

/** Any text: many scripts, lone surrogates, all kinds of white space, letters whose lower case is special. */
const unit = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c', ' ', '\n', 'A', 'B') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('İ', 'Σ', 'σ', 'ς', 'ß', 'ẞ', 'É', 'é', 'K', '\u0307', '\u00ad', "'"),
  },
  fc.constantFrom('\t', '\u00a0', '\u2028', '\u3000', '\ufeff', '\u180e', '\0', '日', '😀'),
  // Deseret and Adlam have capitals; halves of their pairs may be alone or meet another half.
  fc.constantFrom('𐐀', '𐐨', '𞤀', '\ud801', '\ud83a', '\udc00', '\udfff'),
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
);
const text = fc.array(unit, { maxLength: 200 }).map((units) => units.join(''));
const related = fc.tuple(text, text, text).map(([a, b, c]) => [a + b, b + c] as const);

/** A stretch of many different characters, in an order that is not theirs. */
function characters(from: number, count: number, step = 37): string {
  return Array.from({ length: count }, (_, i) => String.fromCharCode(from + ((i * step) % count))).join('');
}

function expectPublished(first: string, second: string): void {
  const published = publishedSimilarity(first, second);
  expect(trigramSimilarity(first, second)).toBe(published);
  expect(trigramSimilarity(second, first)).toBe(published);
}

describe('SPEC-SIL-009: trigram similarity is the published number to the last digit', () => {
  it('SPEC-SIL-009: for any texts', () => {
    fc.assert(
      fc.property(related, ([a, b]) => {
        expect(trigramSimilarity(a, b)).toBe(publishedSimilarity(a, b));
      }),
      { numRuns: 300 },
    );
  });

  it('SPEC-SIL-009: for long texts that any text interrupts, wherever it is', () => {
    const long = `${'for (const line of lines) total += line.length; '.repeat(170)}${characters(0x4e00, 400)}`;
    const position = fc.integer({ min: 4_000, max: 4_200 });
    fc.assert(
      fc.property(position, position, text, text, (at, other, a, b) => {
        const first = long.slice(0, at) + a + long.slice(at);
        const second = long.slice(0, other) + b + long.slice(other + 300);
        expect(trigramSimilarity(first, second)).toBe(publishedSimilarity(first, second));
      }),
      { numRuns: 100 },
    );
  });

  it('SPEC-SIL-009: for texts of any number of different characters', () => {
    for (const count of [30, 60, 62, 63, 64, 65, 127, 128, 300, 3_000]) {
      const many = characters(0x4e00, count);
      expectPublished(`${many} return a + b; ${many.slice(9)}`, `return a + b; ${many.slice(20)} end`);
    }
  });

  it('SPEC-SIL-009: for more trigrams of rare characters than the kept table has slots', () => {
    const orders = [7, 11, 13, 17, 19, 23, 29, 31, 37, 41].map((step) => characters(0x4e00, 20_001, step));
    expectPublished(orders.slice(0, 8).join(''), orders.slice(2).reverse().join(''));
  });

  it('SPEC-SIL-009: for capitals whose lower case depends on what is around them', () => {
    const words = 'ΟΔΟΣ ΣΟΦΙΑ ΑΣ. Σ ΑΣ\u00adΒ İSTANBUL IĞDIR 𐐀𐐁 𞤀𞤁';
    const lower = words.toLowerCase();
    expectPublished(words, lower);
    expect(trigramSimilarity(words, lower)).toBe(1);
    expectPublished(`${lower} and then`, `and then ${words}`);
    expectPublished('ΑΣ'.repeat(3_000), `${'ας '.repeat(50)}${'ΑΣ'.repeat(2_500)}`);
  });

  it('SPEC-SIL-009: whatever texts were compared before', () => {
    const rare = characters(0x400, 200);
    const pairs = [
      [`${rare} a b`, rare.slice(3)],
      ['𐐀𐐁𐐂𐐃', '𐐨𐐩𐐪𐐫'],
      ['plain words', 'plain word'],
      ['Σας', 'ΣΑΣ'],
    ] as const;
    const published = pairs.map(([a, b]) => publishedSimilarity(a, b));
    // More pairs than there are generations of the table of rare trigrams.
    for (let round = 0; round < 9_000; round++) {
      const index = round % pairs.length;
      const [a, b] = pairs[index] as readonly [string, string];
      // Calling expect() each time would take longer than the comparisons.
      if (trigramSimilarity(a, b) !== published[index]) throw new Error(`pair ${index} in round ${round}`);
    }
  });

  it('SPEC-SIL-009: is symmetric, and 1 for a text and itself from three characters on', () => {
    fc.assert(
      fc.property(related, ([a, b]) => {
        expect(trigramSimilarity(a, b)).toBe(trigramSimilarity(b, a));
        const normal = a.toLowerCase().replace(/\s+/g, ' ').trim();
        expect(trigramSimilarity(a, a)).toBe(normal.length < 3 ? 0 : 1);
      }),
    );
  });
});

describe('folded units', () => {
  it('SPEC-SIL-009: are what toLowerCase and \\s make of each of the 65,536, or said to need their context', () => {
    const alone: number[] = [];
    for (let code = 0; code < 65_536; code++) {
      const character = String.fromCharCode(code);
      if (isWhiteSpace(code) !== /\s/.test(character)) throw new Error(`white space: ${code.toString(16)}`);
      const folded = foldedUnit(code);
      if (folded === NEEDS_CONTEXT) {
        if (code < 0xd800 || code > 0xdbff) alone.push(code);
      } else if (folded !== character.toLowerCase().replace(/\s/, ' ').charCodeAt(0)) {
        throw new Error(`unit ${code.toString(16)} is folded to ${folded.toString(16)}`);
      }
    }
    expect(alone).toEqual([0x130, 0x3a3]);
  });

  it('SPEC-SIL-009: are right for each half of every surrogate pair that is not said to need its context', () => {
    for (let high = 0xd800; high <= 0xdbff; high++) {
      if (foldedUnit(high) === NEEDS_CONTEXT) continue;
      let pairs = '';
      for (let low = 0xdc00; low <= 0xdfff; low++) pairs += String.fromCharCode(high, low);
      expect(pairs.toLowerCase() === pairs).toBe(true);
    }
  });

  it('SPEC-SIL-009: a text in lower case folds to itself', () => {
    for (let code = 0; code < 65_536; code++) {
      const lower = String.fromCharCode(code).toLowerCase();
      if (lower.toLowerCase() !== lower) throw new Error(`unit ${code.toString(16)} has no last lower case`);
    }
  });
});
