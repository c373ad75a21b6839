import type { Expr } from '../../syntax/ast.js';
import { expressionsIn } from '../../syntax/walk.js';
import { globalNames } from './captures.js';
import { boundIn } from './scopes.js';
import type { Situation } from './situation.js';
import { isInLoop, isSetOnce } from './surroundings.js';

export interface PassedArgument {
  /** The parameter. */
  readonly name: string;
  readonly value: Expr;
}

/** What each parameter of a function gets by a call, in the order of the call; undefined where that is not certain. */
export function argumentsOf(situation: Situation): PassedArgument[] | undefined {
  const { params } = situation.definition;
  const { args, callee } = situation.call;
  const passed: PassedArgument[] = [];
  // `self.prepare(frame)`
  const [self] = params;
  const isMethod = callee.type === 'attribute' && self !== undefined;
  if (isMethod) passed.push({ name: self.name, value: callee.object });
  for (const [at, { name, star, value }] of args.entries()) {
    const param =
      name === undefined ? params[isMethod ? at + 1 : at] : params.find((one) => one.name === name);
    if (star !== '' || param === undefined || passed.some((one) => one.name === param.name)) return undefined;
    passed.push({ name: param.name, value });
  }
  for (const { name, fallback } of params) {
    if (passed.some((one) => one.name === name)) continue;
    if (fallback === undefined || !isConstant(fallback, situation)) return undefined;
    passed.push({ name, value: fallback });
  }
  return passed;
}

/** Whether a default is the same where the function is called: a list is not where it may have changed since the last call. */
function isConstant(value: Expr, situation: Situation): boolean {
  const isOnce = situation.scope.owner === undefined && !isInLoop(situation.statement);
  return [...expressionsIn(value)].every((part) => {
    if (part.type === 'sequence') return isOnce || part.form === 'tuple';
    return /^(constant|unary)$/.test(part.type) || (part.type === 'name' && isSameName(part.id, situation));
  });
}

function isSameName(name: string, { module, definition, scope }: Situation): boolean {
  const { owner } = definition.suite;
  return (
    isSetOnce(module, name, definition) &&
    !(scope.owner !== undefined && scope.bound.has(name)) &&
    !globalNames(module).includes(name) &&
    !(owner?.type === 'class' && boundIn(owner.body.statements).has(name))
  );
}
