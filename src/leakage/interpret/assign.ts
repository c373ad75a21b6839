import type { Expr, Subscript } from '../syntax/ast.js';
import { type Facts, type FitEvent, joinFacts, NO_FACTS, union, withFits } from '../values/facts.js';
import { emptyTable, joinValues, newCell, newTable } from '../values/join.js';
import { LayeredMap } from '../values/layered-map.js';
import { originOf } from '../values/region.js';
import {
  type Column,
  factsOf,
  opaque,
  type SequenceOf,
  type Step,
  type Table,
  type TableState,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { countWork } from '../values/work.js';
import { withChoices } from './choices.js';
import type { Interpreter } from './interpreter.js';
import { unpack } from './iterate.js';
import { renameAll } from './renaming.js';
import { leftOut } from './row-labels.js';
import { columnNames, columnOf, wholeRows } from './rows-and-columns.js';
import { otherSide } from './steps.js';

/** Binds a value to a target: a name, a tuple of targets, an attribute, a subscript. */
export function assign(interp: Interpreter, target: Expr, value: Value, from: Expr): void {
  switch (target.type) {
    case 'name':
      bind(interp, target.id, withChoices(value, interp.context.choices));
      return;
    case 'sequence': {
      const nested = target.items.map((item) => item.type === 'sequence');
      const star = target.items.findIndex((item) => item.type === 'starred');
      if (star >= 0) {
        const parts = unpack(interp, value, target.items.length, nested);
        target.items.forEach((item, at) => {
          assign(interp, item.type === 'starred' ? item.value : item, parts[at] ?? UNKNOWN, from);
        });
        return;
      }
      const parts = unpack(interp, value, target.items.length, nested);
      target.items.forEach((item, at) => {
        assign(interp, item, parts[at] ?? UNKNOWN, from);
      });
      return;
    }
    case 'attribute': {
      const object = interp.evaluate(target.object);
      if (object.type === 'instance') {
        const cell = object.attributes.get(target.name);
        const chosen = withChoices(value, interp.context.choices);
        if (cell === undefined) object.attributes.set(target.name, newCell(chosen));
        else interp.store.write(cell, chosen);
      } else if (object.type === 'estimator' && value.type !== 'constant' && target.name.endsWith('_')) {
        interp.skip(target, 'what a model has learned is replaced');
      } else if (object.type === 'class') {
        const cell = object.members.get(target.name);
        if (cell === undefined) object.members.set(target.name, newCell(value));
        else interp.store.write(cell, value);
      } else if (object.type === 'table' && target.name === 'columns') {
        renameAll(interp, object, value, from);
      } else if (object.type === 'table' && target.name !== 'index') {
        setColumn(interp, object, target.name, value, false);
      }
      return;
    }
    case 'subscript':
      assignSubscript(interp, target, value);
      return;
    case 'starred':
      assign(interp, target.value, value, from);
      return;
    default:
      return;
  }
}

function bind(interp: Interpreter, name: string, value: Value): void {
  if (value.type === 'table') {
    const { rows } = value.cell.value;
    const [only] = rows;
    if (only !== undefined && rows.length === 1) only.name ??= name;
  }
  const scope = interp.scope.globals.has(name) ? interp.global : interp.scope;
  const cell = scope.names.get(name) ?? (interp.scope.globals.has(name) ? scope.lookup(name) : undefined);
  if (cell === undefined) scope.names.set(name, newCell(value));
  else interp.store.write(cell, value);
}

export function deleteTarget(interp: Interpreter, target: Expr): void {
  if (target.type === 'name') {
    // A name that is gone can only be met again where the error is handled.
    const cell = interp.scope.names.get(target.id);
    if (cell?.value.type === 'constant') interp.store.write(cell, UNKNOWN);
  }
  if (target.type === 'subscript') {
    const object = interp.evaluate(target.object);
    const names = columnNames(interp, target.indices[0]);
    if (object.type === 'table' && names !== undefined) dropColumns(interp, object, names);
    // The items after it move up; which are left was learned if the position was.
    const learned = { ...NO_FACTS, fits: fitsOf(interp, target.indices) };
    if (object.type === 'sequence') unorder(interp, object, opaque(learned));
  }
}

function fitsOf(interp: Interpreter, indices: readonly Expr[]): readonly FitEvent[] {
  const fits = indices.flatMap((index) => [...factsOf(interp.evaluate(index)).fits]);
  return fits.filter(({ kind }) => kind === 'feature-selection');
}

export function dropColumns(interp: Interpreter, table: Table, names: readonly string[]): void {
  interp.store.write(table.cell, withoutColumns(table.cell.value, names));
}

export function withoutColumns(state: TableState, names: readonly string[]): TableState {
  countWork(8 * (state.columns.size + names.length) + state.dropped.size);
  const columns = new Map(state.columns);
  for (const name of names) columns.delete(name);
  return { ...state, columns, dropped: new Set([...state.dropped, ...names]) };
}

/** The column that a value becomes when it is put into a frame. */
export function columnFrom(interp: Interpreter, value: Value): Column {
  const facts = factsOf(value);
  const from = value.type === 'table' ? value.cell.value.from : [];
  return {
    fits: union(facts.fits, interp.context.choices),
    predictions: facts.predictions,
    from,
    madeBy: interp.statement,
    ...(facts.scores.length > 0 && facts.predictions.length === 0 ? { scores: facts.scores } : {}),
    ...(facts.predicted === true ? { predicted: true } : {}),
    ...(value.type === 'constant' ? { constant: value.value } : {}),
    ...(value.type === 'table' && value.cell.value.among !== undefined
      ? { among: value.cell.value.among }
      : {}),
    ...(value.type === 'table' && value.cell.value.running !== undefined
      ? { running: value.cell.value.running }
      : {}),
  };
}

/** The columns of which later rows are taken. */
function aheadOf(fits: readonly FitEvent[]): readonly string[] {
  countWork(fits.length);
  return fits.flatMap((event) => event.aheadOf ?? []);
}

/** Setting one column, counted in the work of putting one element into a list. */
const COLUMN_WORK = 32;

/** Sets one column; `partly` where only some rows of it are set. */
export function setColumn(
  interp: Interpreter,
  table: Table,
  name: string,
  value: Value,
  partly: boolean,
  decided: readonly FitEvent[] = [],
): void {
  const state = table.cell.value;
  countWork(COLUMN_WORK);
  const made = columnFrom(interp, value);
  // `frame["a"] = frame["a"].fillna(0)` leaves it what it was made of.
  const isChanged = made.from.includes(name);
  if (!partly && !isChanged) interp.columnOrigins.note(name, made.from, interp.statement, aheadOf(made.fits));
  const column = decided.length === 0 ? made : { ...made, fits: union(made.fits, decided) };
  const before = state.columns.get(name);
  const columns = LayeredMap.withEntry(
    state.columns,
    name,
    partly && before !== undefined
      ? {
          fits: union(before.fits, column.fits),
          predictions: union(before.predictions, column.predictions),
          from: union(before.from, column.from),
          predicted: arePredictions(before) && column.predicted === true,
          scores: union(before.scores ?? [], column.scores ?? []),
        }
      : partly
        ? { ...column, from: union(column.from, [name]) }
        : column,
  );
  if (state.dropped.has(name)) countWork(state.dropped.size);
  const dropped = state.dropped.has(name)
    ? new Set([...state.dropped].filter((other) => other !== name))
    : state.dropped;
  // A frame that was made empty has the rows of its first column.
  const { rows, certain } = state.rows.length > 0 || partly ? state : interp.dataOf(value);
  interp.store.write(table.cell, { ...state, rows, certain, columns, dropped });
}

/** Whether nothing but predictions and one number are in a column. */
function arePredictions({ predicted, constant }: Column): boolean {
  return predicted === true || typeof constant === 'number';
}

/** `frame['age'][mask] = v`, `frame.age.iloc[i] = v`: the column of a frame in which some rows are set. */
function chainedColumn(interp: Interpreter, target: Subscript): { owner: Table; name: string } | undefined {
  const { object } = target;
  const isLocator = object.type === 'attribute' && /^(loc|iloc|ix|at|iat|values)$/.test(object.name);
  const column = isLocator ? object.object : object;
  if (column.type !== 'attribute' && column.type !== 'subscript') return undefined;
  if (column.object.type !== 'name') return undefined;
  const owner = interp.evaluate(column.object);
  if (owner.type !== 'table' || owner.cell.value.shape !== 'frame') return undefined;
  const named = column.type === 'subscript' ? interp.evaluate(column.indices[0] ?? column) : undefined;
  const name =
    column.type === 'attribute' ? column.name : named?.type === 'constant' ? named.value : undefined;
  const isRows = column.type === 'attribute' && /^(loc|iloc|ix|at|iat|values)$/.test(column.name);
  return typeof name === 'string' && !isRows ? { owner, name } : undefined;
}

/** Which rows get a value was decided by what the mask was computed from. */
function decidedBy(mask: Value | undefined, value: Value): readonly FitEvent[] {
  const steps = mask?.type === 'table' ? mask.cell.value.mask : undefined;
  if (mask === undefined || steps === undefined || putsBack(steps, value)) return [];
  return factsOf(mask).fits.filter(({ kind }) => kind !== 'selection');
}

/** `oof[fold == k] = model.predict(X[fold == k])`: predictions go where the rows are that they were made for. */
function putsBack(steps: readonly Step[], value: Value): boolean {
  const { predictions } = factsOf(value);
  countWork(predictions.length * steps.length);
  return (
    predictions.length > 0 &&
    predictions.every(({ rows }) =>
      rows.every(({ partition }) => steps.some((step) => step.partition === partition)),
    )
  );
}

function assignSubscript(interp: Interpreter, target: Subscript, value: Value): void {
  const chained = chainedColumn(interp, target);
  if (chained !== undefined) {
    const [mask] = target.indices.map((index) => interp.evaluate(index));
    setColumn(interp, chained.owner, chained.name, value, true, decidedBy(mask, value));
    return;
  }
  const locator =
    target.object.type === 'attribute' && /^(loc|iloc|ix|at|iat)$/.test(target.object.name)
      ? target.object
      : undefined;
  const object = interp.evaluate(locator === undefined ? target.object : locator.object);
  const last = target.indices.at(-1);
  const isLocator = locator !== undefined;
  if (object.type === 'mapping') {
    const key = target.indices[0] === undefined ? UNKNOWN : interp.evaluate(target.indices[0]);
    const state = object.cell.value;
    const chosen = withChoices(value, interp.context.choices);
    if (key.type === 'constant') {
      const entries = LayeredMap.withEntry(state.entries, String(key.value), chosen);
      countWork(16);
      interp.store.write(object.cell, { ...state, entries });
    } else {
      const rest = state.rest === undefined ? chosen : joinValues(state.rest, chosen);
      interp.store.write(object.cell, { ...state, rest });
    }
    return;
  }
  if (object.type === 'sequence') {
    unorder(interp, object, target.indices[0]?.type === 'slice' ? UNKNOWN : value);
    return;
  }
  const indices = target.indices.map((index) => interp.evaluate(index));
  if (object.type === 'table') {
    const decided = decidedBy(indices[0], value);
    const names = columnNames(interp, isLocator && target.indices.length < 2 ? undefined : last);
    const isFrame = object.cell.value.shape === 'frame';
    if (names !== undefined && isFrame) {
      const partly = isLocator && !isFullSlice(target.indices[0]);
      for (const name of names) setColumn(interp, object, name, ownColumn(value, name), partly, decided);
      return;
    }
    if (!isLocator && setTruth(interp, object, indices[0], value, target)) return;
    const { rows } = object.cell.value;
    const others = value.type === 'table' ? value.cell.value.rows : [];
    if (
      isLocator &&
      rows.length > 0 &&
      others.some((region) => !rows.includes(region) && !rows.includes(originOf(region)))
    ) {
      interp.skip(target, 'rows of another table are put into this one');
    }
    fill(interp, object, withFits(interp.dataOf(value), decided), isFrame);
    return;
  }
  if (object.type === 'opaque' && object.source !== undefined && target.object.type === 'name') {
    const names = columnNames(interp, last);
    if (names !== undefined) {
      // Columns have names: it is a frame.
      const frame = newTable(emptyTable(interp.dataOf(object), 'frame'));
      for (const name of names) setColumn(interp, frame, name, value, isLocator);
      bind(interp, target.object.id, frame);
      return;
    }
  }
  if (object.type === 'opaque' && target.object.type === 'name') {
    // An array made blank and filled part by part.
    const table = newTable(emptyTable(interp.dataOf(object)));
    fill(interp, table, interp.dataOf(value), false);
    bind(interp, target.object.id, table);
  }
}

/** `frame[names] = frame[names].fillna(0)`: each column from the one of its name, if the value is a frame that has it. */
function ownColumn(value: Value, name: string): Value {
  const isFrame = value.type === 'table' && value.cell.value.shape === 'frame';
  return isFrame && value.cell.value.columns.has(name) ? newTable(columnOf(value.cell.value, name)) : value;
}

/** `mask[held] = False` of an array that was true everywhere: the rows that the array picks from then on. */
function setTruth(
  interp: Interpreter,
  { cell }: Table,
  at: Value | undefined,
  value: Value,
  node: Subscript,
): boolean {
  const { truth, blank: _blank, ...state } = cell.value;
  if (truth === undefined || at?.type !== 'positions' || value.type !== 'constant') return false;
  const isSet = value.value === true || value.value === 1;
  if ((!isSet && value.value !== false && value.value !== 0) || isSet === truth) return false;
  const out = leftOut(interp, state.rows, at, node);
  interp.store.write(cell, { ...state, mask: [isSet ? otherSide(out) : out] });
  return true;
}

/** A list whose elements are no longer known by index. */
function unorder(interp: Interpreter, { cell }: SequenceOf, added: Value): void {
  const { items, rest, ...state } = cell.value;
  countWork(items.length);
  const all = rest === undefined ? added : joinValues(rest, added);
  interp.store.write(cell, { ...state, items: [], rest: items.reduce(joinValues, all) });
}

export function isFullSlice(index: Expr | undefined): boolean {
  return index?.type === 'slice' && index.lower === undefined && index.upper === undefined;
}

/** Puts values into unknown cells of a table: they add to what it was made with. */
function fill(interp: Interpreter, table: Table, facts: Facts, isFrame: boolean): void {
  const state = table.cell.value;
  const rows = isFrame || state.rows.length > 0 ? state.rows : wholeRows(facts.rows);
  const added = joinFacts({ ...NO_FACTS, fits: state.fits, predictions: state.predictions }, facts);
  const { blank: _blank, truth: _truth, mask: _mask, predicted: _predicted, ...filled } = state;
  const predicted = state.predicted === true && facts.predicted === true && facts.predictions.length > 0;
  interp.store.write(table.cell, {
    ...filled,
    ...(predicted ? { predicted } : {}),
    // Which columns these are is not known.
    ...(isFrame && state.closed ? { closed: false, partial: true } : {}),
    rows,
    certain: state.certain && facts.certain,
    fits: union(added.fits, interp.context.choices),
    predictions: added.predictions,
    scores: union(state.scores, facts.scores),
  });
}
