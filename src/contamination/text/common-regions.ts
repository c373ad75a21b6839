import type { SpanPair } from '../types.js';
import { isWhiteSpace } from './folded-text.js';

/** A common region is worth showing from this many characters on (white space counted once). */
export const MIN_REGION_LENGTH = 50;
const WINDOW = 24;
/** A region of 50 characters always holds a whole window that starts at a multiple of this. */
const STRIDE = MIN_REGION_LENGTH - WINDOW + 1;
/** How many occurrences of one repeated window are tried; bounds the work on a text like "aaaa…". */
const MAX_OCCURRENCES = 8;
const BASE = 0x01000193;

/** A text with its white space squeezed and its case folded, and where each unit was. */
interface SqueezedText {
  readonly units: Uint16Array;
  /** offsets[i] is the position of unit i in the original text; one more entry closes the last unit. */
  readonly offsets: Uint32Array;
}

/**
 * The longest regions that two texts share, letter case and the length of white space set aside: longest
 * first, none overlapping another in either text, each at least `SHORTEST_REGION` characters long.
 * Offsets are UTF-16 positions in the original texts. Work grows linearly with the texts.
 */
export function commonRegions(output: string, known: string, atMost: number): SpanPair[] {
  const a = squeeze(output);
  const b = squeeze(known);
  const positions = windowPositions(b.units);
  const found = matchesAlong(a.units, b.units, positions);
  found.sort((x, y) => y.length - x.length || x.a - y.a);
  const chosen: UnitMatch[] = [];
  for (const match of found) {
    if (chosen.length === atMost) break;
    if (chosen.some((other) => overlaps(match, other))) continue;
    chosen.push(match);
  }
  return chosen.map((match) => ({
    output: originalSpan(a, match.a, match.length),
    known: originalSpan(b, match.b, match.length),
  }));
}

interface UnitMatch {
  readonly a: number;
  readonly b: number;
  readonly length: number;
}

function overlaps(x: UnitMatch, y: UnitMatch): boolean {
  const disjointInA = x.a + x.length <= y.a || y.a + y.length <= x.a;
  const disjointInB = x.b + x.length <= y.b || y.b + y.length <= x.b;
  return !(disjointInA && disjointInB);
}

function squeeze(text: string): SqueezedText {
  const units = new Uint16Array(text.length);
  const offsets = new Uint32Array(text.length + 1);
  let length = 0;
  let gap = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (isWhiteSpace(unit)) {
      if (!gap && length > 0) {
        offsets[length] = i;
        units[length++] = 0x20;
      }
      gap = true;
      continue;
    }
    gap = false;
    offsets[length] = i;
    units[length++] = unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
  }
  if (gap && length > 0) length -= 1;
  offsets[length] = length === 0 ? 0 : (offsets[length - 1] as number) + 1;
  return { units: units.subarray(0, length), offsets: offsets.subarray(0, length + 1) };
}

function originalSpan(text: SqueezedText, from: number, length: number): readonly [number, number] {
  return [text.offsets[from] as number, (text.offsets[from + length - 1] as number) + 1];
}

function windowHash(units: Uint16Array, from: number): number {
  let hash = 0;
  for (let i = from; i < from + WINDOW; i++) hash = (Math.imul(hash, BASE) + (units[i] as number)) | 0;
  return hash;
}

function windowPositions(units: Uint16Array): Map<number, number[]> {
  const positions = new Map<number, number[]>();
  for (let from = 0; from + WINDOW <= units.length; from += STRIDE) {
    const hash = windowHash(units, from);
    const list = positions.get(hash);
    if (list === undefined) positions.set(hash, [from]);
    else if (list.length < MAX_OCCURRENCES) list.push(from);
  }
  return positions;
}

/** Slides over `a` and takes, wherever a window of `b` is met, the longest match through it. */
function matchesAlong(a: Uint16Array, b: Uint16Array, positions: Map<number, number[]>): UnitMatch[] {
  const found: UnitMatch[] = [];
  if (a.length < WINDOW) return found;
  let leading = 1;
  for (let i = 1; i < WINDOW; i++) leading = Math.imul(leading, BASE);
  let hash = windowHash(a, 0);
  for (let from = 0; from + WINDOW <= a.length; ) {
    let next = from + 1;
    let longest: UnitMatch | undefined;
    for (const position of positions.get(hash) ?? []) {
      const last = found[found.length - 1];
      const inLast =
        last !== undefined && from - position === last.a - last.b && from + WINDOW <= last.a + last.length;
      if (inLast) continue;
      const match = extend(a, b, from, position);
      if (match.length >= MIN_REGION_LENGTH && match.length > (longest?.length ?? 0)) longest = match;
    }
    if (longest !== undefined) {
      found.push(longest);
      // What starts inside this match can only be longer if it ends after it, and is then met from here on.
      next = Math.max(next, longest.a + longest.length - MIN_REGION_LENGTH + 1);
    }
    if (next + WINDOW > a.length) break;
    hash =
      next === from + 1
        ? (Math.imul((hash - Math.imul(a[from] as number, leading)) | 0, BASE) +
            (a[from + WINDOW] as number)) |
          0
        : windowHash(a, next);
    from = next;
  }
  return found;
}

function extend(a: Uint16Array, b: Uint16Array, inA: number, inB: number): UnitMatch {
  let before = 0;
  while (before < inA && before < inB && a[inA - before - 1] === b[inB - before - 1]) before += 1;
  let after = 0;
  while (inA + after < a.length && inB + after < b.length && a[inA + after] === b[inB + after]) after += 1;
  return { a: inA - before, b: inB - before, length: before + after };
}
