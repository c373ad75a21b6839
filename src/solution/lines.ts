/** A notebook magic on one line: where it begins, where it ends, and whether Python code follows on the line. */
export interface Magic {
  /** Offsets into the line. `end` is the beginning of the code where `code` is true, else the line's end. */
  readonly start: number;
  readonly end: number;
  readonly code: boolean;
  /** Whether the magic is there instead of a statement, or of the value of an assignment. */
  readonly replaces: 'statement' | 'value';
  /** Name of a cell magic (`bash` for `%%bash`). */
  readonly cell?: string;
}

/** Magics whose argument is a Python statement that really runs. */
const CODE_MAGIC = /^%%?(?:time|timeit|prun|memit|mprun|lprun)(?=\s|$)/;
const HELP = /^[\w.*%]+\?\??$/u;
const ASSIGNMENT_TARGET = /^[\p{L}\p{N}_.,\s[\]*]+$/u;

/** Whether a text has a character that every magic has: a look that costs little, and finds nothing in most lines. */
export function maybeMagic(text: string): boolean {
  return text.includes('%') || text.includes('!') || text.includes('?');
}

/** Offset of the statement after a magic that runs one, its options skipped; -1 where there is none. */
function codeOf(line: string, from: number): number {
  const name = CODE_MAGIC.exec(line.slice(from, from + 12))?.[0];
  if (name === undefined) return -1;
  let at = from + name.length;
  for (;;) {
    while (line[at] === ' ' || line[at] === '\t') at += 1;
    // `-n 10`, `-n10`, `-o`, `-f function`: an option, with its value where it takes one.
    const option = /^-([a-zA-Z]+)(\d*)(?=\s|$)/.exec(line.slice(at, at + 40));
    if (option === null) break;
    at += option[0].length;
    if (option[2] === '' && /^[nrpslDTfm]$/.test(option[1] ?? '')) {
      while (line[at] === ' ' || line[at] === '\t') at += 1;
      while (at < line.length && line[at] !== ' ' && line[at] !== '\t') at += 1;
    }
  }
  return at < line.length && line[at] !== '#' ? at : -1;
}

/** A percent sign needs a name: what else begins with one is an error, in a notebook too. */
function opensMagic(line: string, at: number): boolean {
  if (line[at] !== '!' && line[at] !== '%') return false;
  return /^(?:!(?!=)|%%?[a-z_]|%%!)/i.test(line.slice(at, at + 3));
}

function magicAt(line: string, start: number, replaces: Magic['replaces']): Magic {
  const code = codeOf(line, start);
  if (code !== -1) return { start, end: code, code: true, replaces };
  const cell = /^%%(\w+|!)/.exec(line.slice(start, start + 40))?.[1];
  return { start, end: line.length, code: false, replaces, ...(cell === undefined ? {} : { cell }) };
}

/**
 * The magic on a line that begins a statement, or null: `%x`, `%%x`, `!command`, `?name`, `name?`, and
 * `target = !command` or `target = %x`. None of them is Python, so no line of Python is taken for one.
 */
export function magicIn(line: string): Magic | null {
  if (!maybeMagic(line)) return null;
  let start = 0;
  while (line[start] === ' ' || line[start] === '\t') start += 1;
  const first = line[start];
  if (first === undefined || first === '#') return null;
  if (opensMagic(line, start) || first === '?') return magicAt(line, start, 'statement');
  const trimmed = line.trimEnd();
  if (trimmed.endsWith('?') && HELP.test(trimmed.slice(start))) {
    return { start, end: line.length, code: false, replaces: 'statement' };
  }
  const equals = line.indexOf('=');
  if (equals === -1) return null;
  let value = equals + 1;
  while (line[value] === ' ' || line[value] === '\t') value += 1;
  if (!opensMagic(line, value) || !ASSIGNMENT_TARGET.test(line.slice(start, equals))) return null;
  return magicAt(line, value, 'value');
}

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

/** One line of a text, as offsets into it. */
export interface PhysicalLine {
  readonly start: number;
  /** Offset of the line break, or of the end of the text. */
  readonly end: number;
  /** Offset after the line break. */
  readonly next: number;
}

/**
 * Visits the lines of a text as Python and CommonMark count them: `\n`, `\r\n` and a lone `\r` end a line. The text
 * after the last line break is a line too, unless it is empty.
 * @param visit Returns false if it needs no further line.
 */
function visitLines(text: string, visit: (start: number, end: number, next: number) => boolean): void {
  let start = 0;
  let feed = text.indexOf('\n');
  let carriage = text.indexOf('\r');
  while (feed !== -1 || carriage !== -1) {
    const isFeed = carriage === -1 || (feed !== -1 && feed < carriage);
    const end = isFeed ? feed : carriage;
    const next = !isFeed && carriage + 1 === feed ? feed + 1 : end + 1;
    if (!visit(start, end, next)) return;
    start = next;
    if (feed !== -1 && feed < start) feed = text.indexOf('\n', start);
    if (carriage !== -1 && carriage < start) carriage = text.indexOf('\r', start);
  }
  if (start < text.length) visit(start, text.length, text.length);
}

/** The lines of a text, as `visitLines` counts them. */
export function physicalLines(text: string): PhysicalLine[] {
  const lines: PhysicalLine[] = [];
  visitLines(text, (start, end, next) => {
    lines.push({ start, end, next });
    return true;
  });
  return lines;
}

/**
 * One line of a text and its number, from 1: the last line if there are fewer, and an empty first one if there is none. It keeps no
 * other line, so a thread that has other work may look for it in a long text.
 */
export function physicalLine(
  text: string,
  wanted: number,
): { readonly number: number; readonly text: string } {
  let number = 0;
  let from = 0;
  let to = 0;
  visitLines(text, (start, end) => {
    number += 1;
    from = start;
    to = end;
    return number < wanted;
  });
  return { number: Math.max(1, number), text: text.slice(from, to) };
}

/** The line break that a script uses: the more frequent one, `\n` where both are equal or there is none. */
export function solutionLineEnding(content: string): '\n' | '\r\n' {
  let withReturn = 0;
  let without = 0;
  for (let at = content.indexOf('\n'); at !== -1; at = content.indexOf('\n', at + 1)) {
    if (content[at - 1] === '\r') withReturn += 1;
    else without += 1;
  }
  return withReturn > without ? '\r\n' : '\n';
}
