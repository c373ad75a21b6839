import { z } from 'zod';
import { UsageError } from '../errors.js';
import { PYTHON_SCRIPT } from '../solution/notebook-magics.js';
import { cellTexts, withLines } from './notebook-text.js';
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

/** The code of a notebook as one script, and where each of its lines comes from. */
export interface NotebookCode {
  /** Code cells in order, joined by line breaks. Cells in another language are left out. */
  readonly source: string;
  readonly cells: readonly NotebookCell[];
  /** Positions of the code cells that are left out, with their magic. `mayTrain`: they name Python, or train something. */
  readonly leftOut: readonly { readonly cell: number; readonly magic: string; readonly mayTrain: boolean }[];
  /** The language of its kernel, if that is not Python. */
  readonly language?: string;
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
  const parts: string[] = [];
  const joined: NotebookCell[] = [];
  const leftOut: { cell: number; magic: string; mayTrain: boolean }[] = [];
  let at = 0;
  let line = 1;
  cells.forEach((cell, index) => {
    const code = textOf(cell);
    if (cell.cell_type !== 'code') return;
    const magic = FOREIGN_CELL.exec(code)?.[1];
    if (magic !== undefined && !PYTHON_CELL.test(code) && !PYTHON_SCRIPT.test(code)) {
      leftOut.push({ cell: index + 1, magic, mayTrain: MAY_TRAIN.test(code) });
      return;
    }
    joined.push({ cell: index + 1, start: at, end: at + code.length, firstLine: line });
    parts.push(code);
    at += code.length + 1;
    line += code.split('\n').length;
  });
  const language = languageOf(metadata);
  return {
    source: parts.join('\n'),
    cells: joined,
    leftOut,
    ...(language === undefined || /python|^sage/i.test(language) ? {} : { language }),
  };
}

function languageOf(metadata: unknown): string | undefined {
  const named = LanguageSchema.safeParse(metadata).data;
  return named?.language_info?.name ?? named?.kernelspec?.language;
}

/** The cell and the line within it, both counted from 1, of a line of the joined source. */
export function cellOfLine(code: NotebookCode, line: number): { cell: number; line: number } | undefined {
  const found = code.cells.findLast((cell) => cell.firstLine <= line);
  return found === undefined ? undefined : { cell: found.cell, line: line - found.firstLine + 1 };
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

/**
 * The notebook with a block of the joined source replaced; all other text stays as it is. A block over several cells is put
 * into the first of them, and its lines are taken out of the others.
 */
export function replaceInNotebook(text: string, block: Block, replacement: string): string {
  const notebook = parseNotebook(text);
  const { cells } = readNotebook(text);
  const texts = cellTexts(text);
  // The line break that joins a cell to the next one is in the joined source alone.
  const endsWithJoint = cells.some(({ end }) => end + 1 === block.end);
  const fitted = endsWithJoint ? replacement.replace(/\n$/, '') : replacement;
  const parts: string[] = [];
  let from = 0;
  let isWritten = false;
  for (const { cell, start, end } of cells) {
    const target = notebook.cells[cell - 1];
    const value = texts.get(cell - 1);
    if (target === undefined || value === undefined || end < block.start || start >= block.end) continue;
    const code = textOf(target);
    const before = code.slice(0, Math.max(0, block.start - start));
    const after = code.slice(Math.max(0, Math.min(code.length, block.end - start)));
    const changed = isWritten ? after.replace(/^\n/, '') : `${before}${fitted}${after}`;
    isWritten = true;
    if (changed === code) continue;
    parts.push(text.slice(from, value.start), withLines(text, value, linesOf(changed)));
    from = value.end;
  }
  return parts.join('') + text.slice(from);
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
