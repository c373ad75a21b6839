import { createHash } from 'node:crypto';

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

/** A text as it counts: in lower case, every run of white space one space, none at the ends. */
export function foldedText(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ').trim();
}

/**
 * SHA-256 (hexadecimal) of the folded text: what `isInTrainingSet` compares. A text with a lone
 * surrogate has no UTF-8 form (two such texts would become equal), so there the code units are hashed.
 */
export function contentHash(text: string): string {
  const folded = foldedText(text);
  const encoding = /\p{Surrogate}/u.test(folded) ? 'utf16le' : 'utf8';
  return createHash('sha256').update(folded, encoding).digest('hex');
}
