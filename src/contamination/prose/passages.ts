import type { Tile } from '../code/tiling.js';

/** A stretch of words that both texts have, apart from single words put in place of others. */
export interface Passage {
  readonly output: readonly [from: number, to: number];
  readonly known: readonly [from: number, to: number];
  /** Words that are in both. */
  readonly equal: number;
}

/** Words that may differ between two equal stretches of one passage. */
const MAX_GAP = 4;
const MAX_SHIFT = 2;

/** Joins equal stretches that follow one another in both texts with a few other words between them. */
export function joinPassages(tiles: readonly Tile[]): Passage[] {
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
