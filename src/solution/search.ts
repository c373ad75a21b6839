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

let lastHaystack: { readonly text: string; readonly units: Uint16Array } = {
  text: '',
  units: new Uint16Array(),
};

/** The code units of a text that is searched. All blocks of a script are looked for in it, one after the other. */
function codeUnitsOfHaystack(text: string): Uint16Array {
  if (lastHaystack.text !== text) lastHaystack = { text, units: codeUnits(text) };
  return lastHaystack.units;
}

/** `search` for text: offsets are UTF-16 code units. */
export function searchText(needle: string, haystack: string): SearchResult | null {
  if (needle.length > haystack.length) return null;
  return search(codeUnits(needle), codeUnitsOfHaystack(haystack));
}

/** Every offset at which a text is, also where it overlaps itself. */
export function occurrencesOf(needle: string, haystack: string): Iterable<number> {
  return needle.length > haystack.length
    ? []
    : offsetsOf(codeUnits(needle), codeUnitsOfHaystack(haystack), true);
}

/**
 * For every offset of a text, how many code units before it are the same as those before `position` (Z algorithm on the reversed
 * text, Gusfield 1997): time proportional to the text's length.
 */
export function equalTextBefore(position: number, text: string): Int32Array {
  const units = codeUnits(text);
  const head = position;
  // Symbol i of the reversed text before `position`, then a symbol that no text has, then the whole text reversed.
  const symbol = (i: number): number => {
    if (i < head) return units[position - 1 - i] as number;
    return i === head ? -1 : (units[units.length - 1 - (i - head - 1)] as number);
  };
  const size = head + 1 + units.length;
  const lengths = new Int32Array(size);
  let left = 0;
  let right = 0;
  for (let i = 1; i < size; i += 1) {
    let length = i < right ? Math.min(right - i, lengths[i - left] as number) : 0;
    while (i + length < size && symbol(length) === symbol(i + length)) length += 1;
    lengths[i] = length;
    if (i + length > right) [left, right] = [i, i + length];
  }
  return Int32Array.from({ length: units.length + 1 }, (_, offset) =>
    offset === 0 ? 0 : (lengths[head + 1 + units.length - offset] as number),
  );
}
