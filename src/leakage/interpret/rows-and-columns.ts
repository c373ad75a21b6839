import type { Expr } from '../syntax/ast.js';
import { union } from '../values/facts.js';
import { emptyTable } from '../values/join.js';
import { partOf, type Region } from '../values/region.js';
import type { Step, TableState, Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import { withoutCopies } from './copies-in-frame.js';
import type { Interpreter } from './interpreter.js';

/** The part of every region that comes after these steps. */
function descend(interp: Interpreter, regions: readonly Region[], steps: readonly Step[]): readonly Region[] {
  // A part is an object with a map of its own.
  countWork(32 * steps.length * regions.length);
  return steps.reduce<readonly Region[]>(
    (current, { partition, side, role }) =>
      current.map((region) => partOf(region, partition, side, role, interp.statement)),
    regions,
  );
}

/** Rows of the whole table that parts of folds belong to. */
export function wholeRows(regions: readonly Region[]): readonly Region[] {
  const whole = regions.map((region) => {
    countWork(region.depth);
    let current = region;
    while (
      current.partition !== undefined &&
      current.partition.form !== 'holdout' &&
      current.parent !== undefined
    ) {
      current = current.parent;
    }
    return current;
  });
  return [...new Set(whole)];
}

/** Rows of a table after some steps, everything else as it was. */
export function pickRows(interp: Interpreter, state: TableState, steps: readonly Step[]): TableState {
  if (steps.length === 0) return state;
  const { mask: _mask, ...rest } = withoutCopies(state, steps);
  return { ...rest, rows: descend(interp, state.rows, steps) };
}

/** Names of columns that an index selects, where all of them are known. */
export function columnNames(interp: Interpreter, index: Expr | undefined): readonly string[] | undefined {
  if (index === undefined || index.type === 'slice') return undefined;
  return namesOf(interp.evaluate(index));
}

export function namesOf(value: Value | undefined): readonly string[] | undefined {
  if (value?.type === 'constant') return typeof value.value === 'string' ? [value.value] : undefined;
  if (value?.type === 'opaque' && value.names !== undefined && value.names.length > 0) return value.names;
  if (value?.type !== 'sequence') return undefined;
  const { items, rest } = value.cell.value;
  if (rest !== undefined || items.length === 0) return undefined;
  countWork(items.length);
  const names = items.map((item) => (item.type === 'constant' ? item.value : undefined));
  return names.every((name): name is string => typeof name === 'string') ? names : undefined;
}

/** Remembers columns that a frame is known not to have. */
export function noteMissing(interp: Interpreter, state: TableState, names: readonly string[]): void {
  if (state.shape !== 'frame') return;
  for (const name of names) {
    if (state.closed ? !state.columns.has(name) : state.dropped.has(name)) interp.missingColumns.add(name);
  }
}

/** One column by name. */
export function columnOf(state: TableState, name: string): TableState {
  const column = state.columns.get(name);
  const predicted = column === undefined ? state.predicted === true : column.predicted === true;
  return {
    ...emptyTable({ ...state, predicted }, 'column'),
    scores: union(state.scores, column?.scores ?? []),
    fits: column === undefined ? state.fits : union(column.fits, state.fits),
    predictions: column === undefined ? state.predictions : union(column.predictions, state.predictions),
    from: column === undefined || column.from.length === 0 ? [name] : union([name], column.from),
    ...(column?.among === undefined ? {} : { among: column.among }),
    ...(column?.running === undefined ? {} : { running: column.running }),
    ...(typeof column?.constant === 'number' ? { blank: true } : {}),
  };
}

/** Several columns by name. */
export function columnsOf(state: TableState, names: readonly string[]): TableState {
  countWork(8 * names.length);
  const columns = new Map(
    names.map((name) => [name, state.columns.get(name) ?? { fits: [], predictions: [], from: [name] }]),
  );
  return { ...state, columns, dropped: new Set(), closed: true, partial: false, from: [], shape: 'frame' };
}
