import { BlockNotFoundError } from '../errors.js';
import { search, searchText } from './search.js';

/** A block found in a script. `text` is always `content.slice(start, end)`, never the block as it was requested. */
export interface LocatedBlock {
  /** Offset of the first code unit (UTF-16). */
  readonly start: number;
  /** Offset after the last code unit. */
  readonly end: number;
  readonly text: string;
  /** `exact`: the block is a substring. `whitespace`: its whole lines match except for trailing whitespace. */
  readonly matched: 'exact' | 'whitespace';
  /** How often the block is in the script when matched in this way, overlaps not counted; at least 1. */
  readonly occurrences: number;
}

/** True if and only if the block is a non-empty exact substring of the solution (REQ-P2O-017). */
export function validateCodeBlock(codeBlock: string, solution: { readonly content: string }): boolean {
  return searchText(codeBlock, solution.content) !== null;
}

/**
 * Offsets at which the lines begin, and the end of the last one. Lines end at `\n`; one at the very end of the
 * text ends the last line and starts no new one.
 */
function lineBounds(text: string): number[] {
  const bounds = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) bounds.push(at + 1);
  if (bounds.at(-1) !== text.length) bounds.push(text.length);
  return bounds;
}

/** Gives each line, stripped of its line break and trailing whitespace, the number that `numberOf` knows. */
function lineNumbers(
  text: string,
  bounds: readonly number[],
  numberOf: (line: string) => number,
): Int32Array {
  const numbers = new Int32Array(bounds.length - 1);
  for (let i = 0; i < numbers.length; i += 1) {
    numbers[i] = numberOf(text.slice(bounds[i], bounds[i + 1]).trimEnd());
  }
  return numbers;
}

/** Blanks after the block's last line break are trailing whitespace too, and no line of their own. */
function withoutTrailingBlanks(codeBlock: string): string {
  const afterBreak = codeBlock.lastIndexOf('\n') + 1;
  return codeBlock.slice(afterBreak).trim() === '' ? codeBlock.slice(0, afterBreak) : codeBlock;
}

function locateByWholeLines(requested: string, content: string): LocatedBlock | null {
  const codeBlock = withoutTrailingBlanks(requested);
  const numbers = new Map<string, number>();
  const wanted = lineNumbers(codeBlock, lineBounds(codeBlock), (line) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    return number;
  });
  const bounds = lineBounds(content);
  const present = lineNumbers(content, bounds, (line) => numbers.get(line) ?? -1);
  const found = search(wanted, present);
  if (found === null) return null;
  const start = bounds[found.first] ?? 0;
  const next = bounds[found.first + wanted.length] ?? content.length;
  const end = codeBlock.endsWith('\n') ? next : next - lineBreakLength(content, next);
  return { start, end, text: content.slice(start, end), matched: 'whitespace', occurrences: found.count };
}

/** Length of the line break that ends at an offset; a carriage return in front of it belongs to it. */
function lineBreakLength(text: string, end: number): number {
  if (text[end - 1] !== '\n') return 0;
  return text[end - 2] === '\r' ? 2 : 1;
}

/**
 * The one block locator of the project (REQ-P2O-018.1, REQ-SF-021). First the exact substring; where there is
 * none, the whole lines of both texts are compared without their trailing whitespace (a carriage return is
 * trailing whitespace). Indentation always has to be equal. Of several occurrences the first one is taken.
 *
 * In the second step the span begins at the beginning of a line and ends at the end of one. It holds the
 * line break after its last line where the block ends with one and the script has it.
 *
 * A block of nothing but whitespace names no code, so it is never found, not even as a substring: a
 * replacement would hit whichever blank line comes first.
 */
export function locateBlock(codeBlock: string, content: string): LocatedBlock | null {
  if (codeBlock.trim() === '') return null;
  const exact = searchText(codeBlock, content);
  if (exact === null) return locateByWholeLines(codeBlock, content);
  const end = exact.first + codeBlock.length;
  return { start: exact.first, end, text: codeBlock, matched: 'exact', occurrences: exact.count };
}

/**
 * Puts `text` where the span is. For a block found by `locateBlock` this is the safe way: a text that was
 * matched by whole lines may also occur earlier, as a part of another line, and `replaceBlock` would hit that.
 */
export function replaceSpan(
  content: string,
  span: { readonly start: number; readonly end: number },
  text: string,
): string {
  return content.slice(0, span.start) + text + content.slice(span.end);
}

/**
 * A new solution in which the first occurrence of `oldBlock` is replaced by `newBlock`. Both are taken
 * literally: `$&`, `$1` and regular-expression characters mean nothing (REQ-DM-010).
 *
 * @throws BlockNotFoundError if `oldBlock` is empty or not an exact substring of the solution.
 */
export function replaceBlock(
  solution: { readonly content: string },
  oldBlock: string,
  newBlock: string,
): { content: string } {
  if (oldBlock === '') {
    throw new BlockNotFoundError(
      'The block to be replaced is empty; pass the text that is in the solution.',
      {
        field: 'oldBlock',
      },
    );
  }
  const found = searchText(oldBlock, solution.content);
  if (found === null) {
    throw new BlockNotFoundError(
      `The block to be replaced (${oldBlock.length} characters, beginning with ${JSON.stringify(oldBlock.slice(0, 60))}) ` +
        'is not in the solution; locate it first and pass the located text.',
      { field: 'oldBlock' },
    );
  }
  const span = { start: found.first, end: found.first + oldBlock.length };
  return { content: replaceSpan(solution.content, span, newBlock) };
}
