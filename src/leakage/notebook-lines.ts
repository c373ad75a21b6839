/** A line, and the cell that it is in. */
interface CellLine {
  readonly text: string;
  readonly cell: number;
}

/**
 * The lines of a changed source, cell by cell. A line that stays is in its cell. New lines are in the cell of the lines that
 * they replace, the last one if these are in several, and in that of the line above where they replace none.
 */
export function linesInCells(codes: readonly string[], source: string): string[][] {
  const old = codes.flatMap((code, cell) => code.split('\n').map((text): CellLine => ({ text, cell })));
  const cells: string[][] = codes.map(() => []);
  if (old.length === 0) return cells;
  const now = source.split('\n');
  let [from, current] = [0, 0];
  let added: string[] = [];
  const put = (cell: number, lines: readonly string[]): void => {
    current = cell;
    cells[cell]?.push(...lines);
  };
  const close = (before: number): void => {
    if (added.length > 0) put(before > from ? (old[before - 1]?.cell ?? current) : current, added);
    added = [];
  };
  for (const [at, oldLine] of unchangedLines(old, now).entries()) {
    const text = now[at] ?? '';
    if (oldLine === undefined) {
      added.push(text);
      continue;
    }
    close(oldLine);
    put(old[oldLine]?.cell ?? current, [text]);
    from = oldLine + 1;
  }
  close(old.length);
  return cells;
}

/** Pairs of lines that are compared at most, between the first change and the last. */
const MAX_COMPARED = 9_000_000;

/** For each line of a text, the line that it was: a longest common subsequence; nothing for a new one. */
function unchangedLines(old: readonly CellLine[], now: readonly string[]): (number | undefined)[] {
  const oldLine: (number | undefined)[] = now.map(() => undefined);
  let start = 0;
  while (start < now.length && start < old.length && old[start]?.text === now[start]) {
    oldLine[start] = start;
    start += 1;
  }
  let [oldEnd, nowEnd] = [old.length, now.length];
  while (oldEnd > start && nowEnd > start && old[oldEnd - 1]?.text === now[nowEnd - 1]) {
    oldEnd -= 1;
    nowEnd -= 1;
    oldLine[nowEnd] = oldEnd;
  }
  const [rows, columns] = [oldEnd - start, nowEnd - start];
  if (rows * columns > MAX_COMPARED) return oldLine;
  // Length of the longest common subsequence of what follows.
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        old[start + row]?.text === now[start + column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (old[start + row]?.text === now[start + column]) {
      oldLine[start + column] = start + row;
      row += 1;
      column += 1;
    } else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) row += 1;
    else column += 1;
  }
  return oldLine;
}
