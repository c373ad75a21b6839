import { type Token, TokenKind } from './token.js';

/** A token that is not in the text; it points to the position of the one it was made from. */
export function made(text: string, like: Token, kind: TokenKind = TokenKind.operator): Token {
  return { kind, text, start: like.start, end: like.end, afterBreak: false };
}

/** Keeps `parent` and `scope` right while statements are put in. */
export class Rebuilt<S extends Statement = Statement> {
  readonly statements: S[] = [];
  readonly #moved: number[] = [];

  /** Index in the new list of a header of the old one. */
  at(old: number): number {
    return old < 0 ? old : (this.#moved[old] as number);
  }

  /** Says that headers of the old list are at the statement added last. */
  maps(old: number): void {
    this.#moved[old] = this.statements.length - 1;
  }

  add(statement: S): void {
    this.statements.push(statement);
  }
}

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
