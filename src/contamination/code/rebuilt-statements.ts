import type { Statement } from './statement.js';
import { type Token, TokenKind } from './token.js';

/** A token that is not in the text; it points to the place of the one it was made from. */
export function made(text: string, like: Token, kind: TokenKind = TokenKind.operator): Token {
  return { kind, text, start: like.start, end: like.end, afterBreak: false };
}

/** Keeps `parent` and `scope` right while statements are put in. */
export class Rebuilt<S extends Statement = Statement> {
  readonly statements: S[] = [];
  private readonly moved: number[] = [];

  /** Index in the new list of a header of the old one. */
  at(old: number): number {
    return old < 0 ? old : (this.moved[old] as number);
  }

  /** Says that headers of the old list are at the statement added last. */
  maps(old: number): void {
    this.moved[old] = this.statements.length - 1;
  }

  add(statement: S): void {
    this.statements.push(statement);
  }
}
