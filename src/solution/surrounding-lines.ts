/** Fewest characters, blanks aside, that make a run of repeated lines more than a coincidence. */
const TELLING = 8;
/** How many lines above and below a block an answer may repeat. */
const MAX_LINES = 20;

const trimmed = (line: string | undefined) => line?.trim() ?? '';

function isTelling(lines: readonly string[]): boolean {
  return lines.some((line) => line.replace(/\s/g, '').length >= TELLING);
}

/** Number of lines at the end of `before` that are again at the beginning of `lines`. */
function repeatedAbove(lines: readonly string[], before: readonly string[]): number {
  for (let count = Math.min(MAX_LINES, lines.length - 1, before.length); count > 0; count -= 1) {
    const above = before.slice(-count);
    if (isTelling(above) && above.every((line, index) => trimmed(line) === trimmed(lines[index])))
      return count;
  }
  return 0;
}

/**
 * Takes the lines off a correction that are right above and below the block in the script: a model that was asked for
 * the block often adds its surroundings, and putting those in would double them. Lines that the block itself begins or
 * ends with stay.
 */
export function withoutSurroundings(
  correction: string,
  block: { readonly start: number; readonly end: number; readonly text: string },
  content: string,
): string {
  const lines = correction.split('\n');
  const blockLines = block.text.split('\n');
  const before = content.slice(0, block.start).split('\n').slice(0, -1);
  const after = content
    .slice(block.end)
    .replace(/^\r?\n/, '')
    .split('\n')
    .reverse();
  const above = trimmed(lines[0]) === trimmed(blockLines[0]) ? 0 : repeatedAbove(lines, before);
  const rest = lines.slice(above).reverse();
  const below = trimmed(rest[0]) === trimmed(blockLines.at(-1)) ? 0 : repeatedAbove(rest, after);
  return rest.slice(below).reverse().join('\n');
}
