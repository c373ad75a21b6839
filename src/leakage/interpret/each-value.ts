import type { Expr, For } from '../syntax/ast.js';
import type { Region } from '../values/region.js';
import type { Interpreter } from './interpreter.js';

/**
 * `for city in frame["city"].unique(): frame.loc[frame["city"] == city, "y"].mean()`: what is computed over the rows of each
 * value, one after the other, is computed over all rows. Nothing for other parts.
 */
export function rowsOfEachValue(interp: Interpreter, rows: readonly Region[]): readonly Region[] | undefined {
  const [only, ...others] = rows;
  const loop = interp.context.innermostLoop;
  if (only?.partition === undefined || only.parent === undefined || others.length > 0) return undefined;
  if (loop?.type !== 'for' || !isEachOf(interp, loop, only.partition.node)) return undefined;
  return [only.parent];
}

/** Whether a condition compares a column with the variable of a loop over its distinct values. */
function isEachOf(interp: Interpreter, { target, iterable }: For, condition: Expr): boolean {
  if (condition.type !== 'compare' || condition.operands.length !== 2 || condition.operators[0] !== '==')
    return false;
  const isUnique =
    iterable.type === 'call' &&
    iterable.callee.type === 'attribute' &&
    iterable.callee.name === 'unique' &&
    target.type === 'name';
  if (!isUnique) return false;
  const column = columnText(interp, iterable.callee.object);
  const names = condition.operands.map((part) => (part.type === 'name' ? part.id : undefined));
  return names.includes(target.id) && condition.operands.some((part) => columnText(interp, part) === column);
}

/** `frame.city` and `frame["city"]` are one column. */
function columnText(interp: Interpreter, expression: Expr): string {
  return interp.text(expression).replaceAll(/\W+/g, ' ').trim();
}
