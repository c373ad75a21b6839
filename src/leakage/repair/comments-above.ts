import type { RepairContext } from './context.js';
import { isCellMarker } from './order/cells.js';

const MOVED = '# Moved below: this learns from the training part only.';
const CORRECTED = '# Corrected: this learns from the training part only.';
const SAYS_ALL =
  /\b(everything|both|whole|entire|full|combined|all (of )?(the )?(data|rows|samples|records|images|texts))\b/i;

/**
 * A rewritten block with a line under the comment above it, where that comment would be wrong: it is about lines that the
 * rewrite has moved away, or says that all rows are learned from. The comment itself is outside of the block and stays.
 */
export function withTrueComment({ source, block, leaks, lineEnding }: RepairContext, text: string): string {
  const lineStart = source.lastIndexOf('\n', block.start - 1) + 1;
  const indent = source.slice(lineStart, block.start);
  const lines = source.slice(0, lineStart).split(/\r?\n/).slice(0, -1);
  const areCopies = leaks.some(({ kind }) => kind === 'over-sampling' || kind === 'duplicated-rows');
  if (/\S/.test(indent) || areCopies) return text;
  const old = source.slice(block.start, block.end);
  const isOfFirst = leaks.some(({ statement }) => statement.start <= block.start + firstCode(old));
  const note =
    isComment(lines.at(-1)) && isMovedAway(old, text)
      ? MOVED
      : isOfFirst && SAYS_ALL.test(commentOfParagraph(lines))
        ? CORRECTED
        : undefined;
  if (note === undefined) return text;
  const inner = /^[ \t]*/.exec(text)?.[0] ?? '';
  // An empty line parts the comment from the lines that it is not about.
  const gap = note === MOVED ? lineEnding : '';
  return `${inner}${note}${lineEnding}${gap}${indent}${text}`;
}

function isComment(line: string | undefined): boolean {
  return line !== undefined && /^\s*#/.test(line) && !isCellMarker(line);
}

/** The comment at the beginning of the lines that no empty line parts from the block. */
function commentOfParagraph(lines: readonly string[]): string {
  const from = lines.findLastIndex((line) => line.trim() === '' || isCellMarker(line)) + 1;
  const paragraph = lines.slice(from);
  const end = paragraph.findIndex((line) => !isComment(line));
  return paragraph.slice(0, end < 0 ? paragraph.length : end).join('\n');
}

/** Whether the block now begins with a later line of it, or with the split. */
function isMovedAway(old: string, text: string): boolean {
  const [first = '', ...later] = codeLines(old);
  const [now = ''] = codeLines(text);
  return now !== first && (later.includes(now) || (isSplit(now) && later.some(isSplit)));
}

function isSplit(line: string): boolean {
  // `range(…)`: only positions are divided, and the lines stay.
  return line.includes('train_test_split(') && !line.includes('train_test_split(range(');
}

function codeLines(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function firstCode(text: string): number {
  return text.length - text.trimStart().length;
}
