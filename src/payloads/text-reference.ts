import { createHash } from 'node:crypto';

/** Field that identifies a reference. No contract allows an object with this field instead of a text. */
const DIGEST_FIELD = 'fleet:text';

/**
 * Minimum size of a text that may be stored separately, in bytes: a reference with its bookkeeping is about as large, and
 * comparisons of payloads need no digests of shorter texts.
 */
export const MIN_STORED_BYTES = 1_024;

/** Maximum size of a text that is read from the store, in bytes: the configuration's maximum. */
export const MAX_STORED_BYTES = 2 ** 29;

/** Replaces a long text in a job. */
export interface TextReference {
  /** SHA-256 (hexadecimal) of the text's bytes and of how they encode it. */
  readonly [DIGEST_FIELD]: string;
  /** Size of the text's bytes before compression. */
  readonly bytes: number;
}

/** A text as bytes. UTF-8 cannot encode half a surrogate pair, so a text with one is stored as UTF-16. */
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

/** The digest that names bytes in an encoding. */
export function digestOf(encoding: EncodedText['encoding'], bytes: Buffer): string {
  return createHash('sha256').update(`${encoding}\0`).update(bytes).digest('hex');
}

export function referenceTo({ digest, bytes }: EncodedText): TextReference {
  return { [DIGEST_FIELD]: digest, bytes: bytes.length };
}

export function referencedDigest(reference: TextReference): string {
  return reference[DIGEST_FIELD];
}

function isTextReference(value: unknown): value is TextReference {
  if (typeof value !== 'object' || value === null) return false;
  const { [DIGEST_FIELD]: digest, bytes } = value as Partial<TextReference>;
  if (digest === undefined || Object.keys(value).length !== 2) return false;
  return typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest) && Number.isSafeInteger(bytes);
}

/** Maximum nesting at which texts are found. No contract nests a tenth as deeply, and each level takes stack. */
const MAX_LEVEL = 500;

/** Calls `visit` with every text and every reference in JSON data. */
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

/** A copy of JSON data with the result of `replace` for every text and every reference. */
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

/** Digests of all texts that data refer to. */
export function referencesIn(value: unknown): string[] {
  const digests = new Set<string>();
  eachText(value, (found) => {
    if (typeof found !== 'string') digests.add(referencedDigest(found));
  });
  return [...digests];
}

/**
 * JSON data in a comparable form: two values are equal exactly if their complete contents are, no matter which texts are
 * stored separately. Longer texts are replaced by their digests.
 */
export function comparable(value: unknown): unknown {
  return mapTexts(value, (found) => {
    if (typeof found !== 'string') return { [DIGEST_FIELD]: referencedDigest(found) };
    // A UTF-16 code unit is at most three bytes of UTF-8.
    if (found.length * 3 < MIN_STORED_BYTES) return found;
    return { [DIGEST_FIELD]: encodeText(found).digest };
  });
}
