/** A notebook magic on one line: where it begins, where it ends, and whether Python code follows on the line. */
export interface Magic {
  /** Offsets into the line. `end` is the beginning of the code where `code` is true, else the line's end. */
  readonly start: number;
  readonly end: number;
  readonly code: boolean;
  /** The magic is in the place of a statement, or of the value of an assignment. */
  readonly place: 'statement' | 'value';
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

function magicAt(line: string, start: number, place: Magic['place']): Magic {
  const code = codeOf(line, start);
  if (code !== -1) return { start, end: code, code: true, place };
  const cell = /^%%(\w+|!)/.exec(line.slice(start, start + 40))?.[1];
  return { start, end: line.length, code: false, place, ...(cell === undefined ? {} : { cell }) };
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
    return { start, end: line.length, code: false, place: 'statement' };
  }
  const equals = line.indexOf('=');
  if (equals === -1) return null;
  let value = equals + 1;
  while (line[value] === ' ' || line[value] === '\t') value += 1;
  if (!opensMagic(line, value) || !ASSIGNMENT_TARGET.test(line.slice(start, equals))) return null;
  return magicAt(line, value, 'value');
}
