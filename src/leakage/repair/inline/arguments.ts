import type { Call, Expr, FunctionDefinition } from '../../syntax/ast.js';
import { expressionsIn } from '../../syntax/walk.js';
import type { Scope } from './scopes.js';

export interface PassedArgument {
  /** The parameter. */
  readonly name: string;
  readonly value: Expr;
}

/** What each parameter of a function gets by a call, in the order of the call; undefined where that is not certain. */
export function argumentsOf(
  { params }: FunctionDefinition,
  { args, callee }: Call,
  scope: Scope,
): PassedArgument[] | undefined {
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
    if (fallback === undefined || !isConstant(fallback, scope)) return undefined;
    passed.push({ name, value: fallback });
  }
  return passed;
}

/** Whether a default is the same where the function is called. */
function isConstant(value: Expr, { owner, bound }: Scope): boolean {
  return [...expressionsIn(value)].every(
    (part) =>
      /^(constant|sequence|unary)$/.test(part.type) ||
      (part.type === 'name' &&
        /^[A-Z][A-Z\d_]*$/.test(part.id) &&
        (owner === undefined || !bound.has(part.id))),
  );
}
