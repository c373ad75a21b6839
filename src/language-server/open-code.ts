import { type NotebookCell, NotebookCellKind, type NotebookDocument } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { editsInCells, inCells, type JoinedCells, joinCells } from '../leakage/notebook.js';

/** A document with its text at one version. */
interface Part {
  readonly document: TextDocument;
  readonly version: number;
}

/** A part of the code that is in one document. */
export interface DocumentSpan {
  readonly document: TextDocument;
  /** Of a notebook: its position among all cells, counted from 1. */
  readonly cell?: number;
  /** UTF-16 offsets in the document. */
  readonly start: number;
  readonly end: number;
}

/** What replaces a part of a document. */
export interface Replacement extends DocumentSpan {
  readonly text: string;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** The code of a script or of a notebook as it was at one moment, and where each part of it is. */
export interface OpenCode {
  readonly source: string;
  /** The documents that the code was taken from: what is said of it is said of these. */
  readonly parts: readonly Part[];
  /** Code cells of another language that may train something, by their documents. */
  readonly leftOut: readonly { readonly document: TextDocument; readonly magic: string }[];
  /** Where a part of the source is; of one over several cells, what is in the first of them. */
  locate(span: Span): DocumentSpan | undefined;
  replacing(span: Span, text: string): readonly Replacement[];
  /** A sentence about the source, for a reader of the documents. */
  asRead(sentence: string): string;
}

/** A document of Python alone, be it with cells between `# %%` lines. */
export function codeOfScript(document: TextDocument): OpenCode {
  return {
    source: document.getText(),
    parts: [{ document, version: document.version }],
    leftOut: [],
    locate: ({ start, end }) => ({ document, start, end }),
    replacing: ({ start, end }, text) => [{ document, start, end, text }],
    asRead: (sentence) => sentence,
  };
}

/** A notebook: its Python cells in order. */
export function codeOfNotebook(
  notebook: NotebookDocument,
  documentOf: (cell: NotebookCell) => TextDocument | undefined,
): OpenCode {
  // The position counts all cells, as in a file.
  const codeCells = notebook.cells.flatMap((cell, at) => {
    const document = cell.kind === NotebookCellKind.Code ? documentOf(cell) : undefined;
    return document?.languageId === 'python' ? [{ cell: at + 1, document, code: document.getText() }] : [];
  });
  const joined = joinCells(codeCells);
  const byCell = new Map(codeCells.map(({ cell, document }) => [cell, document]));
  return {
    source: joined.source,
    parts: codeCells.map(({ document }) => ({ document, version: document.version })),
    leftOut: joined.leftOut.flatMap(({ cell, magic, mayTrain }) => {
      const document = byCell.get(cell);
      return mayTrain && document !== undefined ? [{ document, magic }] : [];
    }),
    locate: (span) => locateInCells(joined, byCell, span),
    replacing: (span, replacement) =>
      editsInCells(joined, span, replacement).flatMap(({ cell, ...edit }) => {
        const document = byCell.get(cell);
        return document === undefined ? [] : [{ ...edit, document }];
      }),
    asRead: (sentence) => inCells(sentence, joined),
  };
}

function locateInCells(
  { cells }: JoinedCells,
  byCell: ReadonlyMap<number, TextDocument>,
  { start, end }: Span,
): DocumentSpan | undefined {
  const cell = cells.findLast((one) => one.start <= start);
  const document = cell && byCell.get(cell.cell);
  if (cell === undefined || document === undefined) return undefined;
  return { document, cell: cell.cell, start: start - cell.start, end: Math.min(end, cell.end) - cell.start };
}

/** Whether code is still as it was: the same documents at the same versions. */
export function isSameCode(a: OpenCode, b: OpenCode): boolean {
  return (
    a.parts.length === b.parts.length &&
    a.parts.every(({ document, version }, at) => {
      const other = b.parts[at];
      return document === other?.document && version === other.version;
    })
  );
}
