import type { Expr } from '../syntax/ast.js';
import { union } from '../values/facts.js';
import { newTable } from '../values/join.js';
import { type Column, type Table, type TableState, tableFacts, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import type { TableCall } from './arguments.js';
import type { Interpreter } from './interpreter.js';
import { namesOf } from './rows-and-columns.js';

const NO_COLUMN: Column = { fits: [], predictions: [], from: [] };

/** `frame.columns = names`: columns keep what they were made with, by position, where all of them are known. */
export function renameAll(interp: Interpreter, table: Table, names: Value, written: Expr): void {
  const renamed = withNames(table.cell.value, names, written);
  if (renamed !== undefined) interp.store.write(table.cell, renamed);
}

function withNames(state: TableState, value: Value, written: Expr): TableState | undefined {
  const names = namesOf(value);
  const { fits, predictions } = tableFacts(state);
  if (names === undefined) {
    // `[name.lower() for name in frame.columns]` writes the same names in another way.
    if (value.type !== 'sequence' || written.type === 'comprehension') return undefined;
    return {
      ...state,
      fits,
      predictions,
      columns: new Map(),
      dropped: new Set(),
      closed: false,
      partial: true,
    };
  }
  countWork(8 * names.length);
  const known = [...state.columns.values()];
  const isByPosition = state.closed && !state.partial && known.length === names.length;
  const columns = new Map(
    names.map((name, at) => [name, (isByPosition ? known[at] : undefined) ?? NO_COLUMN]),
  );
  const whole = isByPosition ? {} : { fits, predictions };
  return { ...state, ...whole, columns, dropped: new Set(), closed: true, partial: false };
}

/** `frame.set_axis(names, axis=1)` */
export function withAxis({ state, args, call }: TableCall): Value {
  const [names] = args.positional;
  const axis = args.keywords.get('axis') ?? args.positional[1];
  const isColumns = axis?.type === 'constant' && (axis.value === 1 || axis.value === 'columns');
  const written = args.expressions[0] ?? call;
  const renamed = names === undefined || !isColumns ? undefined : withNames(state, names, written);
  return newTable(renamed ?? state);
}

/** `frame.rename(columns={old: new})` */
export function renamed({ state, args }: TableCall): Value {
  const mapping = args.keywords.get('columns') ?? args.positional[0] ?? args.keywords.get('name');
  if (mapping === undefined) return newTable(state);
  if (mapping.type === 'constant' && typeof mapping.value === 'string' && state.shape === 'column')
    return newTable({ ...state, called: mapping.value });
  const unknown = { ...state, closed: false, partial: true };
  if (mapping.type !== 'mapping' || mapping.cell.value.rest !== undefined) return newTable(unknown);
  const { entries } = mapping.cell.value;
  countWork(8 * (entries.size + state.columns.size) + state.dropped.size);
  const names = new Map<string, string>();
  for (const [old, name] of entries) {
    if (name.type !== 'constant' || typeof name.value !== 'string') return newTable(unknown);
    names.set(old, name.value);
  }
  const columns = new Map<string, Column>();
  for (const [name, column] of state.columns) columns.set(names.get(name) ?? name, column);
  const dropped = new Set(state.dropped);
  for (const [old, name] of names) {
    dropped.delete(name);
    if (state.columns.has(old) || state.closed) continue;
    columns.set(name, { ...NO_COLUMN, from: [old] });
    dropped.add(old);
  }
  return newTable({ ...state, columns, dropped });
}

/** The columns of a frame or of one column, in their order; undefined where they are not all known. */
function columnsIn(state: TableState): [string, Column][] | undefined {
  const { fits, predictions, from, shape, called } = state;
  if (shape === 'column') return [[called ?? from[0] ?? '', { fits, predictions, from }]];
  if (shape !== 'frame' || !state.closed || state.partial) return undefined;
  return [...state.columns].map(([name, column]) => [
    name,
    { ...column, fits: union(column.fits, fits), predictions: union(column.predictions, predictions) },
  ]);
}

/** Columns of frames side by side where all are known: two of one name are both there. */
export function columnsBeside(
  tables: readonly TableState[],
  keys: readonly string[] | undefined,
): ReadonlyMap<string, Column> | undefined {
  const columns = new Map<string, Column>();
  for (const [at, table] of tables.entries()) {
    const own = columnsIn(table);
    if (own === undefined) return undefined;
    countWork(8 * own.length);
    for (const [name, column] of own) {
      const shown = table.shape === 'column' ? (keys?.[at] ?? name) : name;
      columns.set(shown === '' || columns.has(shown) ? `${shown}\u0000${columns.size}` : shown, column);
    }
  }
  return columns;
}
