import { structuredPatch } from 'diff';
import type { Colors } from './colors.js';
import { escapeControlChars } from './escape-control-chars.js';

/** Lines shown around a change. */
const CONTEXT = 2;
/** Comparisons of two lines that one diff may take at most, roughly: some tenths of a second. */
const MAX_COMPARISONS = 40_000_000;
/** More changed lines than this show no order that a person could follow. */
const MAX_CHANGED = 2_000;

interface Hunk {
  readonly oldStart: number;
  /** Each with the sign that says what became of it. */
  readonly lines: readonly string[];
}

/** The lines from the first one that differs to the last one, as one change: all that was there, all that is there. */
function changedWhole(before: readonly string[], after: readonly string[]): Hunk {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const from = Math.max(0, start - CONTEXT);
  const prefixed = (sign: string, lines: readonly string[]): string[] => lines.map((line) => sign + line);
  return {
    oldStart: from + 1,
    lines: [
      prefixed(' ', before.slice(from, start)),
      prefixed('-', before.slice(start, before.length - end)),
      prefixed('+', after.slice(start, after.length - end)),
      prefixed(' ', before.slice(before.length - end).slice(0, CONTEXT)),
    ].flat(),
  };
}

const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n');

/** The time of a diff grows with the number of lines and with how many of them changed. */
function hunksOf(before: string, after: string): readonly Hunk[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const maxEditLength = Math.min(MAX_CHANGED, Math.floor(MAX_COMPARISONS / (old.length + now.length)));
  const patch = structuredPatch('', '', before, after, '', '', { context: CONTEXT, maxEditLength });
  return patch?.hunks ?? [changedWhole(old, now)];
}

/**
 * A unified diff between two scripts, with line numbers in its hunk headers, colored where colors are on. Where
 * too much changed to compare line by line, everything from the first change to the last is shown as one.
 */
export function renderDiff(before: string, after: string, colors: Colors): string {
  return hunksOf(before, after)
    .flatMap((hunk) => [
      colors.cyan(`@@ line ${hunk.oldStart} @@`),
      ...hunk.lines.map((line) => {
        const shown = escapeControlChars(line.replace(/\r$/, ''));
        if (line.startsWith('+')) return colors.green(shown);
        if (line.startsWith('-')) return colors.red(shown);
        return colors.dim(shown);
      }),
    ])
    .join('\n');
}
