import type { Expr, Slice, Subscript } from '../syntax/ast.js';
import { comparisonSide } from '../values/comparison.js';
import { joinFacts, NO_FACTS, union, withFits } from '../values/facts.js';
import { emptyTable, joinValues, list, newSequence, newTable } from '../values/join.js';
import type { Region } from '../values/region.js';
import {
  factsOf,
  opaque,
  type Step,
  type Table,
  type TableState,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { countWork } from '../values/work.js';
import { isFullSlice } from './assign.js';
import { afterSteps } from './bounds.js';
import { withChoices } from './choices.js';
import type { Interpreter } from './interpreter.js';
import { textStep } from './operators.js';
import { slidingWindow } from './row-events.js';
import { pickPositions } from './row-labels.js';
import { columnNames, columnOf, columnsOf, namesOf, noteMissing, pickRows } from './rows-and-columns.js';
import { takeOneFold } from './splitters.js';

export function subscriptValue(interp: Interpreter, object: Value, expression: Subscript): Value {
  const [first] = expression.indices;
  switch (object.type) {
    case 'library':
      return libraryIndex(interp, object.path, expression);
    case 'sequence': {
      const index = first === undefined || first.type === 'slice' ? UNKNOWN : interp.evaluate(first);
      const { items, rest, tuple } = object.cell.value;
      if (index.type === 'constant' && typeof index.value === 'number') {
        const item = items.at(index.value) ?? rest ?? UNKNOWN;
        takeOneFold(item);
        return item;
      }
      if (first?.type === 'slice') return sequenceSlice(interp, items, rest, tuple, first);
      countWork(items.length);
      return pickedBy(
        index,
        items.reduce((a, b) => joinItems(a, b), rest ?? items[0] ?? UNKNOWN),
      );
    }
    case 'mapping': {
      const key = first === undefined ? UNKNOWN : interp.evaluate(first);
      const { entries, rest } = object.cell.value;
      if (key.type === 'constant') return entries.get(String(key.value)) ?? rest ?? UNKNOWN;
      countWork(entries.size);
      const values = rest === undefined ? [...entries.values()] : [...entries.values(), rest];
      const any = values.reduce((a, b) => joinItems(a, b), values[0] ?? UNKNOWN);
      return pickedBy(key, any);
    }
    case 'positions': {
      if (first?.type === 'slice') return afterSteps(object, sliceSteps(interp, first));
      const index = first === undefined ? UNKNOWN : interp.evaluate(first);
      if (index.type === 'positions') return afterSteps(object, index.steps);
      if (index.type === 'table' && index.cell.value.mask !== undefined) {
        return afterSteps(object, index.cell.value.mask);
      }
      return UNKNOWN;
    }
    case 'method':
      if (object.receiver.type === 'table' && /^(loc|iloc|at|iat)$/.test(object.name)) {
        return tableIndex(interp, object.receiver, expression, object.name);
      }
      return opaque(factsOf(object));
    case 'table':
      return tableIndex(interp, object, expression, '');
    case 'view': {
      const name = first === undefined ? undefined : columnNames(interp, first);
      const state = object.table.cell.value;
      const picked =
        name === undefined
          ? state
          : name.length === 1 && first?.type !== 'sequence'
            ? columnOf(state, name[0] ?? '')
            : columnsOf(state, name);
      return { ...object, table: newTable(picked) };
    }
    case 'opaque': {
      if (object.source !== undefined && picksRows(interp, expression)) {
        const shape = object.element === true ? 'row' : 'array';
        return tableIndex(interp, newTable(emptyTable(interp.dataOf(object), shape)), expression, '');
      }
      const indices = expression.indices.map((index) => interp.evaluate(index));
      const fits = indices.flatMap((index) => [...factsOf(index).fits]);
      const facts = withFits(object.facts, fits);
      if (object.source !== undefined) return facts === object.facts ? object : { ...object, facts };
      // `vectors[word]`: looked up for each row of the index.
      const [looked] = indices.map((index) => interp.dataOf(index)).filter(({ rows }) => rows.length > 0);
      return looked === undefined || facts.rows.length > 0
        ? opaque(facts)
        : newTable(emptyTable({ ...looked, fits: union(facts.fits, looked.fits) }));
    }
    default:
      for (const index of expression.indices) interp.evaluate(index);
      return opaque(factsOf(object));
  }
}

/** Whether an index picks rows or columns of an array: anything but one name or one number. */
function picksRows(interp: Interpreter, { indices }: Subscript): boolean {
  const [first] = indices;
  if (first === undefined) return false;
  if (indices.length > 1 || first.type === 'slice') return true;
  const value = interp.evaluate(first);
  return value.type === 'positions' || value.type === 'table';
}

/** `scores[best]`: what is looked up was chosen as its key was. */
function pickedBy(key: Value, value: Value): Value {
  return withChoices(
    value,
    factsOf(key).fits.filter(({ kind }) => kind === 'selection'),
  );
}

function joinItems(a: Value, b: Value): Value {
  if (a.type === 'estimator' && b.type === 'estimator') return joinValues(a, b);
  return a === b ? a : opaque(joinFacts(factsOf(a), factsOf(b)));
}

function sequenceSlice(
  interp: Interpreter,
  items: readonly Value[],
  rest: Value | undefined,
  tuple: boolean,
  slice: Slice,
): Value {
  const bound = (index: Expr | undefined): number | undefined => {
    const value = index === undefined ? undefined : interp.evaluate(index);
    return value?.type === 'constant' && typeof value.value === 'number' ? value.value : undefined;
  };
  const [low, high] = [bound(slice.lower), bound(slice.upper)];
  const known =
    (slice.lower === undefined || low !== undefined) && (slice.upper === undefined || high !== undefined);
  if (known && rest === undefined && slice.step === undefined) return list(items.slice(low, high), tuple);
  return newSequence({ items: known ? [] : items, tuple, ...(rest === undefined ? {} : { rest }) });
}

/** `np.r_[a, b]` puts rows under rows, `np.c_[a, b]` columns beside columns. */
function libraryIndex(interp: Interpreter, path: string, expression: Subscript): Value {
  const facts = expression.indices.map((index) => interp.dataOf(interp.evaluate(index)));
  if (path.endsWith('.r_')) return concatenated(facts);
  return facts.length === 0 ? UNKNOWN : newTable(emptyTable(facts.reduce(joinFacts)));
}

/** Rows of several tables one under the other: every origin is known, in this order. */
export function concatenated(
  parts: readonly ReturnType<Interpreter['dataOf']>[],
  shape: TableState['shape'] = 'array',
): Value {
  let facts = NO_FACTS;
  let certain = true;
  for (const part of parts) {
    facts = joinFacts(facts, part);
    certain &&= part.certain;
  }
  return newTable({ ...emptyTable(facts, shape), certain });
}

/** Steps of a slice over rows: before a cut, after a cut, or between two. */
export function sliceSteps(interp: Interpreter, slice: Slice, inclusive = false): Step[] {
  if (slice.step !== undefined) return slice.lower === undefined ? [] : [textStep(interp, slice)];
  const steps: Step[] = [];
  const cut = (bound: Expr, side: string): void => {
    const value = interp.evaluate(bound);
    if (value.type === 'constant' && (value.value === 0 || value.value === null)) return;
    const text =
      value.type === 'constant' ? String(value.value) : interp.text(bound).replaceAll(/[\s()]+/g, '');
    // `loc[:n - 1]` ends with row n - 1, and `loc[n:]` begins with the next.
    const key = inclusive && side === 'before' ? text.replace(/-1$/, '') : text;
    steps.push({ partition: interp.partition(`cut:${key}`, 'selection', slice), side });
  };
  if (slice.lower !== undefined) cut(slice.lower, 'after');
  if (slice.upper !== undefined) cut(slice.upper, 'before');
  return steps;
}

/** `frame.loc[:'2023-06']`: a comparison of the index, where the bounds are labels. */
function labelSteps(interp: Interpreter, slice: Slice): Step[] | undefined {
  const steps: Step[] = [];
  for (const [bound, operator] of [
    [slice.lower, '>='],
    [slice.upper, '<='],
  ] as const) {
    if (bound === undefined) continue;
    const value = interp.evaluate(bound);
    if (value.type !== 'constant' || typeof value.value !== 'string') return undefined;
    const side = comparisonSide(operator, value.value);
    if (side === undefined) return undefined;
    steps.push({ partition: interp.partition('compare:index', 'selection', slice), side });
  }
  return steps.length === 0 ? undefined : steps;
}

/** Rows of a concatenation up to, or from, the number of rows of its first parts. */
function sliceOfParts(interp: Interpreter, state: TableState, slice: Slice): readonly Region[] | undefined {
  const count = (bound: Expr | undefined): number | undefined => {
    if (bound === undefined) return undefined;
    const value = interp.evaluate(bound);
    const regions = value.type === 'opaque' ? value.countOf : undefined;
    if (regions === undefined || regions.length >= state.rows.length) return undefined;
    return regions.every((region, at) => state.rows[at] === region) ? regions.length : undefined;
  };
  const [low, high] = [count(slice.lower), count(slice.upper)];
  if (low === undefined && high === undefined) return undefined;
  if ((slice.lower !== undefined && low === undefined) || (slice.upper !== undefined && high === undefined)) {
    return undefined;
  }
  return state.rows.slice(low ?? 0, high ?? state.rows.length);
}

/** `[::-1]` */
function isReversal(interp: Interpreter, { step }: Slice): boolean {
  return step !== undefined && interp.text(step) === '-1';
}

function sliceRows(interp: Interpreter, state: TableState, slice: Slice, inclusive = false): TableState {
  const labels = labelSteps(interp, slice);
  if (labels !== undefined) return pickRows(interp, state, labels);
  const parts = state.rows.length > 1 ? sliceOfParts(interp, state, slice) : undefined;
  if (parts !== undefined) return { ...state, rows: parts };
  const steps = sliceSteps(interp, slice, inclusive);
  if (steps.length === 0)
    return isReversal(interp, slice) ? { ...state, reversed: state.reversed !== true } : state;
  const windows = slidingWindow(interp, state, slice);
  // A cut somewhere through rows of several origins: nobody knows on which side each of them is.
  return { ...pickRows(interp, windows, steps), certain: state.certain && state.rows.length <= 1 };
}

function tableIndex(interp: Interpreter, table: Table, expression: Subscript, locator: string): Value {
  const state = table.cell.value;
  const [first, second] = expression.indices;
  if (first === undefined) return table;
  if (locator === '' && state.shape === 'frame') {
    if (first.type === 'slice') return newTable(sliceRows(interp, state, first));
    return frameIndex(interp, state, first);
  }
  const rows =
    first.type === 'slice'
      ? sliceRows(interp, state, first, locator === 'loc')
      : rowIndex(interp, state, first);
  if (second === undefined) return newTable(rows);
  if (second.type === 'slice') {
    interp.evaluate(second);
    return isFullSlice(second) ? newTable(rows) : newTable({ ...rows, closed: false, partial: true });
  }
  return selectColumns(interp, rows, interp.evaluate(second), second.type === 'sequence');
}

/** `frame[index]`: columns by name, or rows by a mask. */
function frameIndex(interp: Interpreter, state: TableState, index: Expr): Value {
  const value = interp.evaluate(index);
  if (value.type === 'table') {
    const { mask, rows } = value.cell.value;
    if (mask !== undefined) return newTable(pickRows(interp, state, mask));
    if (rows.length > 0 && value.cell.value.shape !== 'frame') {
      return newTable(pickRows(interp, state, [textStep(interp, index)]));
    }
  }
  if (value.type === 'positions') return newTable(pickPositions(interp, state, value, index));
  return selectColumns(interp, state, value, index.type === 'sequence');
}

function selectColumns(interp: Interpreter, state: TableState, index: Value, many: boolean): Value {
  const names = namesOf(index);
  if (names !== undefined) {
    noteMissing(interp, state, names);
    const [only = ''] = names;
    if (names.length === 1 && !many && index.type === 'constant') return newTable(columnOf(state, only));
    return newTable({ ...columnsOf(state, names), selectedBy: interp.statement });
  }
  if (index.type === 'constant' && typeof index.value === 'number')
    return newTable({ ...state, shape: 'column', from: [] });
  // Which columns these are is not known; a choice made by statistics goes with them.
  const { fits } = interp.dataOf(index);
  return newTable({ ...state, closed: false, partial: true, fits: union(state.fits, fits) });
}

/** Rows by position, mask or label. */
function rowIndex(interp: Interpreter, state: TableState, index: Expr): TableState {
  const value = interp.evaluate(index);
  switch (value.type) {
    case 'positions':
      return pickPositions(interp, state, value, index);
    case 'table': {
      const { mask } = value.cell.value;
      return pickRows(interp, state, mask ?? [textStep(interp, index)]);
    }
    case 'constant':
      if (typeof value.value === 'string' && state.shape === 'frame') return columnOf(state, value.value);
      return state;
    case 'sequence': {
      if (namesOf(value) !== undefined && state.shape === 'frame') return state;
      return pickRows(interp, state, [textStep(interp, index)]);
    }
    default: {
      const facts = interp.dataOf(value);
      // One row, or rows nobody knows.
      return facts === NO_FACTS && index.type === 'name' && index.id.length === 1
        ? state
        : pickRows(interp, state, [textStep(interp, index)]);
    }
  }
}
