import { z } from 'zod';
import { UsageError } from '../errors.js';
import { PYTHON_SCRIPT } from '../solution/notebook-magics.js';
import { linesInCells } from './notebook-lines.js';
import { cellTexts, withLines, withoutCell } from './notebook-text.js';
import { lineIndex } from './syntax/ast.js';

const CellSchema = z.looseObject({
  cell_type: z.string(),
  source: z.union([z.string(), z.array(z.string())]),
});
const NotebookSchema = z.looseObject({
  cells: z.array(CellSchema),
  metadata: z.unknown().optional(),
});
const LanguageSchema = z.looseObject({
  kernelspec: z.looseObject({ language: z.string() }).optional().catch(undefined),
  language_info: z.looseObject({ name: z.string() }).optional().catch(undefined),
});
type Notebook = z.infer<typeof NotebookSchema>;

interface NotebookCell {
  /** Position among all cells of the notebook, counted from 1. */
  readonly cell: number;
  /** Offsets of its text in the joined source. */
  readonly start: number;
  readonly end: number;
  /** Line of the joined source on which it begins, counted from 1. */
  readonly firstLine: number;
}

/** The code cells of a notebook as one script, and where each of its lines comes from. */
export interface JoinedCells {
  /** Code cells in order, joined by line breaks. Cells in another language are left out. */
  readonly source: string;
  readonly cells: readonly NotebookCell[];
  /** Positions of the code cells that are left out, with their magic. `mayTrain`: they name Python, or train something. */
  readonly leftOut: readonly { readonly cell: number; readonly magic: string; readonly mayTrain: boolean }[];
}

/** The code of a notebook's file. */
export interface NotebookCode extends JoinedCells {
  /** The language of its kernel, if that is not Python. */
  readonly language?: string;
}

/** The code of one cell. */
export interface CodeCell {
  /** Position among all cells of the notebook, counted from 1. */
  readonly cell: number;
  readonly code: string;
}

/** Magics that run their cell as Python, be it in another process, or write it to a script. */
const PYTHON_CELL =
  /^\s*%%(?:(?:time|timeit|capture|prun|memit|mprun|lprun|python[23]?|pypy3?|cython|snakeviz|scalene|pyinstrument|debug|px|local|async_run|heat|cache|wandb)\b|(?:writefile|file)[ \t].*\.py\b)/;
/** `%%bash`, `%%html`: the cell is not Python. */
const FOREIGN_CELL = /^\s*%%(\w+|!)/;
const MAY_TRAIN = /python|\.\s*(?:partial_)?fit\w*\s*\(/i;

/**
 * Reads a Jupyter notebook (nbformat 4).
 *
 * @throws UsageError (`unreadable-input`) if the text is not a notebook.
 */
export function readNotebook(text: string): NotebookCode {
  const { cells, metadata } = parseNotebook(text);
  const language = languageOf(metadata);
  return {
    ...joinCells(
      cells.flatMap((cell, index) =>
        cell.cell_type === 'code' ? [{ cell: index + 1, code: textOf(cell) }] : [],
      ),
    ),
    ...(language === undefined || /python|^sage/i.test(language) ? {} : { language }),
  };
}

/** The code cells of a notebook as one script. */
export function joinCells(codeCells: readonly CodeCell[]): JoinedCells {
  const parts: string[] = [];
  const cells: NotebookCell[] = [];
  const leftOut: { cell: number; magic: string; mayTrain: boolean }[] = [];
  let at = 0;
  let line = 1;
  for (const { cell, code } of codeCells) {
    const magic = FOREIGN_CELL.exec(code)?.[1];
    if (magic !== undefined && !PYTHON_CELL.test(code) && !PYTHON_SCRIPT.test(code)) {
      leftOut.push({ cell, magic, mayTrain: MAY_TRAIN.test(code) });
      continue;
    }
    cells.push({ cell, start: at, end: at + code.length, firstLine: line });
    parts.push(code);
    at += code.length + 1;
    line += code.split('\n').length;
  }
  return { source: parts.join('\n'), cells, leftOut };
}

function languageOf(metadata: unknown): string | undefined {
  const named = LanguageSchema.safeParse(metadata).data;
  return named?.language_info?.name ?? named?.kernelspec?.language;
}

/** The cell and the line within it, both counted from 1, of a line of the joined source. */
export function cellOfLine(code: JoinedCells, line: number): { cell: number; line: number } | undefined {
  const found = code.cells.findLast((cell) => cell.firstLine <= line);
  return found === undefined ? undefined : { cell: found.cell, line: line - found.firstLine + 1 };
}

/** A sentence about the joined source, with cells and their lines instead of its lines. */
export function inCells(sentence: string, code: JoinedCells): string {
  return sentence.replaceAll(/\bline (\d+)\b/g, (text, line: string) => {
    const found = cellOfLine(code, Number(line));
    return found === undefined ? text : `cell ${found.cell} line ${found.line}`;
  });
}

/** A function from a line of the joined source to the line of the notebook's text that holds it, both counted from 1. */
export function linesInFile(text: string, code: NotebookCode): (line: number) => number {
  const texts = cellTexts(text);
  const lineOf = lineIndex(text);
  return (line) => {
    const found = cellOfLine(code, line);
    const strings = found === undefined ? undefined : texts.get(found.cell - 1)?.strings;
    // Mostly, each string is a line.
    return lineOf(strings?.[Math.min(found?.line ?? 1, strings.length) - 1]?.start ?? 0);
  };
}

interface Block {
  readonly start: number;
  readonly end: number;
}

/** The replacement of a part of one cell. */
export interface CellEdit {
  readonly cell: number;
  /** Offsets in the text of the cell. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * What changes in each cell if a block of the joined source is replaced. Lines that stay are in their cells, and new ones where
 * the lines were that they replace.
 */
export function editsInCells(
  joined: JoinedCells,
  { start, end }: Block,
  replacement: string,
): readonly CellEdit[] {
  const { source } = joined;
  return changesOfCells(joined, source.slice(0, start) + replacement + source.slice(end));
}

/** What changes in each cell if the joined source becomes another one. */
function changesOfCells({ source, cells }: JoinedCells, changed: string): CellEdit[] {
  const codes = cells.map(({ start, end }) => source.slice(start, end));
  const lines = linesInCells(codes, changed);
  return cells.flatMap(({ cell }, at) => {
    const [was = '', is = ''] = [codes[at], lines[at]?.join('\n')];
    // Half a line break would be left over of a line that is the last one now.
    return was === is ? [] : [{ cell, ...differenceOf(was, is.replace(/\r$/, '')) }];
  });
}

/** What replaces what in a text that becomes another one, in whole characters and line breaks. */
function differenceOf(was: string, is: string): Omit<CellEdit, 'cell'> {
  let start = 0;
  while (start < was.length && start < is.length && was[start] === is[start]) start += 1;
  while (isWithinCharacter(was, start) || isWithinCharacter(is, start)) start -= 1;
  let [end, until] = [was.length, is.length];
  for (; end > start && until > start && was[end - 1] === is[until - 1]; until -= 1) end -= 1;
  for (; isWithinCharacter(was, end) || isWithinCharacter(is, until); until += 1) end += 1;
  return { start, end, text: is.slice(start, until) };
}

/** Whether an offset cuts a surrogate pair, or a line break of two characters: an editor has no position there. */
function isWithinCharacter(text: string, offset: number): boolean {
  return /^(?:[\uD800-\uDBFF][\uDC00-\uDFFF]|\r\n)$/.test(text.slice(Math.max(0, offset - 1), offset + 1));
}

/** The notebook with a block of the joined source replaced; all other text stays as it is. */
export function replaceInNotebook(text: string, { start, end }: Block, replacement: string): string {
  const { source } = readNotebook(text);
  return withSource(text, source.slice(0, start) + replacement + source.slice(end));
}

/** The notebook with another joined source. A cell that has lost all its lines is taken out. All other text stays as it is. */
export function withSource(text: string, source: string): string {
  const notebook = parseNotebook(text);
  const texts = cellTexts(text);
  const parts: string[] = [];
  const lost: number[] = [];
  let from = 0;
  for (const edit of changesOfCells(readNotebook(text), source)) {
    const target = notebook.cells[edit.cell - 1];
    const value = texts.get(edit.cell - 1);
    if (target === undefined || value === undefined) continue;
    const code = textOf(target);
    const changed = code.slice(0, edit.start) + edit.text + code.slice(edit.end);
    if (changed.trim() === '') lost.push(edit.cell - 1);
    parts.push(text.slice(from, value.start), withLines(text, value, linesOf(changed)));
    from = value.end;
  }
  return lost.reduceRight(withoutCell, parts.join('') + text.slice(from));
}

function parseNotebook(text: string): Notebook {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new UsageError('unreadable-input', 'The file is not a notebook: it is not JSON.', { cause: error });
  }
  if (!NotebookSchema.safeParse(content).success) {
    throw new UsageError(
      'unreadable-input',
      'The file is not a notebook: it has no list of cells (nbformat 4).',
    );
  }
  // The data as they were read: the schema's copy of them has its fields in another order.
  return content as Notebook;
}

function textOf({ source }: { readonly source: string | readonly string[] }): string {
  return typeof source === 'string' ? source : source.join('');
}

/** Lines as a notebook stores them: each with its line break, but the last. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}
