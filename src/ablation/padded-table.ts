import { isReferenceCell } from './score-entry.js';

/** A word or several with one space between them, and where it is in its line. */
interface Cell {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const GAP = /\s{2,}|\t/;
const CELL = /\S+(?: \S+)*/g;

function cellsOf(line: string): Cell[] {
  return [...line.matchAll(CELL)].map((match) => ({
    text: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** How far apart two cells are; below zero where they overlap. */
function distance(a: Cell, b: Cell): number {
  return Math.max(a.start, b.start) - Math.min(a.end, b.end);
}

/** The cells of a row under the nearest titles; undefined where two cells would be under one. */
function underTitles(row: readonly Cell[], titles: readonly Cell[]): string[] | undefined {
  const found: string[] = titles.map(() => '');
  let free = 0;
  for (const cell of row) {
    let nearest = -1;
    for (let column = free; column < titles.length; column += 1) {
      const title = titles[column];
      const best = titles[nearest];
      if (title === undefined) continue;
      if (best === undefined || distance(cell, title) < distance(cell, best)) nearest = column;
    }
    if (nearest === -1) return undefined;
    found[nearest] = cell.text;
    free = nearest + 1;
  }
  return found;
}

/** Whether a line before a table is no line of titles: it has a score, or ends as a sentence does. */
export function isSentence(line: string): boolean {
  const text = line.trim();
  return /\d\.\d|:$/.test(text) || (text.endsWith('.') && text.split(GAP).length < 2);
}

/** Titles of columns that are set by spaces; where the line is indented, the first column may have none. */
function titlesIn(line: string | undefined): Cell[] {
  if (line === undefined || line.length > 400 || isSentence(line)) return [];
  const titles = cellsOf(line);
  const isIndented = /^\s{2}/.test(line);
  if (titles.length + (isIndented ? 1 : 0) < 2) return [];
  return isIndented ? [{ text: '', start: 0, end: 0 }, ...titles] : titles;
}

/** A name so long that one space divides it from the number of the next column: `w/o deep supervision 0.869`. */
function divided(cell: Cell, titles: readonly Cell[]): Cell[] {
  const last = cell.text.lastIndexOf(' ');
  const at = cell.start + last + 1;
  const isOver = titles.some(
    (title) => title.start > cell.start && title.start <= cell.end && title.end >= at,
  );
  if (last === -1 || !isOver || !/^[-+−]?(?:\d+(?:\.\d+)?|\.\d+)%?$/.test(cell.text.slice(last + 1)))
    return [cell];
  return [
    { text: cell.text.slice(0, last), start: cell.start, end: at - 1 },
    { text: cell.text.slice(last + 1), start: at, end: cell.end },
  ];
}

/**
 * Rows of a table whose columns are set by spaces and in which some cells are empty or hold a word for the reference
 * (`ref`, `--`). Each cell belongs to the title it is nearest to, so an empty one moves no other. Undefined for a line that
 * is no such row.
 */
export class PaddedColumns {
  readonly #titles: readonly Cell[];
  /** Whether a row was found that other layouts would misread. */
  hasGaps = false;

  constructor(titleLine: string | undefined) {
    this.#titles = titlesIn(titleLine);
  }

  get header(): readonly string[] {
    return this.#titles.map(({ text }) => text);
  }

  /** @param isNumber whether a cell is a score, or a word for a failed run */
  row(line: string, isNumber: (cell: string) => boolean): string[] | undefined {
    if (this.#titles.length < 2 || line.length > 400) return undefined;
    const cells = cellsOf(line).flatMap((cell) => divided(cell, this.#titles));
    const row = underTitles(cells, this.#titles);
    if (row === undefined || cells.length < 2) return undefined;
    const scores = row.filter((cell) => isNumber(cell)).length;
    const references = row.filter((cell) => isReferenceCell(cell)).length;
    if (scores + references === 0 || (references < 2 && !/\p{L}/u.test(row.join(' ')))) return undefined;
    // An index without a title leaves its column empty in no row.
    const cellsOfTitles = this.#titles[0]?.text === '' ? row.slice(1) : row;
    if (cellsOfTitles.some((cell) => cell === '' || isReferenceCell(cell))) this.hasGaps = true;
    return row;
  }
}
