import { targetsOf } from '../../slice/statement-names.js';
import type { Expr, FunctionDefinition, Module, Name, Parameter, Stmt } from '../../syntax/ast.js';
import { expressionsIn, functionAround, ownExpressions, statementsIn } from '../../syntax/walk.js';
import { unseenWords } from './code-words.js';

/** Every statement of a suite, those within others too. */
export function* statementsOfSuite(statements: readonly Stmt[]): Generator<Stmt> {
  for (const statement of statements) yield* statementsIn(statement);
}

/** The expressions of a statement, with the defaults of parameters and the bases of a class. */
function* allExpressions(statement: Stmt): Generator<Expr> {
  const others =
    statement.type === 'class'
      ? statement.bases
      : statement.type === 'function'
        ? defaultsOf(statement.params)
        : [];
  for (const own of [...ownExpressions(statement), ...others]) {
    for (const part of expressionsIn(own)) {
      yield part;
      if (part.type === 'lambda') for (const value of defaultsOf(part.params)) yield* expressionsIn(value);
    }
  }
}

function defaultsOf(params: readonly Parameter[]): Expr[] {
  return params.flatMap(({ fallback }) => (fallback === undefined ? [] : [fallback]));
}

/** Every expression in some statements. */
export function expressionsInSuite(statements: readonly Stmt[]): Expr[] {
  return [...statementsOfSuite(statements)].flatMap((statement) => [...allExpressions(statement)]);
}

/** Every name in some statements, with its location. */
export function namesInSuite(statements: readonly Stmt[]): Name[] {
  return expressionsInSuite(statements).filter((part) => part.type === 'name');
}

/** Names that a statement itself binds, or those of its assignment expressions alone. */
export function boundByStatement(statement: Stmt, isWithinOnly = false): Set<string> {
  const bound = new Set<string>();
  const add = (target: Expr): void => {
    if (target.type === 'name') bound.add(target.id);
    else if (target.type === 'sequence') target.items.forEach(add);
    else if (target.type === 'starred') add(target.value);
  };
  for (const own of ownExpressions(statement))
    for (const part of expressionsIn(own)) if (part.type === 'walrus') add(part.target);
  if (isWithinOnly) return bound;
  for (const target of targetsOf(statement)) add(target);
  if (statement.type === 'import')
    for (const { name } of statement.bindings) bound.add(name.split('.')[0] ?? name);
  if (statement.type === 'function' || statement.type === 'class') bound.add(statement.name);
  return bound;
}

/** Names that some statements bind by themselves, not within the functions and classes that they define. */
export function boundIn(statements: readonly Stmt[]): Set<string> {
  const bound = new Set<string>();
  const open = [...statements];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const name of boundByStatement(next)) bound.add(name);
    if (next.type !== 'function' && next.type !== 'class') open.push(...innerStatements(next));
  }
  return bound;
}

function innerStatements(statement: Stmt): Stmt[] {
  return [...statementsIn(statement)].filter((inner) => inner.suite.owner === statement);
}

/** Names that comprehensions and lambdas bind for themselves. */
export function boundWithin(statements: readonly Stmt[]): Set<string> {
  const bound = new Set<string>();
  for (const statement of statementsOfSuite(statements)) {
    for (const part of allExpressions(statement)) {
      if (part.type === 'lambda') for (const { name } of part.params) bound.add(name);
      if (part.type !== 'comprehension') continue;
      for (const { target } of part.clauses)
        for (const inner of expressionsIn(target)) if (inner.type === 'name') bound.add(inner.id);
    }
  }
  return bound;
}

/** What is around a call: a function of the script, or the script itself. */
export interface Scope {
  readonly owner: FunctionDefinition | undefined;
  readonly statements: readonly Stmt[];
  /** All names in it, those of functions within it too. */
  readonly names: ReadonlySet<string>;
  readonly bound: ReadonlySet<string>;
}

/** @param except a function whose names do not count */
export function scopeAround(module: Module, statement: Stmt, except: FunctionDefinition): Scope {
  const around = functionAround(statement);
  const owner = around?.type === 'function' ? around : undefined;
  const statements = (owner?.body ?? module.body).statements.filter((one) => one !== except);
  const bound = boundIn(statements);
  for (const { name } of owner?.params ?? []) bound.add(name);
  const names = new Set([
    ...namesInSuite(statements).map(({ id }) => id),
    ...unseenWords(module, statements),
    ...bound,
  ]);
  return { owner, statements, names, bound };
}
