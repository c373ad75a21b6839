import { UnclosedFenceError } from '../errors.js';
import { physicalLines } from './lines.js';

interface Fence {
  readonly character: string;
  readonly length: number;
  readonly indentation: number;
  /** What comes after the fence on its line. */
  readonly rest: string;
}

/** The line as a CommonMark code fence, opening or closing; null where it is neither. */
function fenceOf(line: string): Fence | null {
  let indentation = 0;
  while (line[indentation] === ' ') indentation += 1;
  const character = line[indentation];
  if (indentation > 3 || (character !== '`' && character !== '~')) return null;
  let end = indentation;
  while (line[end] === character) end += 1;
  const length = end - indentation;
  return length < 3 ? null : { character, length, indentation, rest: line.slice(end) };
}

function opens(fence: Fence): boolean {
  return fence.character === '~' || !fence.rest.includes('`');
}

function closes(fence: Fence, opening: Fence): boolean {
  return (
    fence.character === opening.character && fence.length >= opening.length && /^[ \t]*$/.test(fence.rest)
  );
}

function withoutIndentation(line: string, indentation: number): string {
  let taken = 0;
  while (taken < indentation && line[taken] === ' ') taken += 1;
  return line.slice(taken);
}

/**
 * The code in an agent's answer (REQ-SF-019): the content of the longest fenced block, the first of equally
 * long ones. Fences are CommonMark's: three or more backticks or tildes, up to three spaces of indentation,
 * closed by at least as many of the same character with nothing after them. The indentation of the opening
 * fence is taken off the content, which ends before the line break in front of the closing fence; line
 * breaks in between stay as they are. An answer without a fence is code as a whole, and is trimmed.
 *
 * @throws UnclosedFenceError if a fence is opened and not closed, also after complete ones: the answer was cut off.
 */
export function extractCodeBlock(text: string): string {
  const blocks: string[] = [];
  let opening: Fence | null = null;
  let openedOnLine = 0;
  let content = '';
  let pendingBreak = '';
  for (const [index, line] of physicalLines(text).entries()) {
    const lineText = text.slice(line.start, line.end);
    const fence = fenceOf(lineText);
    if (opening === null) {
      if (fence === null || !opens(fence)) continue;
      opening = fence;
      openedOnLine = index + 1;
      content = '';
      pendingBreak = '';
    } else if (fence !== null && closes(fence, opening)) {
      blocks.push(content);
      opening = null;
    } else {
      content += pendingBreak + withoutIndentation(lineText, opening.indentation);
      pendingBreak = text.slice(line.end, line.next);
    }
  }
  if (opening !== null) {
    throw new UnclosedFenceError(
      `The code fence that line ${openedOnLine} of the answer opens is never closed: the answer was cut off.`,
      { rawAnswer: text },
    );
  }
  const [first, ...others] = blocks;
  if (first === undefined) return text.trim();
  return others.reduce((longest, block) => (block.length > longest.length ? block : longest), first);
}
