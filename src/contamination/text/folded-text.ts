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

/**
 * The normal form of the binding checks: lower case, every run of white space one space, none at the ends;
 * as UTF-16 code units. Equal to `text.toLowerCase().replace(/\s+/g, ' ').trim()`.
 */
export function foldedCodeUnits(text: string): Uint16Array {
  const lower = text.toLowerCase();
  const folded = new Uint16Array(lower.length);
  let length = 0;
  let gap = false;
  for (let i = 0; i < lower.length; i++) {
    const unit = lower.charCodeAt(i);
    if (WHITE_SPACE[unit] === 1) {
      gap = length > 0;
      continue;
    }
    if (gap) {
      folded[length++] = SPACE;
      gap = false;
    }
    folded[length++] = unit;
  }
  return folded.subarray(0, length);
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
