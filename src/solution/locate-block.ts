import { search, searchText } from './search.js';

/** A block found in a script. `text` is always `content.slice(start, end)`, never the block as it was asked for. */
export interface LocatedBlock {
  /** Offset of the first code unit (UTF-16). */
  readonly start: number;
  /** Offset behind the last code unit. */
  readonly end: number;
  readonly text: string;
  /** `exact`: the block is a substring. `whitespace`: its whole lines match but for trailing whitespace. */
  readonly matched: 'exact' | 'whitespace';
  /** How often the block stands in the script when matched in this way, overlaps not counted; at least 1. */
  readonly occurrences: number;
}

/** True if and only if the block is a non-empty exact substring of the solution (REQ-P2O-017). */
export function validateCodeBlock(codeBlock: string, solution: { readonly content: string }): boolean {
  return searchText(codeBlock, solution.content) !== null;
}

interface Line {
  readonly start: number;
  /** Offset of the line break, `\r\n` counted as one; the end of the text where there is none. */
  readonly end: number;
  /** Offset behind the line break. */
  readonly next: number;
}

/** Lines end at `\n`. A line break at the very end of the text ends the last line and starts no new one. */
function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let start = 0;
  while (start < text.length) {
    const lineFeed = text.indexOf('\n', start);
    if (lineFeed === -1) {
      lines.push({ start, end: text.length, next: text.length });
      break;
    }
    const end = lineFeed > start && text[lineFeed - 1] === '\r' ? lineFeed - 1 : lineFeed;
    lines.push({ start, end, next: lineFeed + 1 });
    start = lineFeed + 1;
  }
  return lines;
}

function strip(text: string, line: Line): string {
  return text.slice(line.start, line.end).trimEnd();
}

/** Blanks behind the block's last line break are trailing whitespace too, and no line of their own. */
function withoutTrailingBlanks(codeBlock: string): string {
  const behindBreak = codeBlock.lastIndexOf('\n') + 1;
  return codeBlock.slice(behindBreak).trim() === '' ? codeBlock.slice(0, behindBreak) : codeBlock;
}

function locateByWholeLines(asked: string, content: string): LocatedBlock | null {
  const codeBlock = withoutTrailingBlanks(asked);
  const contentLines = linesOf(content);
  // Each different line of the block gets a number, so that lines are compared in one step.
  const numbers = new Map<string, number>();
  const wanted = linesOf(codeBlock).map((line) => {
    const stripped = strip(codeBlock, line);
    const number = numbers.get(stripped) ?? numbers.size;
    numbers.set(stripped, number);
    return number;
  });
  const present = contentLines.map((line) => numbers.get(strip(content, line)) ?? -1);
  const found = search(wanted, present);
  if (found === null) return null;
  const first = contentLines[found.first];
  const last = contentLines[found.first + wanted.length - 1];
  if (first === undefined || last === undefined) return null;
  const start = first.start;
  const end = codeBlock.endsWith('\n') ? last.next : last.end;
  return { start, end, text: content.slice(start, end), matched: 'whitespace', occurrences: found.count };
}

/**
 * The one block locator of the project (REQ-P2O-018.1, REQ-SF-021). First the exact substring; where there is
 * none, the whole lines of both texts are compared without their trailing whitespace (a carriage return is
 * trailing whitespace). Indentation always has to be equal. Of several places the first one is taken.
 *
 * In the second step the span begins at the beginning of a line and ends at the end of one. It holds the
 * line break behind its last line where the block ends with one and the script has it.
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
