import type { Expr } from '../syntax/ast.js';
import type { Step } from '../values/value.js';
import type { Interpreter } from './interpreter.js';

/** The rows that a step leaves out. */
export function otherSide(step: Step): Step {
  const { role: _role, ...rest } = step;
  return { ...rest, side: step.side.startsWith('!') ? step.side.slice(1) : `!${step.side}` };
}

/** A selection known by nothing but its text. */
export function textStep(interp: Interpreter, node: Expr): Step {
  if (node.type === 'unary' && /^(~|not)$/.test(node.operator))
    return otherSide(textStep(interp, node.operand));
  const text = interp.text(node).replaceAll(/\s+/g, '');
  const partition = interp.partition(`text:${text}`, 'selection', node);
  return { partition, side: 'yes' };
}
