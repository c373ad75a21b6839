/** Longest text that the board shows, in characters; the API gives the whole. */
const MAX_TEXT_LENGTH = 2_000;
const MAX_ITEMS = 50;
const DEEPEST = 6;
/** Characters of one value's texts and keys together. */
const MAX_VALUE_LENGTH = 20_000;

interface Room {
  left: number;
}

/** A value cut to what a page can show: a megabyte of script or ten thousand items make a board unusable. The cut is marked. */
export function shorten(value: unknown): unknown {
  return shortenWithin(value, DEEPEST, { left: MAX_VALUE_LENGTH });
}

function shortenText(text: string, room: Room): string {
  const length = Math.min(MAX_TEXT_LENGTH, Math.max(room.left, 0));
  room.left -= Math.min(text.length, length);
  return text.length <= length ? text : `${text.slice(0, length)}… (${text.length} characters in all)`;
}

function shortenWithin(value: unknown, depth: number, room: Room): unknown {
  if (typeof value === 'string') return shortenText(value, room);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '… (nested deeper)';
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => shortenWithin(item, depth - 1, room));
    return value.length <= MAX_ITEMS ? items : [...items, `… (${value.length} items in all)`];
  }
  const entries = Object.entries(value);
  const shown = entries.slice(0, MAX_ITEMS).map(([key, item]) => {
    return [shortenText(key, room), shortenWithin(item, depth - 1, room)];
  });
  if (entries.length > MAX_ITEMS) shown.push(['…', `(${entries.length} fields in all)`]);
  return Object.fromEntries(shown);
}
