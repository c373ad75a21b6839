import type { Expr, Module, Name } from '../syntax/ast.js';
import { lastAssigned } from './rows-first/table-kind.js';

/**
 * Tables by whose number of rows something is divided: `counts / len(frame)`, `counts / frame.shape[0]`. Of counts that are learned on
 * the training part, that is the number of its rows, for all rows that they are looked up for.
 */
export function* dividedByRows(expressions: Iterable<Expr>): Generator<Name> {
  for (const part of expressions) {
    if (part.type !== 'binary' || part.operator !== '/') continue;
    const table = tableOfNumber(part.right);
    if (table?.type === 'name') yield table;
  }
}

/** A variable with a number of rows by which something is divided: `n = len(frame)` before `counts / n`. */
export function dividedByNumberOfRows(module: Module, expressions: Iterable<Expr>): Name | undefined {
  for (const part of expressions) {
    if (part.type !== 'binary' || part.operator !== '/' || part.right.type !== 'name') continue;
    if (tableOfNumber(numberBehind(module, part.right, part)) !== undefined) return part.right;
  }
  return undefined;
}

/** What a variable was assigned last; anything else is what it is. */
export function numberBehind(module: Module, value: Expr, { start }: Expr): Expr {
  return value.type === 'name' ? (lastAssigned(module, value.id, 0, start) ?? value) : value;
}

/** The table in `len(frame)`, `float(len(frame))` or `frame.shape[0]`. */
export function tableOfNumber(number: Expr): Expr | undefined {
  if (number.type === 'call' && number.callee.type === 'name' && number.args.length === 1) {
    const [argument] = number.args;
    if (number.callee.id === 'len') return indexed(argument?.value);
    return number.callee.id === 'float' && argument !== undefined ? tableOfNumber(argument.value) : undefined;
  }
  if (number.type !== 'subscript' || number.object.type !== 'attribute' || number.object.name !== 'shape')
    return undefined;
  const [index] = number.indices;
  return index?.type === 'constant' && index.value === 0 ? number.object.object : undefined;
}

/** The table of `frame.index`. */
function indexed(value: Expr | undefined): Expr | undefined {
  return value?.type === 'attribute' && value.name === 'index' ? value.object : value;
}
