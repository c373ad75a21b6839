import type { TextEdit } from '../context.js';
import { isCellMarker } from '../order/cells.js';
import type { Draft } from './draft.js';

/** Lines of a script, with where each begins. */
interface Line {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function linesOf(source: string): Line[] {
  let at = 0;
  return source.split('\n').map((text) => {
    const line = {
      text: text.replace(/\r$/, ''),
      start: at,
      end: Math.min(source.length, at + text.length + 1),
    };
    at += text.length + 1;
    return line;
  });
}

/** Runs of empty lines that the rewrite made by taking out what was between them: the longer of both stays. */
export function doubledBlankLines({ before, after, span }: Draft): TextEdit[] {
  const old = linesOf(before.source).map(({ text }) => text);
  const lines = linesOf(after.source);
  const edits: TextEdit[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (!isBlank(lines[at]) || (at > 0 && isBlank(lines[at - 1]))) continue;
    let end = at;
    while (end < lines.length && isBlank(lines[end])) end += 1;
    const [above, below] = [lines[at - 1], lines[end]];
    const isNear = (lines[end - 1]?.end ?? 0) >= span.start && (lines[at]?.start ?? 0) <= span.end;
    const count = end - at;
    if (!isNear || above === undefined || below === undefined || count < 2) continue;
    const allowed = Math.max(
      blanksAfter(old, above.text),
      blanksBefore(old, below.text),
      isDefinition(lines, at - 1) || isDefinition(lines, end) ? 2 : 1,
    );
    const [first, last] = [lines[at + allowed], lines[end - 1]];
    if (count > allowed && first !== undefined && last !== undefined)
      edits.push({ start: first.start, end: last.end, text: '' });
  }
  return edits;
}

/** Cells that the rewrite left without a line: the marker of the cell goes too. */
export function emptyCells({ before, after, span }: Draft): TextEdit[] {
  const lines = linesOf(after.source);
  const markers = lines.flatMap(({ text }, at) => (isCellMarker(text) ? [at] : []));
  return markers.flatMap((at, index) => {
    const next = markers[index + 1];
    const [first, end] = [lines[at], next === undefined ? undefined : lines[next]];
    if (first === undefined || end === undefined || next === undefined || /markdown|raw/.test(first.text))
      return [];
    const isEmpty = lines.slice(at + 1, next).every(isBlank);
    const isOutside = end.start < span.start || first.start > span.end;
    const wasEmpty = before.source.includes(after.source.slice(first.start, end.end));
    return isEmpty && !isOutside && !wasEmpty ? [{ start: first.start, end: end.start, text: '' }] : [];
  });
}

function isBlank(line: Line | undefined): boolean {
  return line !== undefined && line.text.trim() === '';
}

/** The most empty lines that follow a line of this text. */
function blanksAfter(lines: readonly string[], text: string): number {
  let most = 0;
  // A closing bracket says nothing of where it is.
  if (!/\w/.test(text)) return most;
  for (const [at, line] of lines.entries()) {
    if (line !== text) continue;
    let end = at + 1;
    while (end < lines.length && lines[end]?.trim() === '') end += 1;
    most = Math.max(most, end - at - 1);
  }
  return most;
}

function blanksBefore(lines: readonly string[], text: string): number {
  return blanksAfter(lines.toReversed(), text);
}

/** Whether a line begins a function or a class, or ends one: two empty lines part it from what is around it. */
function isDefinition(lines: readonly Line[], at: number): boolean {
  let start = at;
  while (start > 0 && /^\s|^$/.test(lines[start]?.text ?? '')) start -= 1;
  return /^(def |class |async |@)/.test(lines[start]?.text ?? '');
}
