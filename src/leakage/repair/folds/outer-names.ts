import type { Expr, Name, Stmt } from '../../syntax/ast.js';
import { expressionsIn, namesInExpression, ownExpressions, statementsIn } from '../../syntax/walk.js';

/** The names in a statement that are not parameters of a lambda in it, or variables of a comprehension. */
export function outerNamesIn(statement: Stmt): Name[] {
  return [...statementsIn(statement)].flatMap((inner) => ownExpressions(inner).flatMap(outerNamesOf));
}

/** The same for an expression. */
export function outerNamesOf(expression: Expr): Name[] {
  const inner = new Set<Name>();
  for (const part of expressionsIn(expression)) {
    const bound = boundIn(part);
    if (bound.size === 0) continue;
    // What a comprehension goes through first is looked up outside of it.
    const [clause] = part.type === 'comprehension' ? part.clauses : [];
    const outside = new Set(clause === undefined ? [] : namesInExpression(clause.iterable));
    for (const name of namesInExpression(part)) if (bound.has(name.id) && !outside.has(name)) inner.add(name);
  }
  return [...namesInExpression(expression)].filter((name) => !inner.has(name));
}

function boundIn(part: Expr): ReadonlySet<string> {
  if (part.type === 'lambda') return new Set(part.params.map(({ name }) => name));
  if (part.type !== 'comprehension') return new Set();
  return new Set(part.clauses.flatMap(({ target }) => [...namesInExpression(target)].map(({ id }) => id)));
}
