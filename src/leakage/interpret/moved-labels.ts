import type { Call, Expr } from '../syntax/ast.js';
import { union } from '../values/facts.js';
import { newTable } from '../values/join.js';
import type { TableState, Value } from '../values/value.js';
import type { Interpreter } from './interpreter.js';

/** A difference of times that is written with a sign looks ahead, or nobody knows where. */
const SIGNED = /[-+]/;

/**
 * `(frame.index - pd.Timedelta("7 days")).map(frame["load"].to_dict())`: the value that a column has in an earlier row, which is
 * found by the time of the row. Like `shift`, it puts labels of other rows into the features.
 */
export function valuesOfEarlierTimes(interp: Interpreter, looked: Value, call: Call): Value | undefined {
  const column = columnOfValues(looked);
  const times = call.callee.type === 'attribute' ? call.callee.object : undefined;
  if (column === undefined || times === undefined || !isEarlier(interp, times)) return undefined;
  const subject = `\`${interp.label(call)}\``;
  const [name = ''] = column.from;
  const event = interp.fit('shuffled-time', subject, column, subject, call, undefined, [name]);
  const { mask: _mask, ...values } = column;
  return newTable({ ...values, from: [], fits: union(column.fits, [event]) });
}

/** The column whose values are looked up by the labels of its rows: a series, or what `to_dict` makes of one. */
function columnOfValues(looked: Value): TableState | undefined {
  const state =
    looked.type === 'table'
      ? looked.cell.value
      : looked.type === 'mapping'
        ? looked.cell.value.valuesOf
        : undefined;
  return state?.shape === 'column' && state.from.length > 0 && state.rows.length > 0 ? state : undefined;
}

/** The labels of rows, moved back by one difference of times. */
function isEarlier(interp: Interpreter, times: Expr): boolean {
  if (times.type !== 'binary' || times.operator !== '-') return false;
  return interp.evaluate(times.left).type === 'positions' && !SIGNED.test(interp.text(times.right));
}
