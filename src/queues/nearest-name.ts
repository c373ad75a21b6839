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
    const count = edits(name.toLowerCase(), candidate.toLowerCase());
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

/** Letters that must be added, removed, replaced or swapped with the next one (optimal string alignment distance). */
function edits(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const at = (counts: number[], index: number) => counts[index] ?? 0;
      const replaced = at(last, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      let fewest = Math.min(replaced, at(last, column) + 1, at(current, column - 1) + 1);
      const isSwap =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwap) fewest = Math.min(fewest, at(beforeLast, column - 2) + 1);
      current.push(fewest);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
