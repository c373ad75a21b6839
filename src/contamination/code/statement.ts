import type { Token } from './token.js';

/**
 * What a statement does for the program's shape. Loops of every form become `loop` (a condition) or `each`
 * (a target that takes one element after another).
 */
export type StatementRole = 'plain' | 'import' | 'define' | 'class' | 'branch' | 'loop' | 'each' | 'context';

/** One statement, or the header of a block. */
export interface Statement {
  readonly role: StatementRole;
  readonly tokens: readonly Token[];
  /** Index of the header whose block holds this statement; −1 at the top. */
  readonly parent: number;
  /** Index of the header of the innermost function around it; −1 at the top. */
  readonly scope: number;
}

export const TOP = -1;

/** Whether the statement at `index` is in the block of `header`, at any depth. */
export function isInside(statements: readonly Statement[], index: number, header: number): boolean {
  let at = statements[index]?.parent ?? TOP;
  while (at > header) at = statements[at]?.parent ?? TOP;
  return at === header;
}
