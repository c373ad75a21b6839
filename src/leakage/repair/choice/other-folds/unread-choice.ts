import type { Expr, Module, Span, Stmt } from '../../../syntax/ast.js';
import { namesIn } from '../../../syntax/walk.js';
import { isShown } from '../candidate-statements.js';
import { statementsOfScope } from './assigned-values.js';
import { namesMadeBy } from './choice-slice.js';

/** Statements of a choice whose names nothing reads any more but the code that is replaced and the statements themselves. */
export function unreadStatements(
  { body }: Module,
  choice: readonly Stmt[],
  replaced: readonly Expr[],
): Stmt[] {
  const gone: Stmt[] = [];
  const within = ({ start, end }: Span, spans: readonly Span[]): boolean =>
    spans.some((span) => span.start <= start && end <= span.end);
  for (const statement of choice.toReversed()) {
    const made = new Set(namesMadeBy(statement));
    const shows = [...statementsOfScope([statement])].some(isShown);
    const isRead = body.statements
      .flatMap((one) => [...namesIn(one)])
      .some((name) => made.has(name.id) && !within(name, [statement, ...gone, ...replaced]));
    if (!shows && !isRead && statement.type !== 'expression') gone.push(statement);
  }
  return gone;
}
