import type { Expr, Name } from '../syntax/ast.js';

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

/** The table in `len(frame)`, `float(len(frame))` or `frame.shape[0]`. */
function tableOfNumber(number: Expr): Expr | undefined {
  if (number.type === 'call' && number.callee.type === 'name' && number.args.length === 1) {
    const [argument] = number.args;
    if (number.callee.id === 'len') return argument?.value;
    return number.callee.id === 'float' && argument !== undefined ? tableOfNumber(argument.value) : undefined;
  }
  if (number.type !== 'subscript' || number.object.type !== 'attribute' || number.object.name !== 'shape')
    return undefined;
  const [index] = number.indices;
  return index?.type === 'constant' && index.value === 0 ? number.object.object : undefined;
}
