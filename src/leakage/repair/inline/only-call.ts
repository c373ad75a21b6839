import type { Call, Expr, FunctionDefinition, Module, Stmt } from '../../syntax/ast.js';
import { expressionsIn, functionAround, ownExpressions } from '../../syntax/walk.js';
import { hasOwnLines } from '../tidy/draft.js';
import { expressionsInSuite, statementsOfSuite } from './scopes.js';

export interface OnlyCall {
  readonly statement: Stmt;
  readonly call: Call;
}

/**
 * The only line where a script names a function, if that is a call on lines of its own which nothing else of its statement runs
 * before.
 */
export function onlyCallOf(module: Module, definition: FunctionDefinition): OnlyCall | undefined {
  const { name, suite } = definition;
  const uses = suite.owner?.type === 'class' ? methodUses(module, name) : functionUses(module, name);
  const isDefinedOnce =
    [...statementsOfSuite(module.body.statements)].filter(
      (one) => (one.type === 'function' || one.type === 'class') && one.name === name,
    ).length === 1;
  const [use, ...others] = uses;
  if (use === undefined || others.length > 0 || !isDefinedOnce) return undefined;
  for (const statement of statementsOfSuite(module.body.statements)) {
    if (!/^(assign|expression|return)$/.test(statement.type) || !hasOwnLines(module, statement)) continue;
    if (statement.start < use.start === statement.end < use.start) continue;
    const [whole, ...targets] = [...ownExpressions(statement)].reverse();
    const call = whole === undefined ? undefined : firstCall(whole, use);
    const isWithin = use.start >= definition.start && use.end <= definition.end;
    if (call === undefined || isWithin || !targets.every(isPlainTarget)) return undefined;
    return isReplaceable(definition, statement, call) ? { statement, call } : undefined;
  }
  return undefined;
}

function functionUses(module: Module, name: string): Expr[] {
  return expressionsInSuite(module.body.statements).filter(
    (part) => part.type === 'name' && part.id === name,
  );
}

/** `self.prepare`, and what else may name a method. */
function methodUses(module: Module, name: string): Expr[] {
  return expressionsInSuite(module.body.statements).filter(
    (part) =>
      (part.type === 'attribute' && part.name === name) ||
      (part.type === 'name' && part.id === name) ||
      (part.type === 'constant' && part.value === name),
  );
}

/** Whether a call may be replaced by the lines of what it calls: of a method, only in another method of the same object. */
function isReplaceable({ suite: { owner } }: FunctionDefinition, statement: Stmt, { callee }: Call): boolean {
  if (owner?.type !== 'class') return !isInClassBody(statement);
  const around = functionAround(statement);
  if (around?.type !== 'function' || around.suite.owner !== owner || around.decorators.length > 0)
    return false;
  const isOfSelf =
    callee.type === 'attribute' && callee.object.type === 'name' && callee.object.id === 'self';
  return isOfSelf && around.params[0]?.name === 'self';
}

/** The call of the function that is named in an expression, if it is what runs first. */
function firstCall(expression: Expr, use: Expr): Call | undefined {
  if (expression.start > use.start || expression.end < use.end) return undefined;
  if (expression.type === 'call') {
    const { callee, args } = expression;
    if (callee === use) return expression;
    const [first] = args;
    if (callee.type === 'name' || (callee.type === 'attribute' && callee.object.type === 'name'))
      return first === undefined ? undefined : firstCall(first.value, use);
    return firstCall(callee, use);
  }
  if (expression.type === 'attribute' || expression.type === 'subscript')
    return firstCall(expression.object, use);
  const [first] = expression.type === 'sequence' ? expression.items : [];
  return first === undefined ? undefined : firstCall(first, use);
}

/** A target that computes nothing before it is assigned. */
function isPlainTarget(target: Expr): boolean {
  return [...expressionsIn(target)].every((part) => part.type !== 'call');
}

function isInClassBody(statement: Stmt): boolean {
  const { owner } = statement.suite;
  return owner !== undefined && owner.type !== 'function' && (owner.type === 'class' || isInClassBody(owner));
}
