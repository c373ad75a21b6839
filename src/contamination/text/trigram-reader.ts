import { entryOf, RareTrigrams, slotOf, tagOf } from './rare-trigrams.js';
import { NUMBER_BITS, RARE, UNMET, UnitCodes } from './unit-codes.js';

/** Tag of a trigram that is in the first text only so far. */
export const IN_FIRST = 1;
/** Tag of a trigram that is in the second text, whether in the first or not. */
export const IN_SECOND = 2;
type Tag = typeof IN_FIRST | typeof IN_SECOND;

/** The different trigrams of one text. */
export interface TrigramCounts {
  readonly distinct: number;
  /** Those of them that the first text has too; of use for the second text only. */
  readonly shared: number;
}

// What the loops below use is constants of this module, tables too: the compiler then puts their values and addresses
// into its code. As imports or as fields of an object they take twice as long.
const BITS = NUMBER_BITS;
const NUMBER = 2 ** BITS - 1;
const LAST_TWO = 2 ** (2 * BITS) - 1;
const LAST_COMMON = 2 ** (3 * BITS) - 1;
const LAST_IS_RARE = RARE;
const SECOND_IS_RARE = RARE << BITS;
/** What the next window needs of the last one. */
const CARRIED = LAST_TWO | LAST_IS_RARE | SECOND_IS_RARE;
const IS_UNMET = UNMET;
const ONLY_IN_FIRST = IN_FIRST;
const NO_UNIT = -1;
/** Units that are taken from a text at once; they stay in the fastest cache. */
const PIECE = 4_096;

const unitCodes = new UnitCodes();
const { codes, folded, commonUnits } = unitCodes;
const rare = new RareTrigrams();
const units = new Uint16Array(PIECE);
const bytes = Buffer.from(units.buffer);
/** Tag of each trigram of common units. */
const tags = new Uint8Array(LAST_COMMON + 1);
/** The trigrams with a tag, those of the second text again. */
const tagged = new Int32Array(2 * tags.length + 1);

/**
 * Where the reading is. `window` holds the last three units: the numbers of common ones side by side, and above them
 * for each of the three a bit that says whether it is rare. So one comparison tells trigrams of common units from the
 * others. `second` and `last` are the last two units themselves, right only where these are rare.
 */
const state = { window: 0, second: NO_UNIT, last: NO_UNIT, taggedCount: 0, rareDistinct: 0, shared: 0 };

/** Forgets the last pair; two texts of so many units together are to be read. */
export function startPair(length: number): void {
  for (let i = 0; i < state.taggedCount; i++) tags[tagged[i] as number] = 0;
  state.taggedCount = 0;
  unitCodes.startPair();
  rare.startPair(length);
}

/** Tags the trigrams of a text that has no white space at its ends: the first one of a pair, then the second. */
export function readTrigrams(trimmed: string, tag: Tag): TrigramCounts {
  let text = unitCodes.inLowerCase ? trimmed.toLowerCase() : trimmed;
  const taggedBefore = state.taggedCount;
  state.window = LAST_IS_RARE | SECOND_IS_RARE;
  state.second = NO_UNIT;
  state.last = NO_UNIT;
  state.rareDistinct = 0;
  state.shared = 0;
  for (let start = 0; start < text.length; ) {
    const piece = text.substring(start, start + PIECE);
    bytes.write(piece, 'utf16le');
    const read = readPiece(piece.length, tag);
    if (read < piece.length) {
      // All before this unit has one unit for each of its own in lower case as well, so the position stays the same.
      text = text.toLowerCase();
      unitCodes.inLowerCase = true;
    }
    start += read;
  }
  return { distinct: state.taggedCount - taggedBefore + state.rareDistinct, shared: state.shared };
}

/** Reads `units`; returns the position of the first one that cannot be folded without its context, else the length. */
function readPiece(length: number, tag: Tag): number {
  let at = readCommon(0, length, tag);
  while (at < length) {
    const unit = units[at] as number;
    if (((codes[unit] as number) & IS_UNMET) === 0) {
      rare.reserve(length - at);
      at = readRare(at, length, tag);
    } else if (!unitCodes.meet(unit)) return at;
    at = readCommon(at, length, tag);
  }
  return length;
}

/**
 * Reads on as long as three common units follow each other. Whether a trigram is new cannot be foretold, so there is no
 * branch for it: a cell of `tagged` is written again and again until the trigram was new.
 */
function readCommon(from: number, length: number, tag: Tag): number {
  const ownBit = tag - 1;
  let { window, taggedCount } = state;
  let shared = 0;
  let i = from;
  for (; i < length; i++) {
    const next = ((window & CARRIED) << BITS) | (codes[units[i] as number] as number);
    if ((next & LAST_TWO) === 0) continue; // a space after a space
    if (next > LAST_COMMON) break;
    window = next;
    const had = tags[next] as number;
    tags[next] = tag;
    tagged[taggedCount] = next;
    taggedCount = (taggedCount + 1 - (had >>> ownBit)) | 0;
    shared = (shared + (had & ONLY_IN_FIRST)) | 0;
  }
  state.window = window;
  state.taggedCount = taggedCount;
  state.shared += shared;
  return i;
}

/** Reads on as long as one of the last three units is rare (or, at the start of a text, missing). */
function readRare(from: number, length: number, tag: Tag): number {
  const { table, lastSlot, generation } = rare;
  const ownBit = tag - 1;
  let { window } = state;
  let second = (window & SECOND_IS_RARE) === 0 ? common(window >> BITS) : state.second;
  let last = (window & LAST_IS_RARE) === 0 ? common(window) : state.last;
  let distinct = 0;
  let shared = 0;
  let i = from;
  for (; i < length; i++) {
    const unit = units[i] as number;
    const code = codes[unit] as number;
    const next = ((window & CARRIED) << BITS) | code;
    if ((next & LAST_TWO) === 0) continue;
    if (next <= LAST_COMMON) break;
    if ((code & IS_UNMET) !== 0) {
      if (!unitCodes.meet(unit)) break;
      i -= 1; // to be read again, now with its code
      continue;
    }
    window = next;
    const first = second;
    second = last;
    last = folded[unit] as number;
    if (first === NO_UNIT || second === NO_UNIT) continue;
    const start = (first << 16) | second;
    const untagged = entryOf(generation, last);
    const slot = slotOf(table, lastSlot, generation, start, untagged);
    const had = tagOf(table[slot + 1] as number, generation);
    table[slot] = start;
    table[slot + 1] = untagged | tag;
    distinct += 1 - (had >>> ownBit);
    shared += had & ONLY_IN_FIRST;
  }
  state.window = window;
  state.second = second;
  state.last = last;
  state.rareDistinct += distinct;
  state.shared += shared;
  rare.taken += tag === IN_SECOND ? distinct - shared : distinct;
  return i;
}

function common(number: number): number {
  return commonUnits[number & NUMBER] as number;
}
