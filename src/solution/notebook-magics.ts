import { magicIn, maybeMagic, pythonLines } from './lines.js';

/** Cell magics whose cell is not Python. What `%%writefile` writes is taken as code: it mostly is. */
const FOREIGN_CELLS = new Set(
  '! bash sh script cmd system sx html HTML javascript js latex markdown svg perl ruby R sql bigquery'.split(
    ' ',
  ),
);
/** `%%script python3`: the cell is Python. */
export const PYTHON_SCRIPT = /^\s*%%script\s(?:[^\n]*[\s/])?(?:python|pypy)[\d.]*(?:\s|$)/;
/** Magics that run code of files, of other cells or of before. */
const RUNS_CODE =
  /%(run|load|loadpy|rerun|recall|rep|macro|store|autocall|edit|ed|hist|pycat|notebook|alias_magic|ipython)\b/;
const CELL_MARKER = /^# ?(?:%%|In ?\[)/;

/** A form feed restarts the count of indentation, so the statement may stay where it is in the line. */
function statementInPlace(indentation: string, magicLength: number): string {
  return `${' '.repeat(magicLength - 1)}\f${indentation}`;
}

function neutralizedLine(line: string): string | null {
  const magic = magicIn(line);
  if (magic === null) return null;
  const before = line.slice(0, magic.start);
  const length = magic.end - magic.start;
  if (!magic.code) return `${before}0${' '.repeat(length - 1)}`;
  const code = line.slice(magic.end);
  return magic.replaces === 'value'
    ? before + ' '.repeat(length) + code
    : statementInPlace(before, length) + code;
}

function asComment(line: string): string {
  return line.trim() === '' ? line : `#${line.slice(1)}`;
}

/**
 * Python source in which a notebook's magics are harmless Python: `%matplotlib inline`, `!pip install x`,
 * `x?` become the statement `0`, `x = !ls` becomes `x = 0`, and the statement after `%time` stays where it
 * is. Every line keeps its length, so offsets, lines and columns are those of the text that was passed.
 *
 * After a cell magic of another language (`%%bash`) the cell's lines become comments: up to the next cell
 * marker (`# %%`, `# In [1]:`) or cell magic, and in a text without markers no further than the next blank
 * line, since nobody knows where the cell ended and code must not disappear.
 */
export function neutralizeMagics(text: string): string {
  return readMagics(text).text;
}

/** Code that runs, or may run, and that nobody reads: lines of another language, and what magics run. */
export interface CodeOfMagics {
  readonly start: number;
  readonly end: number;
  readonly reason: string;
}

/** The text as `neutralizeMagics` gives it, and the positions where it leaves out more than a command. */
export function readMagics(text: string): { text: string; hidden: CodeOfMagics[] } {
  const hidden: CodeOfMagics[] = [];
  if (!maybeMagic(text)) return { text, hidden };
  const lines = pythonLines(text);
  const hasCellMarkers = lines.some(
    (line) => line.context === 'code' && CELL_MARKER.test(text.slice(line.start, line.start + 6)),
  );
  let result = '';
  let foreign = false;
  let continued = false;
  for (const line of lines) {
    const original = text.slice(line.start, line.end);
    let replaced = original;
    if (foreign && (CELL_MARKER.test(original) || original.startsWith('%%'))) foreign = false;
    if (foreign && !hasCellMarkers && original.trim() === '') foreign = false;
    if (foreign) replaced = asComment(original);
    else if (continued) {
      continued = original.endsWith('\\');
      replaced = ' '.repeat(original.length);
    } else if (line.context === 'code') {
      const magic = magicIn(original);
      replaced = neutralizedLine(original) ?? original;
      continued = magic?.code === false && original.endsWith('\\');
      foreign = magic?.cell !== undefined && FOREIGN_CELLS.has(magic.cell) && !PYTHON_SCRIPT.test(original);
      const runs = RUNS_CODE.exec(original)?.[1];
      if (foreign) hidden.push({ ...line, reason: `lines that are left out as those of %%${magic?.cell}` });
      else if (magic?.code === false && runs !== undefined) {
        hidden.push({ ...line, reason: `code that %${runs} runs` });
      }
    }
    result += replaced + text.slice(line.end, line.next);
  }
  return { text: result, hidden };
}
