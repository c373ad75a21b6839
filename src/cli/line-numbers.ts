import { locateBlock } from '../solution/locate-block.js';
import type { Colors } from './terminal/colors.js';
import { escapeControlChars } from './terminal/escape-control-chars.js';

/** First and last line (from 1) that a block takes in a script; undefined where it is not there. */
export function linesOfBlock(block: string, script: string): { first: number; last: number } | undefined {
  const located = locateBlock(block, script);
  if (located === null) return undefined;
  return {
    first: lineAt(script, located.start),
    last: lineAt(script, Math.max(located.start, located.end - 1)),
  };
}

/** The lines as people write them: `line 12`, `lines 12-18`. */
export function lineRange({ first, last }: { first: number; last: number }): string {
  return first === last ? `line ${first}` : `lines ${first}-${last}`;
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** Lines of code with their numbers before them, from a first number on. */
export function numberedLines(code: string, first: number, colors: Colors): string[] {
  const lines = escapeControlChars(code.replace(/\r?\n$/, '')).split('\n');
  const width = String(first + lines.length - 1).length;
  return lines.map((line, index) => `${colors.dim(`${String(first + index).padStart(width)} |`)} ${line}`);
}
