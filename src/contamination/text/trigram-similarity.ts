import { type FoldedText, foldText } from './folded-text.js';

/** Up to 2⁷ - 1 units have numbers of their own, so that a flat table of 2²¹ bytes holds every trigram of them. */
const MOST_BITS = 7;
const MOST_NUMBERS = 2 ** MOST_BITS - 1;
/** With so many units without a number, trigrams of numbered units alone are no longer the rule. */
const MOST_RARE = 512;
const IN_FIRST = 1;
const IN_SECOND = 2;

/** Number of a code unit in the pair under work; filled and emptied again by `trigramSimilarityOf`. */
const numbers = new Uint16Array(65_536);

/**
 * Jaccard similarity of the character trigrams of two texts, compared without regard to letter case and to
 * the length of white space (SPEC-SIL-009, R1). A text with fewer than three characters has no trigram and
 * is similar to nothing: 0.
 *
 * The number is exact: it equals the one that sets of substrings would give, at a fraction of the work,
 * because a trigram is a number here and no substring is ever made.
 *
 * @returns a number in [0, 1]
 */
export function trigramSimilarity(first: string, second: string): number {
  return trigramSimilarityOf(foldText(first), foldText(second));
}

/** As `trigramSimilarity`, for texts that were folded before. */
export function trigramSimilarityOf(first: FoldedText, second: FoldedText): number {
  if (first.units.length < 3 || second.units.length < 3) return 0;
  const { numbered, rare } = numberUnits(first.alphabet, second.alphabet);
  const bits = Math.ceil(Math.log2(numbered + 1));
  const count = rare === 0 ? countFlat : rare <= MOST_RARE ? countMixed : countHashed;
  const counts = count(first.units, second.units, bits);
  for (const alphabet of [first.alphabet, second.alphabet]) for (const unit of alphabet) numbers[unit] = 0;
  return counts.both / (counts.first + counts.second - counts.both);
}

/**
 * Gives the units of two texts numbers from 1 on, the small code units first: what texts are mostly made of stands there.
 * The units for which no number is left keep 0.
 */
function numberUnits(...alphabets: (readonly number[])[]): { numbered: number; rare: number } {
  const units = [...new Set(alphabets.flat())].sort((a, b) => a - b);
  const numbered = Math.min(units.length, MOST_NUMBERS);
  for (let index = 0; index < numbered; index++) numbers[units[index] as number] = index + 1;
  return { numbered, rare: units.length - numbered };
}

interface TrigramCounts {
  readonly first: number;
  readonly second: number;
  readonly both: number;
}

/** Kept from one pair to the next: fresh memory costs more than the counting. */
let marks = new Uint8Array(0);

/** A trigram is three numbers of a few bits side by side, and its mark stands at that place of a table. */
function countFlat(a: Uint16Array, b: Uint16Array, bits: number): TrigramCounts {
  const size = 2 ** (3 * bits);
  if (marks.length < size) marks = new Uint8Array(size);
  else marks.fill(0, 0, size);
  const seen = marks;
  const mask = size - 1;
  let first = 0;
  let second = 0;
  let both = 0;
  let trigram = ((numbers[a[0] as number] as number) << bits) | (numbers[a[1] as number] as number);
  for (let i = 2; i < a.length; i++) {
    trigram = ((trigram << bits) | (numbers[a[i] as number] as number)) & mask;
    if (seen[trigram] === 0) {
      seen[trigram] = IN_FIRST;
      first += 1;
    }
  }
  trigram = ((numbers[b[0] as number] as number) << bits) | (numbers[b[1] as number] as number);
  for (let i = 2; i < b.length; i++) {
    trigram = ((trigram << bits) | (numbers[b[i] as number] as number)) & mask;
    const mark = seen[trigram] as number;
    if (mark >= IN_SECOND) continue;
    seen[trigram] = mark | IN_SECOND;
    second += 1;
    both += mark;
  }
  return { first, second, both };
}

/** As `countFlat`, but a trigram that holds a unit without a number is looked up by its 48 bits instead. */
function countMixed(a: Uint16Array, b: Uint16Array, bits: number): TrigramCounts {
  const size = 2 ** (3 * bits);
  if (marks.length < size) marks = new Uint8Array(size);
  else marks.fill(0, 0, size);
  const seen = marks;
  const mask = size - 1;
  const rare = new Map<number, number>();
  let first = 0;
  let second = 0;
  let both = 0;
  let trigram = 0;
  // Units since the last one without a number.
  let run = 0;
  for (let i = 0; i < a.length; i++) {
    const number = numbers[a[i] as number] as number;
    trigram = ((trigram << bits) | number) & mask;
    run = number === 0 ? 0 : run + 1;
    if (run >= 3) {
      if (seen[trigram] === 0) {
        seen[trigram] = IN_FIRST;
        first += 1;
      }
    } else if (i >= 2) {
      const key = keyAt(a, i);
      if (rare.has(key)) continue;
      rare.set(key, IN_FIRST);
      first += 1;
    }
  }
  run = 0;
  for (let i = 0; i < b.length; i++) {
    const number = numbers[b[i] as number] as number;
    trigram = ((trigram << bits) | number) & mask;
    run = number === 0 ? 0 : run + 1;
    if (run >= 3) {
      const mark = seen[trigram] as number;
      if (mark >= IN_SECOND) continue;
      seen[trigram] = mark | IN_SECOND;
      second += 1;
      both += mark;
    } else if (i >= 2) {
      const key = keyAt(b, i);
      const mark = rare.get(key) ?? 0;
      if (mark >= IN_SECOND) continue;
      rare.set(key, mark | IN_SECOND);
      second += 1;
      both += mark;
    }
  }
  return { first, second, both };
}

/** The 48 bits of the trigram that ends at an offset. */
function keyAt(text: Uint16Array, end: number): number {
  return ((text[end - 2] as number) * 65_536 + (text[end - 1] as number)) * 65_536 + (text[end] as number);
}

/** For texts of many scripts: an open-addressing table keyed by the trigram's 48 bits. */
function countHashed(a: Uint16Array, b: Uint16Array): TrigramCounts {
  const capacity = 2 ** Math.ceil(Math.log2((a.length + b.length) * 2));
  const keys = new Float64Array(capacity);
  const marks = new Uint8Array(capacity);
  const slotOf = (text: Uint16Array, end: number): number => {
    const high = (text[end - 2] as number) * 65_536 + (text[end - 1] as number);
    const low = text[end] as number;
    const key = high * 65_536 + low;
    let slot = (Math.imul(high, 0x9e3779b1) ^ Math.imul(low, 0x85ebca6b)) & (capacity - 1);
    while (marks[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & (capacity - 1);
    keys[slot] = key;
    return slot;
  };
  let first = 0;
  let second = 0;
  let both = 0;
  for (let i = 2; i < a.length; i++) {
    const slot = slotOf(a, i);
    if (marks[slot] === 0) {
      marks[slot] = IN_FIRST;
      first += 1;
    }
  }
  for (let i = 2; i < b.length; i++) {
    const slot = slotOf(b, i);
    const mark = marks[slot] as number;
    if (mark >= IN_SECOND) continue;
    marks[slot] = mark | IN_SECOND;
    second += 1;
    both += mark;
  }
  return { first, second, both };
}
