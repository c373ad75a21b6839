import { numbersIn } from './number-text.js';
import type { OutputLine } from './output-lines.js';
import { isSentence, PaddedColumns } from './padded-table.js';
import { isReferenceCell, missingScore } from './score-entry.js';
import type { Table } from './table-entries.js';

const BORDER = /^[\s|+\-=:*─━═│┃┌┐└┘├┤┬┴┼╒╕╘╛╞╡╤╧╪╔╗╚╝╠╣╦╩╬╭╮╰╯┏┓┗┛┣┫┳┻╋╇┡┩╈┠┨┯┷┿_.·]+$/u;
const BARS = /[|│┃║]/u;
const MAX_ROW_LENGTH = 4000;

export function isBorder(text: string): boolean {
  return text.trim().length >= 2 && BORDER.test(text);
}

/** A found table, and the position of the first line after it. */
export interface FoundTable {
  readonly table: Table;
  readonly end: number;
}

function isNumber(cell: string): boolean {
  const text = cell.replace(/\*\*|`/g, '').trim();
  if (text === '' || text.length > 60) return false;
  const [first] = numbersIn(text);
  return first !== undefined
    ? !/\p{L}{3,}/u.test(`${text.slice(0, first.start)}${text.slice(first.end)}`)
    : missingScore(text) === text;
}

function withHeader(rows: string[][], lines: number[], layout: string, end: number): FoundTable {
  const first = rows[0] ?? [];
  const titled =
    rows.length > 1 &&
    first.filter((cell) => cell.trim() !== '').length >= 2 &&
    !first.some((cell) => isNumber(cell) || /[:=]\s*[-+]?\d|\d\.\d/.test(cell));
  return {
    table: titled
      ? { header: first, rows: rows.slice(1), lines: lines.slice(1), layout }
      : { header: undefined, rows, lines, layout },
    end,
  };
}

function pipeCells(text: string): string[] {
  const cells = text.split(BARS);
  if (cells[0]?.trim() === '') cells.shift();
  if (cells.at(-1)?.trim() === '') cells.pop();
  return cells.map((cell) => cell.trim());
}

/** Rows divided by bars: Markdown, psql, grid and box layouts, or `name | AUC: 0.9`. */
function pipeTable(lines: readonly OutputLine[], start: number): FoundTable | undefined {
  const rows: string[][] = [];
  const indexes: number[] = [];
  let position = start;
  for (; position < lines.length; position += 1) {
    const text = lines[position]?.text ?? '';
    if (text.length > MAX_ROW_LENGTH) break;
    if (isBorder(text)) continue;
    if (!BARS.test(text)) break;
    const cells = pipeCells(text);
    // `Baseline: 0.81 | No scaler: 0.80` is a row of names with scores and no table.
    if (cells.length < 2 || /[:=]\s*[-+]?\d/.test(cells[0] ?? '')) break;
    rows.push(cells);
    indexes.push(lines[position]?.index ?? 0);
  }
  if (rows.length === 0) return undefined;
  return withHeader(rows, indexes, 'bars', position);
}

function delimitedCells(text: string, delimiter: string): string[] {
  if (!text.includes('"')) return text.split(delimiter).map((cell) => cell.trim());
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (const sign of text) {
    if (sign === '"') quoted = !quoted;
    else if (sign === delimiter && !quoted) {
      cells.push(cell.trim());
      cell = '';
    } else cell += sign;
  }
  return [...cells, cell.trim()];
}

/** Without the spaces at both ends; a tab there is a delimiter. */
function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === ' ') start += 1;
  while (end > start && text[end - 1] === ' ') end -= 1;
  return text.slice(start, end);
}

/** Lines divided by tabs, semicolons or commas, the first of them perhaps titles. */
function delimitedTable(lines: readonly OutputLine[], start: number): FoundTable | undefined {
  const first = lines[start]?.text ?? '';
  for (const delimiter of ['\t', ';', ',']) {
    if (!first.includes(delimiter) || first.length > MAX_ROW_LENGTH) continue;
    const width = delimitedCells(trimSpaces(first), delimiter).length;
    const rows: string[][] = [];
    let position = start;
    for (; position < lines.length; position += 1) {
      // A tab or semicolon at the end comes before an empty cell.
      const text = trimSpaces(lines[position]?.text ?? '');
      if (text.trim() === '' || text.length > MAX_ROW_LENGTH) break;
      const cells = delimitedCells(text, delimiter);
      if (cells.length !== width || cells.some((cell) => /[:=]\s*[-+]?[\d.]/.test(cell))) break;
      const isTitles = rows.length === 0 && !cells.some(isNumber);
      if (!isTitles && !(cells.some(isNumber) && cells.some((cell) => /\p{L}/u.test(cell)))) break;
      if (isTitles && cells.some((cell) => cell.length > 60)) break;
      rows.push(cells);
    }
    const scored = rows.filter((row) => row.some(isNumber)).length;
    if (rows.length >= 2 && scored >= Math.min(2, rows.length - 1)) {
      return withHeader(
        rows,
        lines.slice(start, position).map((line) => line.index),
        'delimited',
        position,
      );
    }
  }
  return undefined;
}

const NUMBER_WORD =
  /^(?:[-+−]?(?:\d+(?:[.,]\d+)?|\.\d+)(?:e[-+]?\d+)?%?\*{0,2}|[-+]?(?:nan|inf)|n\/a|none|failed|<NA>|-)$/i;
const DEVIATION = /(?<!\s)\s*(?:±|\+\/-|\+-)\s*[\d.,]+%?/g;

function alignedRow(text: string): { label: string; numbers: string[] } | undefined {
  if (text.length > 400) return undefined;
  const flat = text
    .replace(DEVIATION, '')
    .replace(/\.{3,}/g, '   ')
    .trimEnd();
  const words = [...flat.matchAll(/\S+/g)];
  const numbers: string[] = [];
  let labelEnd = flat.length;
  // `baseline` is the name of a row unless another name comes before it.
  const isCell = ({ 0: word, index }: RegExpExecArray): boolean =>
    NUMBER_WORD.test(word) || (isReferenceCell(word) && /\p{L}/u.test(flat.slice(0, index)));
  for (let word = words.pop(); word !== undefined && isCell(word); word = words.pop()) {
    numbers.unshift(word[0]);
    labelEnd = word.index;
  }
  const label = flat.slice(0, labelEnd).trim();
  if (
    numbers.length === 0 ||
    !/\p{L}/u.test(label) ||
    /[:=(]$/.test(label) ||
    !numbers.some((number) => /[.,]\d|nan|inf|fail/i.test(number))
  )
    return undefined;
  return { label, numbers };
}

/** Columns set by spaces under titles, with empty cells or words for the reference in some rows. */
function paddedTable(
  lines: readonly OutputLine[],
  start: number,
  previous: string | undefined,
): FoundTable | undefined {
  const columns = new PaddedColumns(previous);
  const rows: string[][] = [];
  const indexes: number[] = [];
  let position = start;
  let scored = 0;
  for (; position < lines.length; position += 1) {
    const line = lines[position];
    if (line === undefined) break;
    if (isBorder(line.text) && rows.length > 0) continue;
    const row = columns.row(line.text, isNumber);
    if (row === undefined) break;
    if (row.some(isNumber)) scored += 1;
    rows.push(row);
    indexes.push(line.index);
  }
  if (!columns.hasGaps || rows.length < 2 || scored < 2) return undefined;
  return { table: { header: columns.header, rows, lines: indexes, layout: 'aligned' }, end: position };
}

/** Columns set by spaces: pandas, tabulate without bars, padded f-strings. */
function alignedTable(
  lines: readonly OutputLine[],
  start: number,
  previous: string | undefined,
): FoundTable | undefined {
  const rows: { label: string; numbers: string[]; text: string; index: number }[] = [];
  let position = start;
  for (; position < lines.length; position += 1) {
    const line = lines[position];
    if (line === undefined || (isBorder(line.text) && rows.length > 0)) {
      if (line !== undefined) continue;
      break;
    }
    const row = alignedRow(line.text);
    if (row === undefined) break;
    rows.push({ ...row, text: line.text.replace(DEVIATION, '').trim(), index: line.index });
  }
  if (rows.length < 2) return undefined;
  const indexes = rows.map((row) => row.index);
  const titles =
    previous !== undefined && previous.trim() !== '' && !isBorder(previous) && !isSentence(previous)
      ? previous
      : undefined;
  if (titles !== undefined) {
    for (const gap of [/\s{2,}|\t/, /\s+/]) {
      const header = titles.trim().split(gap);
      const cells = rows.map((row) => row.text.split(gap));
      const offset = (cells[0]?.length ?? 0) - header.length;
      // pandas prints an index without a title before the first column.
      if (
        header.length >= 2 &&
        (offset === 0 || offset === 1) &&
        cells.every((row) => row.length === header.length + offset)
      ) {
        return {
          table: {
            header: offset === 1 ? ['', ...header] : header,
            rows: cells,
            lines: indexes,
            layout: 'aligned',
          },
          end: position,
        };
      }
    }
  }
  // Not `Math.min(...)`: a table may have more rows than a call can have arguments.
  const width = rows.reduce((least, row) => Math.min(least, row.numbers.length), Number.POSITIVE_INFINITY);
  const headerCells = titles?.trim().split(/\s{2,}|\t/) ?? [];
  const loose = headerCells.length > width ? headerCells : (titles?.trim().split(/\s+/) ?? []);
  const header =
    loose.length > width
      ? [loose.slice(0, loose.length - width).join(' '), ...loose.slice(-width)]
      : undefined;
  return {
    table: {
      header,
      rows: rows.map((row) => {
        const extra = row.numbers.length - width;
        const label = [row.label, ...row.numbers.slice(0, extra)].join(' ');
        return [
          header === undefined ? label : label.replace(/^\d+\s+(?=\p{L})/u, ''),
          ...row.numbers.slice(extra),
        ];
      }),
      lines: indexes,
      layout: 'aligned',
    },
    end: position,
  };
}

/**
 * Finds the table that starts at a line.
 *
 * @param previous text of the line before, which holds the titles of an aligned table.
 */
export function findTable(
  lines: readonly OutputLine[],
  start: number,
  previous: string | undefined,
): FoundTable | undefined {
  const text = lines[start]?.text ?? '';
  if (text.trim() === '') return undefined;
  if (BARS.test(text)) return pipeTable(lines, start);
  return (
    delimitedTable(lines, start) ??
    paddedTable(lines, start, previous) ??
    alignedTable(lines, start, previous)
  );
}
