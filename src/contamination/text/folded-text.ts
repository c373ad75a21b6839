import { createHash } from 'node:crypto';

const SPACE = 0x20;

/** 1 for the code units that JavaScript's `\s` matches (and `trim` removes). */
const WHITE_SPACE = new Uint8Array(65_536);
for (const unit of [
  0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
]) {
  WHITE_SPACE[unit] = 1;
}
WHITE_SPACE[0xfeff] = 1;
for (let unit = 0x2000; unit <= 0x200a; unit++) WHITE_SPACE[unit] = 1;

export function isWhiteSpace(unit: number): boolean {
  return WHITE_SPACE[unit] === 1;
}

/** A text in the normal form of the binding checks. */
export interface FoldedText {
  /** UTF-16 code units: lower case, every run of white space one space, none at the ends. */
  readonly units: Uint16Array;
  /** The different code units among them. */
  readonly alphabet: readonly number[];
}

/** Marks the units seen in the text under work; emptied again before `foldText` returns. */
const seen = new Uint8Array(65_536);
/** Every unit as itself, white space as a space. */
const squeezed = Uint16Array.from({ length: 65_536 }, (_, unit) => (WHITE_SPACE[unit] === 1 ? SPACE : unit));

/**
 * The units of `text.toLowerCase().replace(/\s+/g, ' ').trim()`. The loop has no branch, since where words
 * end cannot be foretold: a white space after another is written and then written over.
 */
export function foldText(text: string): FoldedText {
  const lower = text.toLowerCase();
  const bytes = Buffer.allocUnsafeSlow(lower.length * 2);
  bytes.write(lower, 'utf16le');
  const units = new Uint16Array(bytes.buffer, bytes.byteOffset, lower.length);
  let length = 0;
  let afterSpace = 1;
  let every = 0;
  for (let i = 0; i < units.length; i++) {
    const unit = units[i] as number;
    const isSpace = WHITE_SPACE[unit] as number;
    units[length] = squeezed[unit] as number;
    length += 1 - (isSpace & afterSpace);
    afterSpace = isSpace;
    every |= unit;
    seen[unit] = 1;
  }
  if (afterSpace === 1 && length > 0) length -= 1;
  const folded = units.subarray(0, length);
  return { units: folded, alphabet: takeAlphabet(folded, every) };
}

/** The units marked as seen, the marks taken off; `every` has all their bits. */
function takeAlphabet(folded: Uint16Array, every: number): number[] {
  const end = 2 ** (32 - Math.clz32(every));
  const alphabet: number[] = [];
  for (let unit = 0; unit < end; unit++) {
    if (seen[unit] === 0) continue;
    seen[unit] = 0;
    if (WHITE_SPACE[unit] === 0) alphabet.push(unit);
  }
  if (folded.includes(SPACE)) alphabet.push(SPACE);
  return alphabet;
}

/**
 * SHA-256 (hexadecimal) of the text's normal form: what `isInTrainingSet` compares. A text with a lone
 * surrogate has no UTF-8 form (two such texts would become equal), so there the code units are hashed.
 */
export function contentHash(text: string): string {
  const normalised = text.toLowerCase().replace(/\s+/g, ' ').trim();
  const encoding = /\p{Surrogate}/u.test(normalised) ? 'utf16le' : 'utf8';
  return createHash('sha256').update(normalised, encoding).digest('hex');
}
