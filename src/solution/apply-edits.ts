/** Lines of a block, counted from 1, and what replaces them. `lastLine` one less than `firstLine` replaces none. */
export interface LineEdit {
  readonly firstLine: number;
  readonly lastLine: number;
  readonly newLines: string;
}

/** The block with its edits, or what is wrong with them, in words for the agent. */
export type EditedBlock =
  | { readonly ok: true; readonly block: string }
  | { readonly ok: false; readonly problem: string };

/** Applies edits to a block. Their lines are those of the block as it is, in any order; no line may be replaced twice. */
export function applyEdits(block: string, edits: readonly LineEdit[]): EditedBlock {
  const lines = block.split('\n');
  const result: string[] = [];
  let next = 1;
  const inOrder = edits.toSorted((a, b) => a.firstLine - b.firstLine || a.lastLine - b.lastLine);
  for (const { firstLine, lastLine, newLines } of inOrder) {
    if (
      firstLine < 1 ||
      lastLine < firstLine - 1 ||
      lastLine > lines.length ||
      firstLine > lines.length + 1
    ) {
      const range = `${firstLine} to ${lastLine}`;
      return {
        ok: false,
        problem: `an edit is of the lines ${range}, and the block has ${lines.length} lines`,
      };
    }
    if (firstLine < next) return { ok: false, problem: `two edits replace line ${firstLine} of the block` };
    result.push(...lines.slice(next - 1, firstLine - 1));
    // Lines that are removed leave no empty one.
    if (newLines !== '') result.push(...newLines.replace(/\r?\n$/, '').split('\n'));
    next = lastLine + 1;
  }
  result.push(...lines.slice(next - 1));
  return { ok: true, block: result.join('\n') };
}
