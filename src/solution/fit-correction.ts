import { type PythonLine, pythonLines, solutionLineEnding } from './lines.js';

export interface Span {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What is around the code of a block and has to be around its correction too. */
interface Surroundings {
  /** The block's blank lines in front of its first code. */
  readonly head: string;
  /** Indentation that the first code line has in the script, be it inside of the block or in front of it. */
  readonly indentation: string;
  /** The part of it in front of the block; null where code is there, on the same line. */
  readonly outside: string | null;
  /** Line breaks, blank lines and the beginning of the next line after the block's last code. */
  readonly tail: string;
}

function surroundingsOf({ start, end, text }: Span, content: string): Surroundings {
  const leading = text.slice(0, text.length - text.trimStart().length);
  const headLength = Math.max(leading.lastIndexOf('\n'), leading.lastIndexOf('\r')) + 1;
  const head = leading.slice(0, headLength);
  const inside = leading.slice(headLength);
  const trailing = text.slice(text.trimEnd().length);
  const lineBreak = trailing.search(/[\r\n]/);
  const endsLine = end === content.length || content[end] === '\n' || content[end] === '\r';
  // Whitespace at the end of a line is dropped; in the middle of one it separates two words.
  const tail = lineBreak !== -1 ? trailing.slice(lineBreak) : endsLine ? '' : trailing;
  if (head !== '') return { head, indentation: inside, outside: '', tail };
  const before = content.slice(0, start);
  const line = before.slice(Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1);
  if (line.trim() === '') return { head, indentation: line + inside, outside: line, tail };
  return { head, indentation: indentationOf(line), outside: null, tail };
}

function indentationOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length);
}

/** How many of the lines are lines of the block as they are. */
type Known = (lines: readonly (string | null)[]) => number;

function linesKnownTo(block: string): Known {
  const blockLines = new Set(block.split(/\r\n|\n|\r/));
  return (lines) => lines.filter((line) => line !== null && blockLines.has(line)).length;
}

interface CorrectionLine {
  readonly text: string;
  readonly line: PythonLine;
}

function isCode({ text, line }: CorrectionLine): boolean {
  return line.context === 'code' && text.trim() !== '' && !text.trimStart().startsWith('#');
}

/** Whether the first statement of the lines ends with a colon, so that the next one has to be deeper. */
function opensSuite(lines: readonly CorrectionLine[]): boolean {
  const next = lines.findIndex((line, index) => index > 0 && isCode(line));
  const code = lines
    .slice(0, next === -1 ? lines.length : next)
    .map(({ text, line }) =>
      (line.comment === -1 ? text : text.slice(0, line.comment - line.start)).trimEnd(),
    );
  return code.findLast((text) => text !== '')?.endsWith(':') ?? false;
}

/**
 * Whether only the first line lost its indentation, as it does in an answer that was trimmed or copies a
 * block which begins after the indentation of its line: all other statements are where they have to.
 */
function onlyFirstIsShifted(
  lines: readonly CorrectionLine[],
  from: string,
  to: string,
  known: Known,
): boolean {
  if (from === to || !to.startsWith(from)) return false;
  const others = lines.slice(1);
  const statements = others.filter(isCode);
  const next = statements[0];
  if (next === undefined) {
    const rest = others.map(({ text }) => text);
    return known(rest) > known(rest.map((text) => shift(text, from, to)));
  }
  if (!statements.every(({ text }) => text.startsWith(to))) return false;
  return !opensSuite(lines) || indentationOf(next.text).length > to.length;
}

/** The line with the indentation `from` exchanged for `to`; null where it has less than has to be taken off. */
function shift(line: string, from: string, to: string): string | null {
  if (line.startsWith(from)) return to + line.slice(from.length);
  if (to.startsWith(from)) return to.slice(from.length) + line;
  const surplus = from.startsWith(to) ? from.slice(to.length) : null;
  return surplus !== null && line.startsWith(surplus) ? line.slice(surplus.length) : null;
}

function reindented(lines: readonly CorrectionLine[], to: string, block: string): string[] {
  const texts = lines.map(({ text }) => text);
  const [first = '', ...others] = texts;
  const from = indentationOf(first);
  if (from === to) return texts;
  const known = linesKnownTo(block);
  if (onlyFirstIsShifted(lines, from, to, known)) return [to + first.trimStart(), ...others];
  const shifted = lines.map(({ text }) => (text.trim() === '' ? text : shift(text, from, to)));
  restoreStrings(lines, shifted, known);
  // A statement that cannot move says that the indentation does not differ uniformly.
  if (lines.some((line, index) => shifted[index] === null && isCode(line))) return texts;
  // Comments and lines within brackets may be anywhere.
  return lines.map(({ text }, index) => shifted[index] ?? text);
}

/**
 * The inside of a string is its value, so its lines stay as the answer has them; but where moving them brings
 * back more lines of the block than leaving them does, the answer had moved them with the code.
 */
function restoreStrings(lines: readonly CorrectionLine[], shifted: (string | null)[], known: Known): void {
  const inString = (index: number) => lines[index]?.line.context === 'string';
  for (let from = 0; from < lines.length; from += 1) {
    let to = from;
    while (inString(to)) to += 1;
    const asTheyAre = lines.slice(from, to).map(({ text }) => text);
    const wereMoved = known(shifted.slice(from, to)) > known(asTheyAre);
    if (!wereMoved)
      asTheyAre.forEach((text, index) => {
        shifted[from + index] = text;
      });
    from = to;
  }
}

/**
 * Fits an agent's correction to the position of the block that it replaces, before it is put in:
 * line breaks become those of the solution; a correction whose indentation differs uniformly from the block's
 * (the first code line decides) gets the block's, the inside of strings kept; blank lines at both ends and
 * the line break at the end become those of the block. A block that begins after the indentation of its
 * line gets a correction that does so too. A correction of nothing but whitespace becomes empty.
 */
export function fitCorrection(correction: string, located: Span, content: string): string {
  const source = correction
    .replace(/\r\n?/g, '\n')
    .trimEnd()
    .replace(/^(?:[^\S\n]*\n)+/, '');
  if (source === '') return '';
  const { head, indentation, outside, tail } = surroundingsOf(located, content);
  const lines = pythonLines(source).map((line) => ({ text: source.slice(line.start, line.end), line }));
  const [first = '', ...others] = reindented(lines, indentation, located.text);
  const fits = outside !== null && first.startsWith(outside);
  const firstInPlace = fits ? first.slice(outside.length) : first.trimStart();
  return head + [firstInPlace, ...others].join(solutionLineEnding(content)) + tail;
}
