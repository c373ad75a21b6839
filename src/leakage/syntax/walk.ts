import { countWork } from '../values/work.js';
import type { Call, Expr, Name, Stmt, Suite } from './ast.js';

/** The parts of an expression. */
export function partsOf(expression: Expr): readonly Expr[] {
  switch (expression.type) {
    case 'attribute':
      return [expression.object];
    case 'subscript':
      return [expression.object, ...expression.indices];
    case 'slice':
      return [expression.lower, expression.upper, expression.step].filter((part) => part !== undefined);
    case 'call':
      return [expression.callee, ...expression.args.map((argument) => argument.value)];
    case 'formatted':
    case 'other':
      return expression.parts;
    case 'sequence':
      return expression.items;
    case 'dictionary':
      return expression.entries.flatMap(({ key, value }) => (key === undefined ? [value] : [key, value]));
    case 'binary':
      return [expression.left, expression.right];
    case 'compare':
      return expression.operands;
    case 'unary':
      return [expression.operand];
    case 'lambda':
      return [expression.body];
    case 'comprehension':
      return [
        ...(expression.key === undefined ? [] : [expression.key]),
        expression.element,
        ...expression.clauses.flatMap((clause) => [clause.target, clause.iterable, ...clause.conditions]),
      ];
    case 'conditional':
      return [expression.whenTrue, expression.test, expression.whenFalse];
    case 'starred':
      return [expression.value];
    case 'walrus':
      return [expression.target, expression.value];
    default:
      return [];
  }
}

/** Every expression within an expression, itself first. */
export function* expressionsIn(expression: Expr): Generator<Expr> {
  const open: Expr[] = [expression];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    countWork(1);
    yield next;
    // Not `push(...parts)`: a list may have more items than a call can have arguments.
    for (const part of partsOf(next).toReversed()) open.push(part);
  }
}

/** The expressions that are in a statement itself, not in the suites it holds. */
export function ownExpressions(statement: Stmt): readonly Expr[] {
  switch (statement.type) {
    case 'assign':
      return [...statement.targets, statement.value];
    case 'augmented':
      return [statement.target, statement.value];
    case 'expression':
      return [statement.value];
    case 'if':
      return statement.branches.flatMap(({ test }) => (test === undefined ? [] : [test]));
    case 'for':
      return [statement.target, statement.iterable];
    case 'while':
      return [statement.test];
    case 'with':
      return statement.items.flatMap(({ value, target }) =>
        target === undefined ? [value] : [value, target],
      );
    case 'return':
      return statement.value === undefined ? [] : [statement.value];
    case 'delete':
      return statement.targets;
    case 'function':
    case 'class':
      return statement.decorators;
    case 'other':
      return statement.parts;
    default:
      return [];
  }
}

export function suitesOf(statement: Stmt): readonly Suite[] {
  switch (statement.type) {
    case 'if':
      return statement.branches.map(({ body }) => body);
    case 'for':
    case 'while':
      return statement.orelse === undefined ? [statement.body] : [statement.body, statement.orelse];
    case 'with':
    case 'function':
    case 'class':
      return [statement.body];
    case 'try':
      return [statement.body, ...statement.handlers, statement.orelse, statement.final].filter(
        (suite) => suite !== undefined,
      );
    case 'other':
      return statement.suites;
    default:
      return [];
  }
}

/** A statement and all statements within it. */
export function* statementsIn(statement: Stmt): Generator<Stmt> {
  countWork(1);
  yield statement;
  for (const suite of suitesOf(statement)) {
    for (const inner of suite.statements) yield* statementsIn(inner);
  }
}

/** Every name that is in a statement, with its location. */
export function* namesIn(statement: Stmt): Generator<Name> {
  for (const inner of statementsIn(statement)) {
    for (const own of ownExpressions(inner)) yield* namesInExpression(own);
  }
}

export function* namesInExpression(expression: Expr): Generator<Name> {
  for (const part of expressionsIn(expression)) if (part.type === 'name') yield part;
}

/** The name at the root of `a.b[c].d`. */
export function rootName(expression: Expr): string | undefined {
  let current = expression;
  for (;;) {
    if (current.type === 'name') return current.id;
    if (current.type === 'attribute' || current.type === 'subscript') current = current.object;
    else if (current.type === 'call') current = current.callee;
    else return undefined;
  }
}

/** The last name of what is called: `fit` of `model.fit(X)`; empty where it has none. */
export function calleeName({ callee }: Call): string {
  return callee.type === 'name' ? callee.id : callee.type === 'attribute' ? callee.name : '';
}

/** The function that a statement is in. */
export function functionAround(statement: Stmt): Stmt | undefined {
  let owner = statement.suite.owner;
  while (owner !== undefined && owner.type !== 'function') owner = owner.suite.owner;
  return owner;
}
