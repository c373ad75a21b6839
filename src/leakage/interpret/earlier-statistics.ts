import type { Expr, Stmt } from '../syntax/ast.js';
import type { FitEvent } from '../values/facts.js';
import type { Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import type { Interpreter } from './interpreter.js';

/** Differences of times that are written without a sign go forward. */
const DURATION = /^(Timedelta|timedelta|DateOffset|timedelta64|to_timedelta|MonthEnd|Day|Week)$/;

/**
 * `means["month"] += 1; frame.merge(means, on=["month", "item"])`: what was computed by month, moved to the month after it. Where whole
 * months are held out, no row gets a statistic that it is part of.
 */
export function asOfEarlier(
  interp: Interpreter,
  fits: readonly FitEvent[],
  table: Value,
  keys: readonly string[],
): readonly FitEvent[] {
  if (table.type !== 'table') return fits;
  countWork(fits.length * (keys.length + 1));
  const { columns } = table.cell.value;
  const moved = keys.filter((key) => isMovedForward(interp, columns.get(key)?.madeBy, key));
  if (moved.length === 0) return fits;
  return fits.map((fit) => {
    const by = moved.filter((key) => fit.groupedBy?.includes(key) === true);
    return by.length === 0 ? fit : { ...fit, groupedBy: by, isOfEarlier: true };
  });
}

/** Whether a statement adds to a column: `means["month"] += 1`, `means["month"] = means["month"] + 1`. */
function isMovedForward(interp: Interpreter, statement: Stmt | undefined, key: string): boolean {
  if (statement?.type === 'augmented')
    return statement.operator.startsWith('+') && isAhead(interp, statement.value);
  if (statement?.type !== 'assign' || statement.value.type !== 'binary') return false;
  const { operator, left, right } = statement.value;
  return operator === '+' && isColumn(left, key) && isAhead(interp, right);
}

function isColumn(part: Expr, key: string): boolean {
  if (part.type === 'attribute') return part.name === key;
  const index = part.type === 'subscript' ? part.indices.at(-1) : undefined;
  return index?.type === 'constant' && index.value === key;
}

/** A number above 0, or a difference of times. */
function isAhead(interp: Interpreter, amount: Expr): boolean {
  if (amount.type === 'call') {
    const { callee } = amount;
    const name = callee.type === 'name' ? callee.id : callee.type === 'attribute' ? callee.name : '';
    return DURATION.test(name) && !/[-+]/.test(interp.text(amount));
  }
  const value = interp.evaluate(amount);
  return value.type === 'constant' && typeof value.value === 'number' && value.value > 0;
}
