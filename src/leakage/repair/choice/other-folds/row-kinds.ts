import type { FunctionDefinition, Lambda } from '../../../syntax/ast.js';

/** How some rows of a variable are taken: by an index alone, by `iloc` or `loc`, or after the first axis. */
export type RowAccess = 'plain' | 'iloc' | 'loc' | 'second';

/** Values of all rows of the table that the folds divide. */
export interface Rows {
  readonly is: 'rows';
  /** With a value for each row, or with several; `undefined` where that is not known. */
  readonly axes: 1 | 2 | undefined;
  readonly type: 'bool' | 'int' | 'float';
  /** An array of numpy, or a table of pandas; `undefined` where that is not known. */
  readonly isArray: boolean | undefined;
  /** Code of a table that has the same shape. */
  readonly like?: string;
  /** Computed row by row with something that was learned from all rows. */
  readonly isApplied: boolean;
}

/** Learned from the rows; `isHere`: by the very expression, so that it is another value for some of the rows. */
interface Learned {
  readonly is: 'learned';
  readonly isHere?: true;
}

/**
 * What a value has to do with the rows: nothing (`plain`), one value for each row, a list or a dictionary of these, or something
 * that was learned from them (`learned`).
 */
export type RowKind =
  | { readonly is: 'plain' }
  | Learned
  | Rows
  | { readonly is: 'list'; readonly of: Rows }
  | { readonly is: 'entries'; readonly of: Rows }
  | { readonly is: 'function'; readonly definition: FunctionDefinition | Lambda };

export const PLAIN: RowKind = { is: 'plain' };
export const LEARNED: RowKind = { is: 'learned' };

/** What something that is not followed makes of values. */
export function notFollowed(kinds: readonly RowKind[]): RowKind {
  const isHere = kinds.some(
    (kind) => kind.is === 'rows' || kind.is === 'list' || kind.is === 'entries' || isLearnedHere(kind),
  );
  if (isHere) return { is: 'learned', isHere };
  return kinds.some(isOfRows) ? LEARNED : PLAIN;
}

export function isLearnedHere(kind: RowKind): boolean {
  return kind.is === 'learned' && kind.isHere === true;
}

/** What holds values of rows, or follows from them. */
export function isOfRows(kind: RowKind): boolean {
  return kind.is !== 'plain' && kind.is !== 'function';
}

/** Some rows of a variable, in code. */
export function rowsTaken(text: string, access: RowAccess, rows: string): string {
  if (access === 'second') return `${text}[:, ${rows}]`;
  return access === 'plain' ? `${text}[${rows}]` : `${text}.${access}[${rows}]`;
}
