import type { Expr, Name, Parameter, Stmt } from '../../../syntax/ast.js';
import { namesInExpression, ownExpressions, partsOf, suitesOf } from '../../../syntax/walk.js';
import { countWork } from '../../../values/work.js';
import { assignedNames } from './assigned-values.js';

/** A name that is a variable of the scope around, with the expressions that it is in, the innermost first. */
export interface FreeName {
  readonly name: Name;
  readonly around: readonly Expr[];
}

type Shadowed = ReadonlySet<string>;
const NOTHING: Shadowed = new Set();

/** The names of a statement, and of the suites in it, that are variables of its own scope: no parameters, and no variables of comprehensions. */
export function* freeNamesIn(statement: Stmt, shadowed: Shadowed = NOTHING): Generator<FreeName> {
  for (const own of ownExpressions(statement)) yield* freeNamesOf(own, shadowed);
  if (statement.type === 'function') {
    yield* fallbacks(statement.params, shadowed);
    const own = statement.body.statements.flatMap(assignedNames);
    const inside = new Set([...shadowed, ...statement.params.map(({ name }) => name), ...own]);
    for (const inner of statement.body.statements) yield* freeNamesIn(inner, inside);
    return;
  }
  for (const suite of suitesOf(statement))
    for (const inner of suite.statements) yield* freeNamesIn(inner, shadowed);
}

/** The names of an expression that are variables of the scope around. */
export function* freeNamesOf(
  expression: Expr,
  shadowed: Shadowed = NOTHING,
  around: readonly Expr[] = [],
): Generator<FreeName> {
  countWork(1);
  if (expression.type === 'name') {
    if (!shadowed.has(expression.id)) yield { name: expression, around };
    return;
  }
  let inside = shadowed;
  if (expression.type === 'lambda') {
    yield* fallbacks(expression.params, shadowed);
    inside = new Set([...shadowed, ...expression.params.map(({ name }) => name)]);
  }
  if (expression.type === 'comprehension') {
    const own = expression.clauses.flatMap(({ target }) => [...namesInExpression(target)]);
    inside = new Set([...shadowed, ...own.map(({ id }) => id)]);
  }
  for (const part of partsOf(expression)) yield* freeNamesOf(part, inside, [expression, ...around]);
}

function* fallbacks(params: readonly Parameter[], shadowed: Shadowed): Generator<FreeName> {
  for (const { fallback } of params) if (fallback !== undefined) yield* freeNamesOf(fallback, shadowed);
}
