import { ACCESSORS, ELEMENT_ACCESSORS, MASK_METHODS } from '../library-models/methods.js';
import type { Call, Expr } from '../syntax/ast.js';
import { joinFacts, NO_FACTS, union } from '../values/facts.js';
import { emptyTable, newTable } from '../values/join.js';
import { factsOf, type Opaque, type Table, UNKNOWN, type Value } from '../values/value.js';
import type { Arguments } from './arguments.js';
import { pendingTogether } from './bounds.js';
import type { Interpreter } from './interpreter.js';
import { meetLabels, pendingOf } from './operators.js';
import { tableMethod } from './table-methods.js';

/** Whether an expression is the accessor of a column, as `frame['text'].str`. */
export function isAccessor(expression: Expr): expression is Expr & { type: 'attribute' } {
  return expression.type === 'attribute' && ACCESSORS.has(expression.name);
}

/** Whether `value` has this accessor: a column, a column expression, or something that may be a column. */
export function hasAccessor(value: Value, name: string): boolean {
  if (name === 'name') return value.type === 'opaque' && value.pending !== undefined;
  if (value.type === 'table')
    return value.cell.value.shape !== 'frame' || !value.cell.value.columns.has(name);
  if (value.type !== 'opaque') return false;
  return value.pending !== undefined || (value.source !== undefined && /^(str|dt|cat)$/.test(name));
}

/**
 * A method of an accessor: it looks at one element at a time, whatever its name. `str.count` counts in each
 * text, `list.mean` takes the mean of each list.
 */
export function accessorMethod(
  interp: Interpreter,
  receiver: Value,
  accessor: string,
  name: string,
  args: Arguments,
  call: Call,
): Value {
  if (accessor === 'plot') return UNKNOWN;
  if (receiver.type === 'opaque' && receiver.pending !== undefined)
    return expression(receiver, accessor, args);
  const table = asColumn(interp, receiver);
  if (MASK_METHODS.has(name)) return tableMethod(interp, table, name, args, call);
  const state = table.cell.value;
  const argumentFacts = args.all.map((value) => factsOf(value)).reduce(joinFacts, NO_FACTS);
  const scores = meetLabels(interp, factsOf(table), argumentFacts, call);
  return newTable({
    ...state,
    fits: union(state.fits, argumentFacts.fits),
    predictions: union(state.predictions, argumentFacts.predictions),
    scores: union(state.scores, scores),
  });
}

/** A property of an accessor, as `frame['day'].dt.month`: one value for each row. */
export function accessorProperty(interp: Interpreter, receiver: Value): Value {
  return receiver.type === 'opaque' && receiver.pending !== undefined ? receiver : asColumn(interp, receiver);
}

function expression(receiver: Opaque, accessor: string, args: Arguments): Opaque {
  const facts = args.all.map((value) => factsOf(value)).reduce(joinFacts, receiver.facts);
  // What is evaluated inside each list (`list.eval(pl.element().mean())`) stays inside it.
  const argumentSteps = ELEMENT_ACCESSORS.has(accessor) ? [] : args.all.flatMap((value) => pendingOf(value));
  return { type: 'opaque', facts, pending: pendingTogether(receiver.pending ?? [], argumentSteps) };
}

function asColumn(interp: Interpreter, receiver: Value): Table {
  if (receiver.type !== 'table') return newTable(emptyTable(interp.dataOf(receiver), 'column'));
  const state = receiver.cell.value;
  if (state.shape !== 'frame') return newTable({ ...state });
  return newTable({ ...emptyTable(factsOf(receiver), 'column'), from: state.from });
}
