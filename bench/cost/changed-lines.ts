/** Lines of a script that its fixed twin has otherwise. */
export interface ChangedLines {
  /** Index of the first line, and of the line after the last one. */
  readonly start: number;
  readonly end: number;
  readonly replacement: readonly string[];
}

/** The differences of two scripts, by their longest common subsequence of lines. */
export function changedLines(before: readonly string[], after: readonly string[]): ChangedLines[] {
  const width = after.length + 1;
  const longest = new Uint16Array((before.length + 1) * width);
  const at = (row: number, column: number) => longest[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      longest[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const changes: ChangedLines[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [start, from] = [row, column];
    while (
      (row < before.length || column < after.length) &&
      !(row < before.length && column < after.length && before[row] === after[column])
    ) {
      if (column >= after.length || (row < before.length && at(row + 1, column) >= at(row, column + 1)))
        row += 1;
      else column += 1;
    }
    if (row > start || column > from)
      changes.push({ start, end: row, replacement: after.slice(from, column) });
    while (row < before.length && column < after.length && before[row] === after[column]) {
      row += 1;
      column += 1;
    }
  }
  return changes;
}
