import type { Span, Stmt } from '../syntax/ast.js';
import { functionAround } from '../syntax/walk.js';

/** The call of the helper functions that a statement is in, up to one that holds `other` as well; the statement itself in none. */
export function outerCall(statement: Stmt, callers: readonly Stmt[], other: Span): Stmt {
  let outer = statement;
  for (const caller of callers) {
    const around = functionAround(outer);
    if (around === undefined || (around.start <= other.start && other.end <= around.end)) break;
    outer = caller;
  }
  return outer;
}
