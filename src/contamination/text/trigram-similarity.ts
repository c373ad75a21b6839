import { foldedCodeUnits } from './folded-text.js';

/** Two alphabets up to this size are counted in a flat table of size³ bytes (at most 2 MB). */
const LARGEST_FLAT_ALPHABET = 128;
const IN_FIRST = 1;
const IN_SECOND = 2;

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
  return trigramSimilarityOf(foldedCodeUnits(first), foldedCodeUnits(second));
}

/** As `trigramSimilarity`, for texts that were folded before. */
export function trigramSimilarityOf(first: Uint16Array, second: Uint16Array): number {
  if (first.length < 3 || second.length < 3) return 0;
  const alphabet = new Alphabet();
  const a = alphabet.encode(first);
  const b = alphabet.encode(second);
  const counts =
    alphabet.size <= LARGEST_FLAT_ALPHABET
      ? countFlat(a, b, alphabet.size)
      : countHashed(a, b, alphabet.size);
  return counts.both / (counts.first + counts.second - counts.both);
}

interface TrigramCounts {
  readonly first: number;
  readonly second: number;
  readonly both: number;
}

/** Numbers the code units of two texts in the order in which they appear, so that trigrams become small. */
class Alphabet {
  /** One higher than the number in use, so that 0 means "not seen yet". */
  private readonly numbers = new Uint32Array(65_536);
  size = 0;

  encode(text: Uint16Array): Uint16Array {
    const encoded = new Uint16Array(text.length);
    for (let i = 0; i < text.length; i++) {
      const unit = text[i] as number;
      let number = this.numbers[unit] as number;
      if (number === 0) {
        this.size += 1;
        number = this.size;
        this.numbers[unit] = number;
      }
      encoded[i] = number - 1;
    }
    return encoded;
  }
}

function countFlat(a: Uint16Array, b: Uint16Array, size: number): TrigramCounts {
  const seen = new Uint8Array(size * size * size);
  const square = size * size;
  let first = 0;
  let second = 0;
  let both = 0;
  // The two leading places of the next trigram are what is left of this one without its first.
  let pair = (a[0] as number) * size + (a[1] as number);
  for (let i = 2; i < a.length; i++) {
    const trigram = pair * size + (a[i] as number);
    pair = trigram % square;
    if (seen[trigram] === 0) {
      seen[trigram] = IN_FIRST;
      first += 1;
    }
  }
  pair = (b[0] as number) * size + (b[1] as number);
  for (let i = 2; i < b.length; i++) {
    const trigram = pair * size + (b[i] as number);
    pair = trigram % square;
    const mark = seen[trigram] as number;
    if (mark >= IN_SECOND) continue;
    seen[trigram] = mark | IN_SECOND;
    second += 1;
    both += mark;
  }
  return { first, second, both };
}

/** For texts of many scripts: an open-addressing table keyed by the trigram's number (below 2⁴⁸). */
function countHashed(a: Uint16Array, b: Uint16Array, size: number): TrigramCounts {
  const capacity = 2 ** Math.ceil(Math.log2((a.length + b.length) * 2));
  const keys = new Float64Array(capacity);
  const marks = new Uint8Array(capacity);
  const slotOf = (text: Uint16Array, end: number): number => {
    const high = (text[end - 2] as number) * size + (text[end - 1] as number);
    const low = text[end] as number;
    const key = high * size + low;
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
