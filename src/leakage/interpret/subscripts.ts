import type { Expr, Slice, Subscript } from '../syntax/ast.js';
import { joinFacts, NO_FACTS, union, withFits } from '../values/facts.js';
import { emptyTable, joinValues, list, newSequence, newTable } from '../values/join.js';
import { sameRows } from '../values/region.js';
import {
  factsOf,
  opaque,
  type Positions,
  type Step,
  type Table,
  type TableState,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { countWork } from '../values/work.js';
import { isFullSlice, withoutColumns } from './assign.js';
import { afterSteps } from './bounds.js';
import { withChoices } from './choices.js';
import { sliceRows, sliceSteps } from './cuts.js';
import type { Interpreter } from './interpreter.js';
import { rangeSteps } from './row-events.js';
import { pickPositions } from './row-labels.js';
import { columnOf, columnsOf, namesOf, noteMissing, pickRows } from './rows-and-columns.js';
import { takeOneFold } from './splitters.js';
import { textStep } from './steps.js';

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
      const any = anyOf(rest === undefined ? items : [rest, ...items]);
      // A list with one item for each row, and the positions of some rows.
      if (items.length === 0 && any.type === 'table' && index.type === 'opaque' && index.oneOf !== undefined)
        return newTable(pickPositions(interp, any.cell.value, index.oneOf, expression));
      return pickedBy(index, any);
    }
    case 'mapping': {
      const key = first === undefined ? UNKNOWN : interp.evaluate(first);
      const { entries, rest } = object.cell.value;
      if (key.type === 'constant') return entries.get(String(key.value)) ?? rest ?? UNKNOWN;
      return pickedBy(key, anyOf(rest === undefined ? [...entries.values()] : [...entries.values(), rest]));
    }
    case 'positions': {
      if (first?.type === 'slice') return afterSteps(object, slicedPositions(interp, object, first));
      const index = first === undefined ? UNKNOWN : interp.evaluate(first);
      if (index.type === 'positions') return afterSteps(object, index.steps);
      if (index.type === 'table' && index.cell.value.mask !== undefined) {
        return afterSteps(object, index.cell.value.mask);
      }
      return UNKNOWN;
    }
    case 'method':
      if (object.receiver.type === 'table' && /^(loc|iloc|ix|at|iat)$/.test(object.name)) {
        return tableIndex(interp, object.receiver, expression, object.name);
      }
      return opaque(factsOf(object));
    case 'table':
      return tableIndex(interp, object, expression, '');
    case 'view': {
      const index = first === undefined || first.type === 'slice' ? undefined : interp.evaluate(first);
      const name = namesOf(index);
      const state = object.table.cell.value;
      noteMissing(interp, state, name ?? []);
      const picked =
        name === undefined
          ? withoutColumns(state, leftOutOf(index))
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

/** A slice of positions; of the distinct values of a column it divides the rows by their value. */
function slicedPositions(interp: Interpreter, { values }: Positions, slice: Slice): readonly Step[] {
  const steps = sliceSteps(interp, slice);
  if (values === undefined) return steps;
  return steps.map((step) => {
    const { key, at } = step.partition;
    const partition = interp.partition(`${key}:of ${values}`, 'selection', slice, undefined, at);
    partition.keepsGroups = true;
    partition.dividesBy = values;
    return { ...step, partition };
  });
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
  const choices = factsOf(key).fits.filter(
    ({ kind }) => kind === 'selection' || kind === 'feature-selection',
  );
  if (value.type !== 'estimator' || choices.length === 0) return withChoices(value, choices);
  return pickedOnce(value.cell, [value.cell.value, ...choices], () => withChoices(value, choices));
}

/** One of several values, and nobody knows which. */
function anyOf(values: readonly Value[]): Value {
  countWork(values.length);
  const [first = UNKNOWN, ...others] = values;
  const join = (): Value => values.reduce((a, b) => joinItems(a, b), first);
  if (!isRecord(first) || others.length === 0 || !others.every((value) => isAlike(first, value)))
    return join();
  const states = values.flatMap((value) => (isRecord(value) ? [value.cell.value] : []));
  return pickedOnce(first.cell, states, join);
}

/** What is more than facts: a model, or a result with parts of its own, as in `results[name] = (score, model)`. */
function isRecord(value: Value): value is Value & { type: 'estimator' | 'sequence' | 'mapping' } {
  if (value.type === 'sequence') return value.cell.value.tuple && value.cell.value.rest === undefined;
  if (value.type === 'mapping') return value.cell.value.rest === undefined;
  return value.type === 'estimator';
}

/** Whether two of them have the same parts. */
function isAlike(a: Value, b: Value): boolean {
  if (!isRecord(a) || !isRecord(b)) return false;
  if (a.type === 'sequence' && b.type === 'sequence') {
    return a.cell.value.items.length === b.cell.value.items.length;
  }
  if (a.type === 'mapping' && b.type === 'mapping') {
    const [one, other] = [a.cell.value.entries, b.cell.value.entries];
    countWork(one.size);
    return one.size === other.size && [...one.keys()].every((key) => other.has(key));
  }
  return a.type === b.type;
}

/**
 * `models[best].fit(X, y)` and then `models[best].predict(Z)`: a value that is picked once more is the same one, as long as
 * those that it is picked from are what they were.
 */
function pickedOnce(from: object, states: readonly object[], pick: () => Value): Value {
  const known = valuesPicked.get(from) ?? [];
  countWork(known.length + states.length);
  const before = known.find((other) => isSameList(other.states, states));
  if (before !== undefined) return before.value;
  const value = pick();
  valuesPicked.set(from, [...known.slice(-MAX_PICKED), { states, value }]);
  return value;
}

function isSameList(a: readonly object[], b: readonly object[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}

/** Models, tuples and dictionaries that were picked last, by what they were picked from. */
const valuesPicked = new WeakMap<object, readonly { states: readonly object[]; value: Value }[]>();
const MAX_PICKED = 3;

function joinItems(a: Value, b: Value): Value {
  if (a === b) return a;
  return isAlike(a, b) ? joinValues(a, b) : opaque(joinFacts(factsOf(a), factsOf(b)));
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
  const state = items.length === 0 && slice.step === undefined ? rowListed(interp, rest) : undefined;
  if (state !== undefined) {
    const steps = sliceSteps(interp, slice, false, state.rows);
    return newSequence({ items: [], tuple, rest: newTable(pickRows(interp, state, steps)) });
  }
  return newSequence({ items: known ? [] : items, tuple, ...(rest === undefined ? {} : { rest }) });
}

/** What the items of a list of rows, or of batches, have in common; nothing for other lists. */
function rowListed(interp: Interpreter, rest: Value | undefined): TableState | undefined {
  if (rest?.type === 'opaque' && rest.source !== undefined && rest.element === true)
    return { ...emptyTable(interp.dataOf(rest), 'row'), single: true };
  if (rest?.type !== 'table') return undefined;
  const { shape, single, rows } = rest.cell.value;
  return shape === 'row' && single === true && rows.length === 1 ? rest.cell.value : undefined;
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

function tableIndex(interp: Interpreter, table: Table, expression: Subscript, locator: string): Value {
  const state = table.cell.value;
  const [index, second] = expression.indices;
  if (index === undefined) return table;
  const first = rangeSlice(index) ?? index;
  // `power[..., band]` picks along the last axis, in each row.
  if (second !== undefined && interp.text(first) === '...') {
    for (const index of expression.indices) interp.evaluate(index);
    return newTable({ ...state, closed: false, partial: true });
  }
  if (locator === '' && state.shape === 'frame') {
    if (first.type === 'slice') return newTable(sliceRows(interp, state, first));
    return frameIndex(interp, state, first);
  }
  const rows =
    first.type === 'slice'
      ? sliceRows(interp, state, first, locator === 'loc' || locator === 'ix')
      : rowIndex(interp, state, first);
  if (second === undefined) return newTable(rows);
  if (second.type === 'slice') {
    interp.evaluate(second);
    return isFullSlice(second) ? newTable(rows) : newTable({ ...rows, closed: false, partial: true });
  }
  return selectColumns(interp, rows, interp.evaluate(second), second.type === 'sequence');
}

/** `rows[range(i - n, i)]`, which is `rows[i - n:i]`. */
function rangeSlice(index: Expr): Slice | undefined {
  if (index.type !== 'call' || index.callee.type !== 'name' || index.callee.id !== 'range') return undefined;
  const [lower, upper, ...others] = index.args.map(({ value }) => value);
  if (lower === undefined || upper === undefined || others.length > 0) return undefined;
  return { type: 'slice', lower, upper, start: index.start, end: index.end };
}

/** `frame[index]`: columns by name, or rows by a mask. */
function frameIndex(interp: Interpreter, state: TableState, index: Expr): Value {
  const value = interp.evaluate(index);
  if (value.type === 'table') {
    const { mask, rows } = value.cell.value;
    if (mask !== undefined) return newTable(pickedByMask(interp, state, value.cell.value, mask));
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
  const columns = listsFormattedNames(index) ? withoutFutureColumns(state.columns) : state.columns;
  const remaining = withoutColumns({ ...state, columns }, leftOutOf(index));
  return newTable({ ...remaining, closed: false, partial: true, fits: union(state.fits, fits) });
}

/** Columns that a list of names is known to leave out. */
function leftOutOf(index: Value | undefined): readonly string[] {
  return index?.type === 'sequence' ? (index.cell.value.allBut ?? []) : [];
}

/** `[f"lag_{k}" for k in range(n)]`: names that the script puts together, and not all columns but some. */
function listsFormattedNames(index: Value): boolean {
  if (index.type !== 'sequence') return false;
  const { items, rest } = index.cell.value;
  const unknown = [...items.filter(({ type }) => type !== 'constant'), ...(rest === undefined ? [] : [rest])];
  const isFormatted = (name: Value) =>
    (name.type === 'opaque' && name.formatted) || (name.type === 'table' && name.cell.value.formatted);
  return unknown.length > 0 && unknown.every(isFormatted);
}

/** A column of later rows beside features with such names is the label, unless its name is one of them. */
function withoutFutureColumns(columns: TableState['columns']): TableState['columns'] {
  countWork(columns.size);
  const takesLaterRows = ({ fits }: { readonly fits: TableState['fits'] }) =>
    fits.some(({ kind }) => kind === 'future-values');
  return new Map([...columns].filter(([, column]) => !takesLaterRows(column)));
}

/**
 * Rows that a mask picks. If a detector of outliers, or a model that has learned from these very rows, decides which of them stay,
 * hard rows may be missing where they are scored.
 */
function pickedByMask(
  interp: Interpreter,
  state: TableState,
  by: TableState,
  mask: readonly Step[],
): TableState {
  const picked = pickRows(interp, state, mask);
  const { rows, fits, predictions } = by;
  if (state.predictions.length > 0) return picked;
  const detected = fits.filter((event) => interp.detectors.has(event));
  const checked = predictions.flatMap(({ training, node }) =>
    training?.supervised === true && training.certain && sameRows(training.rows, rows)
      ? [
          interp.fit(
            'statistics',
            `which rows \`${interp.label(node)}\` lets stay`,
            training,
            training.rowsText,
            training.node,
            training.statement,
          ),
        ]
      : [],
  );
  const all = [...detected, ...checked];
  return all.length === 0 ? picked : { ...picked, fits: union(picked.fits, all) };
}

/** Rows by position, mask or label. */
function rowIndex(interp: Interpreter, state: TableState, index: Expr): TableState {
  const value = interp.evaluate(index);
  switch (value.type) {
    case 'positions':
      return pickPositions(interp, state, value, index);
    case 'table': {
      const { mask, fits } = value.cell.value;
      if (mask !== undefined) return pickedByMask(interp, state, value.cell.value, mask);
      // Rows that are looked up, as those of neighbors: what found them goes with them.
      const found = fits.filter(({ kind }) => kind === 'group-statistics');
      if (found.length > 0) return { ...state, fits: union(state.fits, found) };
      return pickRows(interp, state, [textStep(interp, index)]);
    }
    case 'constant':
      if (typeof value.value === 'string' && state.shape === 'frame') {
        const part = state.rows[state.keys?.indexOf(value.value) ?? -1];
        return part === undefined ? columnOf(state, value.value) : { ...state, rows: [part] };
      }
      return state;
    case 'sequence': {
      if (namesOf(value) !== undefined && state.shape === 'frame') return state;
      return pickRows(interp, state, [textStep(interp, index)]);
    }
    default: {
      // `for part in held.split(256)`: some of these positions in each round.
      if (value.type === 'opaque' && value.oneOf !== undefined && value.oneOf.steps.length > 0)
        return pickPositions(interp, state, value.oneOf, index);
      // `for part in torch.randperm(n).split(256)`: all rows in the end.
      if (value.type === 'opaque' && value.oneOf?.isShuffled === true) return state;
      // `series[i + n]` in a loop over a range: the rows that the range goes through.
      const within = rangeSteps(interp, index);
      if (within.length > 0) return pickRows(interp, state, within);
      const facts = interp.dataOf(value);
      // One row, or rows nobody knows.
      if (facts === NO_FACTS && index.type === 'name' && index.id.length === 1) return state;
      const picked = pickRows(interp, state, [textStep(interp, index)]);
      // The row of the best score was chosen as that was.
      const chosen = facts.fits.filter(({ kind }) => kind === 'selection');
      return chosen.length === 0 ? picked : { ...picked, fits: union(picked.fits, chosen) };
    }
  }
}
