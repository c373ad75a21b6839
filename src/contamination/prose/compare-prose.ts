import { type Tile, tile } from '../code/tiling.js';
import type { SpanPair } from '../types.js';
import type { Words } from './words.js';

/** A stretch of words that both texts have, except for single words replaced by others. */
interface Passage {
  readonly output: readonly [from: number, to: number];
  readonly known: readonly [from: number, to: number];
  /** Words that are in both. */
  readonly equal: number;
}

/** Words that may differ between two equal stretches of one passage. */
const MAX_GAP = 4;
const MAX_SHIFT = 2;

/** Joins equal stretches that follow one another in both texts with a few other words between them. */
function joinPassages(tiles: readonly Tile[]): Passage[] {
  const inOrder = [...tiles].sort((a, b) => a.known - b.known || a.output - b.output);
  const passages: { output: [number, number]; known: [number, number]; equal: number }[] = [];
  for (const tile of inOrder) {
    const last = passages[passages.length - 1];
    if (last !== undefined && follows(last, tile)) {
      last.output[1] = tile.output + tile.length;
      last.known[1] = tile.known + tile.length;
      last.equal += tile.length;
      continue;
    }
    passages.push({
      output: [tile.output, tile.output + tile.length],
      known: [tile.known, tile.known + tile.length],
      equal: tile.length,
    });
  }
  return passages;
}

function follows(passage: Passage, tile: Tile): boolean {
  const inOutput = tile.output - passage.output[1];
  const inKnown = tile.known - passage.known[1];
  if (inOutput < 0 || inKnown < 0) return false;
  return inOutput <= MAX_GAP && inKnown <= MAX_GAP && Math.abs(inOutput - inKnown) <= MAX_SHIFT;
}

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
