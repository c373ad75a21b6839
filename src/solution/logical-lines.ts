import { magicIn, maybeMagic } from './magic-line.js';
import { type PhysicalLine, physicalLines } from './physical-lines.js';

/** What a physical line begins in. Only a line that begins in `code` begins a statement. */
type LineContext = 'code' | 'string' | 'bracket' | 'continuation';

export interface PythonLine extends PhysicalLine {
  readonly context: LineContext;
  /** Offset of the `#` of the line's comment, or -1. */
  readonly comment: number;
}

/** What is still open at the end of a line. */
interface Open {
  /** The quotes that the open string ends with, or empty. */
  quotes: string;
  brackets: number;
  /** The line ended with a backslash outside of a string. */
  continued: boolean;
}

function contextOf(open: Open): LineContext {
  if (open.quotes !== '') return 'string';
  if (open.continued) return 'continuation';
  return open.brackets > 0 ? 'bracket' : 'code';
}

/** Reads to the end of a string; leaves its quotes open where it continues after the line. */
function readString(text: string, from: number, end: number, quotes: string, open: Open): number {
  let at = from;
  while (at < end) {
    if (text[at] === '\\') at += 2;
    else if (text.startsWith(quotes, at)) {
      open.quotes = '';
      return at + quotes.length;
    } else at += 1;
  }
  // A backslash in front of the line break carries even a string with single quotes over to the next line.
  open.quotes = quotes.length === 3 || at > end ? quotes : '';
  return end;
}

/** Reads one line and returns the offset of its comment, or -1. */
function readLine(text: string, { start, end }: PhysicalLine, open: Open): number {
  open.continued = false;
  let at = open.quotes === '' ? start : readString(text, start, end, open.quotes, open);
  while (at < end) {
    const character = text[at] ?? '';
    if (character === '#') return at;
    if (character === '"' || character === "'") {
      const triple = character.repeat(3);
      const quotes = text.startsWith(triple, at) ? triple : character;
      at = readString(text, at + quotes.length, end, quotes, open);
      continue;
    }
    if ('([{'.includes(character)) open.brackets += 1;
    else if (')]}'.includes(character)) open.brackets = Math.max(0, open.brackets - 1);
    else if (character === '\\' && at === end - 1) open.continued = true;
    at += 1;
  }
  return -1;
}

/**
 * The physical lines of Python source, each with what it begins in: a statement, a string that an earlier
 * line opened, open brackets, or a backslash continuation. It reads quotes, brackets and comments only, so it
 * takes any text, in linear time. Quotes in a notebook's shell commands open nothing.
 */
export function pythonLines(text: string): PythonLine[] {
  const open: Open = { quotes: '', brackets: 0, continued: false };
  const hasMagic = maybeMagic(text);
  let inMagic = false;
  return physicalLines(text).map((line) => {
    const { start, end, next } = line;
    const context = contextOf(open);
    if (inMagic || (hasMagic && context === 'code' && magicIn(text.slice(start, end))?.code === false)) {
      // A shell command is continued by a backslash, like a statement, and by nothing else.
      open.continued = end > start && text[end - 1] === '\\';
      inMagic = open.continued;
      return { start, end, next, context, comment: -1 };
    }
    return { start, end, next, context, comment: readLine(text, line, open) };
  });
}
