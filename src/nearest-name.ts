import { distance } from 'fastest-levenshtein';

/** A name with more edits than this, or with half of its letters changed, is another name and not a misspelled one. */
const MAX_EDITS = 3;
const MAX_EDITED_PART = 0.5;
/** A longer name is not compared: no known name is so long. */
const MAX_COMPARED = 100;

/** The known name that a misspelled one most likely means; undefined if it resembles none. Case does not count. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_COMPARED) return undefined;
  let nearest: string | undefined;
  let fewest = Math.min(MAX_EDITS, name.length * MAX_EDITED_PART) + 1;
  for (const candidate of known) {
    const count = distance(name.toLowerCase(), candidate.toLowerCase());
    if (count >= fewest || count > name.length * MAX_EDITED_PART) continue;
    fewest = count;
    nearest = candidate;
  }
  return nearest;
}

/** What a message adds after an unknown name: the one that was meant, or all that there are. */
export function suggestionFor(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? `there are: ${known.join(', ')}` : `did you mean "${nearest}"?`;
}
