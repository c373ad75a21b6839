/** Where a needle is first in a haystack, and how often it is there without overlapping itself. */
export interface SearchResult {
  readonly first: number;
  readonly count: number;
}

/** `borders[i]`: length of the longest proper prefix of the needle that also ends at `i`. */
function bordersOf(needle: ArrayLike<number>): Int32Array {
  const borders = new Int32Array(needle.length);
  let matched = 0;
  for (let i = 1; i < needle.length; i += 1) {
    const symbol = needle[i];
    while (matched > 0 && needle[matched] !== symbol) matched = borders[matched - 1] ?? 0;
    if (needle[matched] === symbol) matched += 1;
    borders[i] = matched;
  }
  return borders;
}

/**
 * Knuth-Morris-Pratt search over numbers (code units or line numbers): offsets of the needle, in order.
 * `String.prototype.indexOf` takes time proportional to the product of both lengths where a long needle nearly matches
 * everywhere, which a generated script with repeated lines does; this takes time proportional to their sum.
 */
function* offsetsOf(
  needle: ArrayLike<number>,
  haystack: ArrayLike<number>,
  overlapping: boolean,
): Generator<number> {
  if (needle.length === 0 || needle.length > haystack.length) return;
  const borders = bordersOf(needle);
  const again = overlapping ? (borders[needle.length - 1] ?? 0) : 0;
  let matched = 0;
  for (let i = 0; i < haystack.length; i += 1) {
    const symbol = haystack[i];
    while (matched > 0 && needle[matched] !== symbol) matched = borders[matched - 1] ?? 0;
    if (needle[matched] === symbol) matched += 1;
    if (matched < needle.length) continue;
    matched = again;
    yield i + 1 - needle.length;
  }
}

/** @returns null where the needle is empty or is not in the haystack. */
export function search(needle: ArrayLike<number>, haystack: ArrayLike<number>): SearchResult | null {
  let first = -1;
  let count = 0;
  for (const offset of offsetsOf(needle, haystack, false)) {
    if (count === 0) first = offset;
    count += 1;
  }
  return count === 0 ? null : { first, count };
}

function codeUnits(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  for (let i = 0; i < text.length; i += 1) units[i] = text.charCodeAt(i);
  return units;
}

/** `search` for text: offsets are UTF-16 code units. */
export function searchText(needle: string, haystack: string): SearchResult | null {
  if (needle.length > haystack.length) return null;
  return search(codeUnits(needle), codeUnits(haystack));
}

/** Every offset at which a text is, also where it overlaps itself. */
export function occurrencesOf(needle: string, haystack: string): Iterable<number> {
  return needle.length > haystack.length ? [] : offsetsOf(codeUnits(needle), codeUnits(haystack), true);
}
