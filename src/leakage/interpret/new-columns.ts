import type { Call } from '../syntax/ast.js';
import { union } from '../values/facts.js';
import { emptyTable, newTable } from '../values/join.js';
import { factsOf, opaque, partsOf, type TableState, type Value } from '../values/value.js';
import { argumentsOf, type TableCall } from './arguments.js';
import { columnFrom, setColumn, withoutColumns } from './assign.js';
import type { Interpreter } from './interpreter.js';
import { pendingOf } from './operators.js';
import { columnOf, columnsOf, namesOf } from './rows-and-columns.js';

/** New columns by name or by expression. */
export function withColumns({ interp, table, state, name, args, call }: TableCall): Value {
  // Which of the other columns `select` keeps is not known, except for those that a list of names leaves out.
  const remaining = name === 'select' ? withoutColumns(state, leftOutOf(args.positional)) : state;
  const result = newTable(name === 'select' ? { ...remaining, closed: false, partial: true } : state);
  const names = args.positional.length > 0 ? args.positional.map((value) => namesOf(value)) : [];
  if (name === 'select' && names.length > 0 && names.every((part) => part !== undefined)) {
    return newTable(
      columnsOf(
        state,
        names.flatMap((part) => part ?? []),
      ),
    );
  }
  for (const [column, value] of args.keywords) {
    const content =
      value.type === 'function' ? interp.callFunction(value, argumentsOf([table]), call) : value;
    setColumn(interp, result, column, applyPending(interp, state, content, call), false);
  }
  for (const value of args.positional) {
    const content = applyPending(interp, state, value, call);
    if (value.type === 'opaque' && value.named !== undefined) {
      setColumn(interp, result, value.named, content, false);
      continue;
    }
    const column = columnFrom(interp, content);
    const whole = result.cell.value;
    interp.store.write(result.cell, { ...whole, fits: union(whole.fits, column.fits) });
  }
  return result;
}

/** Columns that are not among those of any list of names: `[c for c in frame.columns if c.startswith("lag_")]`. */
function leftOutOf(lists: readonly Value[]): readonly string[] {
  const [first = [], ...others] = lists.map((value) =>
    value.type === 'sequence' ? (value.cell.value.allBut ?? []) : [],
  );
  return first.filter((name) => others.every((names) => names.includes(name)));
}

/** A column expression is computed over the rows of the frame it is applied to. */
function applyPending(interp: Interpreter, state: TableState, value: Value, call: Call): Value {
  const parts = value.type === 'sequence' ? partsOf(value) : [value];
  const pending = parts.flatMap((part) => pendingOf(part));
  const from = value.type === 'opaque' ? (value.takes ?? []) : [];
  if (pending.length === 0 && from.length === 0) return value;
  const events = pending.map((statistic) => {
    const rowsText = call.callee.type === 'attribute' ? interp.label(call.callee.object) : '';
    const event = interp.fit(statistic.kind, statistic.subject, state, rowsText, statistic.node);
    if (statistic.groupedBy !== undefined) event.groupedBy = statistic.groupedBy;
    return event;
  });
  const facts = factsOf(value);
  const all = { ...facts, fits: union(facts.fits, events) };
  if (from.length === 0) return opaque(all);
  const { rows, certain } = state;
  return newTable({ ...emptyTable({ ...all, rows, certain }, 'column'), from: takenFrom(state, from) });
}

/** The columns that an expression takes, and what these were made of. */
function takenFrom(state: TableState, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => columnOf(state, name).from);
}
