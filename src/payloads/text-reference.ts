import { createHash } from 'node:crypto';

/** Field that marks a reference. No contract has an object with it in the place of a text. */
const MARK = 'fleet:text';

/**
 * Smallest text that may be stored apart, in bytes: a reference with its bookkeeping is no smaller than that, and a
 * comparison of payloads need not take digests of shorter texts.
 */
export const MIN_STORED_BYTES = 1_024;

/** Largest text that is ever taken out of the store, in bytes: what the configuration allows at most. */
export const MAX_STORED_BYTES = 2 ** 29;

/** What is in a job in the place of a long text. */
export interface TextReference {
  /** SHA-256 (hexadecimal) of the text's bytes and of how they encode it. */
  readonly [MARK]: string;
  /** Size of the text's bytes before compression. */
  readonly bytes: number;
}

/** A text as bytes. Half a surrogate pair has no UTF-8, so that a text with one is kept as UTF-16. */
export interface EncodedText {
  readonly encoding: 'utf8' | 'utf16le';
  readonly bytes: Buffer;
  readonly digest: string;
}

export function encodeText(text: string): EncodedText {
  const encoding = /\p{Surrogate}/u.test(text) ? 'utf16le' : 'utf8';
  const bytes = Buffer.from(text, encoding);
  return { encoding, bytes, digest: digestOf(encoding, bytes) };
}

/** The digest by which bytes in an encoding are named. */
export function digestOf(encoding: EncodedText['encoding'], bytes: Buffer): string {
  return createHash('sha256').update(`${encoding}\0`).update(bytes).digest('hex');
}

export function referenceTo({ digest, bytes }: EncodedText): TextReference {
  return { [MARK]: digest, bytes: bytes.length };
}

export function referencedDigest(reference: TextReference): string {
  return reference[MARK];
}

export function isTextReference(value: unknown): value is TextReference {
  if (typeof value !== 'object' || value === null) return false;
  const { [MARK]: digest, bytes } = value as Partial<TextReference>;
  if (digest === undefined || Object.keys(value).length !== 2) return false;
  return typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest) && Number.isSafeInteger(bytes);
}

/** Deepest level at which texts are looked for. No contract nests a tenth as deep, and each level takes stack. */
const MAX_LEVEL = 500;

/** Offers every text and every reference of JSON data to `visit`. */
export function eachText(
  value: unknown,
  visit: (found: string | TextReference) => void,
  level = MAX_LEVEL,
): void {
  if (typeof value === 'string' || isTextReference(value)) visit(value);
  else if (level > 0 && typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) eachText(item, visit, level - 1);
  }
}

/** A copy of JSON data in which `replace` was offered every text and every reference. */
export function mapTexts(
  value: unknown,
  replace: (found: string | TextReference) => unknown,
  level = MAX_LEVEL,
): unknown {
  if (typeof value === 'string' || isTextReference(value)) return replace(value);
  if (level === 0 || typeof value !== 'object' || value === null) return value;
  const copy = (item: unknown) => mapTexts(item, replace, level - 1);
  if (Array.isArray(value)) return value.map(copy);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)]));
}

/** Digests of all texts that data name. */
export function referencesIn(value: unknown): string[] {
  const digests = new Set<string>();
  eachText(value, (found) => {
    if (typeof found !== 'string') digests.add(referencedDigest(found));
  });
  return [...digests];
}

/**
 * JSON data in a form in which two are equal exactly where their complete contents are, whichever of their texts are
 * stored apart: longer texts are replaced by their digests.
 */
export function comparable(value: unknown): unknown {
  return mapTexts(value, (found) => {
    if (typeof found !== 'string') return { [MARK]: referencedDigest(found) };
    // A UTF-16 code unit is at most three bytes of UTF-8.
    if (found.length * 3 < MIN_STORED_BYTES) return found;
    return { [MARK]: encodeText(found).digest };
  });
}
