import type { LeakKind } from '../kinds.js';
import type { Call, Expr, Slice } from '../syntax/ast.js';
import { namesInExpression } from '../syntax/walk.js';
import { union } from '../values/facts.js';
import { newTable } from '../values/join.js';
import type { TableState, Value } from '../values/value.js';
import type { Interpreter } from './interpreter.js';

/** Columns of an event that holds whatever the labels are called. */
export const ANY_LABEL = '*';

/** The variable of `for i in range(…)` that goes on by one; nothing for any other loop. */
export function slidingVariable(target: Expr, iterable: Expr): string | undefined {
  const isRange =
    iterable.type === 'call' && iterable.callee.type === 'name' && iterable.callee.id === 'range';
  // With a step of its own a range cuts a table into batches, which do not overlap.
  return isRange && iterable.args.length < 3 && target.type === 'name' ? target.id : undefined;
}

/**
 * `series[i - n:i]` for every `i`: windows that overlap. Dealt out at random, a scored window shares most of
 * its values with windows that are trained on.
 */
export function slidingWindow(interp: Interpreter, state: TableState, slice: Slice): TableState {
  const { lower, upper } = slice;
  if (lower === undefined || upper === undefined || state.rows.length === 0) return state;
  const moves = (bound: Expr): boolean =>
    [...namesInExpression(bound)].some((name) => interp.context.isCounter(name.id)) &&
    !/[*/%]/.test(interp.text(bound));
  if (!moves(lower) || !moves(upper)) return state;
  const subject = `\`${interp.label(slice)}\``;
  const event = interp.fit('shuffled-time', `the window ${subject}`, state, subject, slice, undefined, [
    ANY_LABEL,
  ]);
  return { ...state, fits: union(state.fits, [event]) };
}

/** The same rows, made with something that was computed over all of them by this method. */
export function withRowEvent(interp: Interpreter, state: TableState, kind: LeakKind, call: Call): Value {
  if (state.shape === 'row') return newTable(state);
  const rowsText = call.callee.type === 'attribute' ? interp.label(call.callee.object) : '';
  const event = interp.fit(kind, `\`${interp.label(call)}\``, state, rowsText, call);
  return newTable({ ...state, fits: union(state.fits, [event]) });
}
