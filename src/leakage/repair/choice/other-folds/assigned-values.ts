import type { Expr, FunctionDefinition, Module, Stmt } from '../../../syntax/ast.js';
import { expressionsIn, functionAround, ownExpressions, suitesOf } from '../../../syntax/walk.js';

/** What is assigned in a way that is not followed. */
export const UNKNOWN_VALUE: Expr = { type: 'other', parts: [], start: 0, end: 0 };

/** Every expression of a statement itself. */
export function expressionsOf(statement: Stmt): Expr[] {
  return ownExpressions(statement).flatMap((own) => [...expressionsIn(own)]);
}

export function isNamed(expression: Expr, name: string): boolean {
  return expression.type === 'name' && expression.id === name;
}

/** Statements and those within them, but not those of functions and classes, which have variables of their own. */
export function* statementsOfScope(statements: readonly Stmt[]): Generator<Stmt> {
  for (const statement of statements) {
    yield statement;
    if (statement.type === 'function' || statement.type === 'class') continue;
    for (const suite of suitesOf(statement)) yield* statementsOfScope(suite.statements);
  }
}

/**
 * What a name that a statement reads is assigned, in the function around it or in the module; a loop or a parameter that sets it
 * counts as something unknown.
 */
export function assignedTo(module: Module, name: string, reader: Stmt): Expr[] {
  const around = functionAround(reader);
  const own = around?.type === 'function' ? assignedInFunction(around, name) : [];
  return own.length > 0 ? own : assignedIn(module.body.statements, name);
}

function assignedInFunction(definition: FunctionDefinition, name: string): Expr[] {
  const isParameter = definition.params.some((parameter) => parameter.name === name);
  return [...(isParameter ? [UNKNOWN_VALUE] : []), ...assignedIn(definition.body.statements, name)];
}

function assignedIn(statements: readonly Stmt[], name: string): Expr[] {
  return [...statementsOfScope(statements)].flatMap((statement) => {
    switch (statement.type) {
      case 'assign':
        return statement.targets.flatMap((target) => valuesFor(target, statement.value, name));
      case 'augmented':
        return isNamed(statement.target, name) ? [UNKNOWN_VALUE] : [];
      case 'for':
        return setsName(statement.target, name) ? [UNKNOWN_VALUE] : [];
      case 'with':
        return statement.items.some(({ target }) => target !== undefined && setsName(target, name))
          ? [UNKNOWN_VALUE]
          : [];
      case 'global':
        return statement.names.includes(name) ? [UNKNOWN_VALUE] : [];
      default:
        return [];
    }
  });
}

function setsName(target: Expr, name: string): boolean {
  return [...expressionsIn(target)].some((part) => isNamed(part, name));
}

/** What a target gives a name of it. */
export function valuesFor(target: Expr, value: Expr, name: string): Expr[] {
  if (isNamed(target, name)) return [value];
  if (target.type !== 'sequence' || !target.items.some((item) => isNamed(item, name))) return [];
  const at = target.items.findIndex((item) => isNamed(item, name));
  const isPairwise = value.type === 'sequence' && value.items.length === target.items.length;
  return [(isPairwise ? value.items[at] : undefined) ?? UNKNOWN_VALUE];
}

/** Names that a statement gives another value, or whose parts it changes by an assignment, in its own scope. */
export function assignedNames(statement: Stmt): string[] {
  return [...statementsOfScope([statement])].flatMap((inner) => {
    if (inner.type === 'function' || inner.type === 'class') return [inner.name];
    const targets =
      inner.type === 'assign'
        ? inner.targets
        : inner.type === 'augmented' || inner.type === 'for'
          ? [inner.target]
          : inner.type === 'delete'
            ? inner.targets
            : inner.type === 'with'
              ? inner.items.flatMap(({ target }) => (target === undefined ? [] : [target]))
              : [];
    return targets.flatMap(rootNames);
  });
}

function rootNames(target: Expr): string[] {
  switch (target.type) {
    case 'name':
      return [target.id];
    case 'sequence':
      return target.items.flatMap(rootNames);
    case 'starred':
      return rootNames(target.value);
    case 'attribute':
    case 'subscript':
      return rootNames(target.object);
    default:
      return [];
  }
}
