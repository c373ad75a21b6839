import { locateBlock } from '../solution/index.js';

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
