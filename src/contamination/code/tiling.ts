/** One stretch of equal tokens. */
export interface Tile {
  readonly output: number;
  readonly known: number;
  readonly length: number;
}

/** How many occurrences of one repeated stretch are tried. */
const MAX_OCCURRENCES = 16;
/** Comparisons for every token of both sides; more than texts that people write ever need. */
const WORK_A_TOKEN = 200;

/**
 * Covers two token sequences with the longest equal stretches, longest first; no token is used twice on
 * either side (greedy string tiling; Wise 1993). Stretches shorter than `shortest` are left out.
 */
export function tile(output: Int32Array, known: Int32Array, shortest: number): Tile[] {
  const seeds = seedPositions(known, shortest);
  const found: Tile[] = [];
  const diagonalEnd = new Map<number, number>();
  let work = WORK_A_TOKEN * (output.length + known.length);
  for (let at = 0; at + shortest <= output.length && work > 0; at++) {
    for (const position of seeds.get(seedHash(output, at, shortest)) ?? []) {
      const diagonal = at - position;
      if ((diagonalEnd.get(diagonal) ?? 0) > at) continue;
      let length = 0;
      while (
        at + length < output.length &&
        position + length < known.length &&
        output[at + length] === known[position + length]
      ) {
        length += 1;
      }
      work -= length;
      if (length < shortest) continue;
      diagonalEnd.set(diagonal, at + length);
      found.push({ output: at, known: position, length });
    }
  }
  found.sort((x, y) => y.length - x.length || x.output - y.output);
  return chooseTiles(found, output.length, known.length, shortest);
}

function chooseTiles(found: Tile[], outputLength: number, knownLength: number, shortest: number): Tile[] {
  const usedOutput = new Uint8Array(outputLength);
  const usedKnown = new Uint8Array(knownLength);
  const chosen: Tile[] = [];
  const take = (tile: Tile): void => {
    usedOutput.fill(1, tile.output, tile.output + tile.length);
    usedKnown.fill(1, tile.known, tile.known + tile.length);
    chosen.push(tile);
  };
  for (const candidate of found) {
    // What is left of the stretch where earlier tiles took parts of it.
    let from = -1;
    for (let i = 0; i <= candidate.length; i++) {
      const free =
        i < candidate.length &&
        usedOutput[candidate.output + i] === 0 &&
        usedKnown[candidate.known + i] === 0;
      if (free && from < 0) from = i;
      if (!free && from >= 0) {
        const length = i - from;
        if (length >= shortest)
          take({ output: candidate.output + from, known: candidate.known + from, length });
        from = -1;
      }
    }
  }
  return chosen;
}

function seedHash(tokens: Int32Array, at: number, length: number): number {
  let hash = 0;
  for (let i = at; i < at + length; i++) hash = (Math.imul(hash, 0x01000193) + (tokens[i] as number)) | 0;
  return hash;
}

function seedPositions(tokens: Int32Array, length: number): Map<number, number[]> {
  const positions = new Map<number, number[]>();
  for (let at = 0; at + length <= tokens.length; at++) {
    const hash = seedHash(tokens, at, length);
    const list = positions.get(hash);
    if (list === undefined) positions.set(hash, [at]);
    else if (list.length < MAX_OCCURRENCES) list.push(at);
  }
  return positions;
}
