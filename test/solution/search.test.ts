import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { locateBlock } from '../../src/solution/index.js';
import { equalTextBefore, search, searchText } from '../../src/solution/search.js';

/** The same numbers, with every look at one of them counted. */
function counted(values: ArrayLike<number>, counter: { looks: number }): ArrayLike<number> {
  return new Proxy(values, {
    get(target, key) {
      if (key !== 'length') counter.looks += 1;
      return Reflect.get(target, key);
    },
  });
}

function looksFor(needle: readonly number[], haystack: readonly number[]): number {
  const counter = { looks: 0 };
  search(counted(needle, counter), counted(haystack, counter));
  return counter.looks;
}

/** A text that matches all of the needle but its last symbol, again and again. */
const nearly = (length: number): [number[], number[]] => [
  [...new Array<number>(length / 2).fill(1), 2],
  new Array<number>(length).fill(1),
];
const nearlyAround = (length: number): [number[], number[]] => [
  [...new Array<number>(length / 4).fill(1), 2, ...new Array<number>(length / 4).fill(1)],
  new Array<number>(length).fill(1),
];
const nearlyFromTheEnd = (length: number): [number[], number[]] => [
  [2, ...new Array<number>(length / 2).fill(1)],
  new Array<number>(length).fill(1),
];

describe('search', () => {
  it('finds what indexOf finds', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 30 });
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength: 1, maxLength: 5 }),
        text,
        (needle, haystack) => {
          const first = haystack.indexOf(needle);
          const expected = first === -1 ? null : { first, count: haystack.split(needle).length - 1 };
          expect(searchText(needle, haystack)).toEqual(expected);
        },
      ),
      { numRuns: 150 },
    );
  });

  it.each([
    ['differs in its last line', nearly],
    ['differs in the middle', nearlyAround],
    ['differs in its first line', nearlyFromTheEnd],
  ])('ten times the input takes at most thirteen times the steps where the block %s', (_name, texts) => {
    const small = looksFor(...texts(2_000));
    const large = looksFor(...texts(20_000));
    expect(small).toBeGreaterThan(2_000);
    expect(large).toBeLessThanOrEqual(13 * small);
  });
});

describe('locateBlock on large scripts', () => {
  const statement = 'x = scaler.fit_transform(frame[["a", "b"]])\n';

  it.each([
    ['nearly matching lines', statement.repeat(20_000), `${statement.repeat(10_000)}y\n`],
    ['one nearly matching line', 'a'.repeat(1 << 20), `${'a'.repeat(1 << 18)}b${'a'.repeat(1 << 18)}`],
    ['blank lines', '\n'.repeat(1 << 20), `${'\n'.repeat(1 << 19)}x`],
    ['blanks', ' '.repeat(1 << 20), `${' '.repeat(1 << 19)}x`],
  ])('ends for 1 MiB of %s', (_name, content, block) => {
    // In steps proportional to the product of both lengths, 10^11, it would not end within the test's time.
    expect(locateBlock(block, content)).toBeNull();
  });
});

describe('equalTextBefore', () => {
  it('tells for every offset how much of the text before it is the text before the position', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 40 }),
        fc.nat(40),
        (text, at) => {
          const position = Math.min(at, text.length);
          const expected = Array.from({ length: text.length + 1 }, (_, offset) => {
            let length = 0;
            while (
              length < Math.min(position, offset) &&
              text[position - 1 - length] === text[offset - 1 - length]
            )
              length += 1;
            return length;
          });
          expect([...equalTextBefore(position, text)]).toEqual(expected);
        },
      ),
    );
  });
});
