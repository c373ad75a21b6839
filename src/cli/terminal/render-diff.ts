import { structuredPatch } from 'diff';
import type { Colours } from './colours.js';
import { visible } from './visible.js';

/** A unified diff between two scripts, with line numbers in its hunk headers, coloured where colours are on. */
export function renderDiff(before: string, after: string, colours: Colours): string {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: 2 });
  return hunks
    .flatMap((hunk) => [
      colours.cyan(`@@ line ${hunk.oldStart} @@`),
      ...hunk.lines.map((line) => {
        const shown = visible(line.replace(/\r$/, ''));
        if (line.startsWith('+')) return colours.green(shown);
        if (line.startsWith('-')) return colours.red(shown);
        return colours.dim(shown);
      }),
    ])
    .join('\n');
}
