import type { Call, ClassDefinition, Expr, FunctionDefinition, Module, Stmt } from '../../syntax/ast.js';
import { expressionsIn, functionAround, ownExpressions } from '../../syntax/walk.js';
import { hasOwnLines } from '../tidy/draft.js';
import { codeWords, unseenWords } from './code-words.js';
import { boundIn, expressionsInSuite, statementsOfSuite } from './scopes.js';

/** Methods that libraries call, whatever the class of the object. */
const CALLED_BY_LIBRARIES =
  /^(_.*__|fit|fit_transform|fit_resample|fit_predict|partial_fit|transform|inverse_transform|predict|predict_proba|predict_log_proba|decision_function|score|split|get_n_splits|get_params|set_params|get_feature_names_out|forward|call|build|items|keys|values|read|write|flush|close)$/;

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
  if (use === undefined || others.length > 0 || !isDefinedOnce || isNamedElsewhere(module, definition))
    return undefined;
  for (const statement of statementsOfSuite(module.body.statements)) {
    if (!/^(assign|expression|return)$/.test(statement.type) || !hasOwnLines(module, statement)) continue;
    if (statement.start < use.start === statement.end < use.start) continue;
    const [whole, ...targets] = [...ownExpressions(statement)].reverse();
    const call = whole === undefined ? undefined : firstCall(whole, use);
    const isWithin = use.start >= definition.start && use.end <= definition.end;
    if (call === undefined || isWithin || !targets.every(isPlainTarget)) return undefined;
    return isReplaceable(module, definition, statement, call) ? { statement, call } : undefined;
  }
  return undefined;
}

/** Whether the name of a function is in code besides its definition and its call: a parameter, an import, a type, a `raise`. */
function isNamedElsewhere(module: Module, { name, suite, start }: FunctionDefinition): boolean {
  const words = codeWords(module.source);
  const plain = words.get(name) ?? 0;
  const ofObjects = suite.owner?.type === 'class' ? (words.get(`.${name}`) ?? 0) : 1;
  const mayBeImported = [...statementsOfSuite(module.body.statements)].some(
    (one) => one.type === 'import' && one.star !== undefined && one.start > start,
  );
  const isUnseen = unseenWords(module, module.body.statements).has(name);
  return plain + ofObjects !== (suite.owner?.type === 'class' ? 2 : 3) || mayBeImported || isUnseen;
}

/** Where a script names a function: `__all__ = ["prepare"]` does too. */
function functionUses(module: Module, name: string): Expr[] {
  return expressionsInSuite(module.body.statements).filter(
    (part) => (part.type === 'name' && part.id === name) || (part.type === 'constant' && part.value === name),
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
function isReplaceable(
  module: Module,
  { name, suite: { owner }, end }: FunctionDefinition,
  statement: Stmt,
  { callee }: Call,
): boolean {
  const around = functionAround(statement);
  if (owner?.type !== 'class')
    return !isInClassBody(statement) && (around !== undefined || statement.start > end);
  if (!isPlainClass(module, owner) || CALLED_BY_LIBRARIES.test(name)) return false;
  if (around?.type !== 'function' || around.suite.owner !== owner || around.decorators.length > 0)
    return false;
  const isOfSelf =
    callee.type === 'attribute' && callee.object.type === 'name' && callee.object.id === 'self';
  return isOfSelf && around.params[0]?.name === 'self' && !boundIn(around.body.statements).has('self');
}

/** A class whose methods nothing else knows: it has no other class above it. */
function isPlainClass({ source }: Module, { start, body, decorators }: ClassDefinition): boolean {
  const head = source.slice(start, body.statements[0]?.start ?? start);
  return decorators.length === 0 && /^class\s+\w+\s*(?:\(\s*(?:object\s*)?\)\s*)?:/.test(head);
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
