import { tile } from '../code/tiling.js';
import type { SpanPair } from '../types.js';
import { joinPassages } from './passages.js';
import type { Words } from './words.js';

export interface ProseComparison {
  /** Fraction of the known text in equal stretches of at least five words. */
  readonly containment: number;
  /** Fraction of the known text in passages of at least twelve words, single other words between allowed. */
  readonly wording: number;
  /** Weight of the words in equal stretches of at least ten. */
  readonly amount: number;
  readonly total: number;
  readonly spans: () => SpanPair[];
}

const MIN_TILE_LENGTH = 3;
const CONTAINED_STRETCH = 5;
const LONG_STRETCH = 10;
const MIN_PASSAGE_LENGTH = 12;
/** Fraction of a passage's words that must be the known text's own. */
const MIN_EQUAL = 0.6;

export function compareProse(output: Words, known: Words): ProseComparison {
  const tiles = tile(output.hash, known.hash, MIN_TILE_LENGTH);
  const weigh = (from: number, to: number): number => {
    let sum = 0;
    for (let i = from; i < to; i++) sum += known.weight[i] as number;
    return sum;
  };
  const total = weigh(0, known.weight.length);
  let contained = 0;
  let amount = 0;
  for (const { known: from, length } of tiles) {
    const weight = weigh(from, from + length);
    if (length >= CONTAINED_STRETCH) contained += weight;
    if (length >= LONG_STRETCH) amount += weight;
  }
  const passages = joinPassages(tiles).filter((passage) => {
    const length = passage.known[1] - passage.known[0];
    return length >= MIN_PASSAGE_LENGTH && passage.equal >= MIN_EQUAL * length;
  });
  const worded = passages.reduce((sum, passage) => sum + weigh(...passage.known), 0);
  const fraction = (weight: number): number => (total === 0 ? 0 : Math.min(1, weight / total));
  return {
    containment: fraction(contained),
    wording: fraction(worded),
    amount,
    total,
    spans: () =>
      passages.map((passage) => ({
        output: wordSpan(output, passage.output),
        known: wordSpan(known, passage.known),
      })),
  };
}

function wordSpan(words: Words, [from, to]: readonly [number, number]): readonly [number, number] {
  return [words.start[from] as number, words.end[to - 1] as number];
}
