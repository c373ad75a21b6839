import { type Facts, joinFacts, NO_FACTS, union, wholeFacts } from './facts.js';
import { sameRows } from './region.js';
import type { Cell } from './store.js';
import {
  type Column,
  type EstimatorState,
  factsOf,
  type MappingState,
  opaque,
  type SequenceState,
  type TableState,
  type Value,
} from './value.js';
import { countWork } from './work.js';

/** Lists, tuples and dicts with more elements than this are followed as a whole, not element by element. */
const MAX_ELEMENTS = 10_000;

/** Values nested more deeply than this are joined as a whole. */
const MAX_JOIN_DEPTH = 8;

/** One join: what pairs of parts became, since a part may be reached in many ways. */
class Join {
  readonly #joined = new Map<object, Map<object, Value>>();

  of(a: Value, b: Value, depth: number): Value {
    const whole = wholeJoin(a, b);
    if (whole !== undefined) return whole;
    if (depth >= MAX_JOIN_DEPTH) return opaque(joinFacts(factsOf(a), factsOf(b)));
    if (a.type === 'sequence' && b.type === 'sequence')
      return this.#once(a.cell, b.cell, () =>
        newSequence(joinSequences(a.cell.value, b.cell.value, this, depth)),
      );
    if (a.type === 'mapping' && b.type === 'mapping')
      return this.#once(a.cell, b.cell, () =>
        newMapping(joinMappings(a.cell.value, b.cell.value, this, depth)),
      );
    if (a.type === 'function' || a.type === 'class' || a.type === 'library' || a.type === 'instance')
      return a;
    const facts = joinFacts(factsOf(a), factsOf(b));
    return a.type === 'table' || b.type === 'table' ? newTable({ ...emptyTable(facts) }) : opaque(facts);
  }

  #once(a: object, b: object, join: () => Value): Value {
    const known = this.#joined.get(a)?.get(b);
    if (known !== undefined) return known;
    const made = join();
    const others = this.#joined.get(a) ?? new Map<object, Value>();
    this.#joined.set(a, others.set(b, made));
    return made;
  }
}

/** What a variable holds where two ways through the code meet. */
export function joinValues(a: Value, b: Value): Value {
  return new Join().of(a, b, 0);
}

/** The join of values that have no parts of their own to be joined; undefined for others. */
function wholeJoin(a: Value, b: Value): Value | undefined {
  countWork(1);
  if (a === b) return a;
  if (a.type === 'opaque' && a.facts === NO_FACTS && a.source === undefined) return b;
  if (b.type === 'opaque' && b.facts === NO_FACTS && b.source === undefined) return a;
  if (a.type === 'constant' && b.type === 'constant' && a.value === b.value) return a;
  if (a.type === 'library' && b.type === 'library' && a.path === b.path) return a;
  // `None` is what a variable holds before it is filled.
  if (a.type === 'constant' && a.value === null) return b;
  if (b.type === 'constant' && b.value === null) return a;
  if (a.type === 'table' && b.type === 'table') {
    if (a.cell === b.cell) return a;
    return newTable(joinTables(a.cell.value, b.cell.value));
  }
  if (a.type === 'estimator' && b.type === 'estimator') {
    return a.cell === b.cell ? a : newEstimator(joinEstimators(a.cell.value, b.cell.value));
  }
  return undefined;
}

export function newCell(value: Value): Cell<Value> {
  return { value, join: joinValues };
}
export function newTable(state: TableState): Value & { type: 'table' } {
  return { type: 'table', cell: { value: state, join: joinTables } };
}
export function newEstimator(state: EstimatorState): Value & { type: 'estimator' } {
  return { type: 'estimator', cell: { value: state, join: joinEstimators } };
}
export function newSequence(state: SequenceState): Value & { type: 'sequence' } {
  return { type: 'sequence', cell: { value: boundedSequence(state), join: joinSequenceStates } };
}
export function newMapping(state: MappingState): Value & { type: 'mapping' } {
  return { type: 'mapping', cell: { value: boundedMapping(state), join: joinMappingStates } };
}

/** The state of a list or tuple: over the bound its elements are no longer distinguished. Counts the elements as work. */
export function boundedSequence(state: SequenceState): SequenceState {
  const { items, rest, tuple } = state;
  // An object of its own, and a cell for each element.
  countWork(16 + items.length);
  if (items.length <= MAX_ELEMENTS) return state;
  return { items: [], rest: opaque(factsOfAll(rest === undefined ? items : [...items, rest])), tuple };
}

/** The same for a dict, whose entries take more room. */
export function boundedMapping(state: MappingState): MappingState {
  const { entries, rest } = state;
  countWork(16 + 8 * entries.size);
  if (entries.size <= MAX_ELEMENTS) return state;
  const values = [...entries.values()];
  return { entries: new Map(), rest: opaque(factsOfAll(rest === undefined ? values : [...values, rest])) };
}

function factsOfAll(values: readonly Value[]): Facts {
  return wholeFacts(values.reduce((facts, value) => joinFacts(facts, factsOf(value)), NO_FACTS));
}
export function list(items: readonly Value[], tuple = false): Value & { type: 'sequence' } {
  return newSequence({ items, tuple });
}

const NO_COLUMNS: ReadonlyMap<string, Column> = new Map();
const NO_NAMES: ReadonlySet<string> = new Set();

export function emptyTable(facts: Facts, shape: TableState['shape'] = 'array'): TableState {
  const single = facts.single === true && facts.rows.length > 0;
  return {
    ...(single ? { single } : {}),
    ...(facts.predicted === true ? { predicted: true } : {}),
    rows: facts.rows,
    certain: facts.certain,
    fits: facts.fits,
    predictions: facts.predictions,
    scores: facts.scores,
    columns: NO_COLUMNS,
    dropped: NO_NAMES,
    closed: false,
    partial: true,
    from: [],
    shape: single ? 'row' : shape,
  };
}

/** Adds columns to others: one that both have keeps what either was made with. */
export function addColumns(columns: Map<string, Column>, added: ReadonlyMap<string, Column>): void {
  for (const [name, column] of added) {
    const other = columns.get(name);
    columns.set(
      name,
      other === undefined
        ? column
        : {
            fits: union(other.fits, column.fits),
            predictions: union(other.predictions, column.predictions),
            from: union(other.from, column.from),
            ...(other.predicted === true && column.predicted === true ? { predicted: true } : {}),
          },
    );
  }
}

function joinTables(a: TableState, b: TableState): TableState {
  const facts = joinFacts(a, b);
  // Two ways that lead to the same rows agree, and so do two files that one of is read; otherwise nobody knows
  // which rows these are.
  const isEither = [...a.rows, ...b.rows].every((region) => region.parent === undefined);
  const certain = a.certain && b.certain && (isEither || sameRows(a.rows, b.rows));
  countWork(8 * (a.columns.size + b.columns.size) + a.dropped.size);
  const columns = new Map(a.columns);
  addColumns(columns, b.columns);
  return {
    ...facts,
    certain,
    columns,
    dropped: new Set([...a.dropped].filter((name) => b.dropped.has(name))),
    closed: a.closed && b.closed,
    partial: a.partial || b.partial,
    from: union(a.from, b.from),
    shape: a.shape,
  };
}

function joinEstimators(a: EstimatorState, b: EstimatorState): EstimatorState {
  const training =
    a.training === undefined || b.training === undefined
      ? (a.training ?? b.training)
      : {
          ...b.training,
          ...joinFacts({ ...NO_FACTS, ...a.training }, { ...NO_FACTS, ...b.training }),
          predictions: union(a.training.predictions, b.training.predictions),
        };
  return {
    ...b,
    training,
    fits: union(a.fits, b.fits),
    argumentFacts: joinFacts(a.argumentFacts, b.argumentFacts),
  };
}

function joinSequenceStates(a: SequenceState, b: SequenceState): SequenceState {
  return boundedSequence(joinSequences(a, b, new Join(), 0));
}

function joinMappingStates(a: MappingState, b: MappingState): MappingState {
  return boundedMapping(joinMappings(a, b, new Join(), 0));
}

function joinSequences(a: SequenceState, b: SequenceState, join: Join, depth: number): SequenceState {
  if (a.items.length === b.items.length && a.rest === undefined && b.rest === undefined) {
    const items = a.items.map((item, at) => join.of(item, b.items[at] ?? item, depth + 1));
    return { items, tuple: a.tuple };
  }
  const [longer, shorter] = a.items.length >= b.items.length ? [a, b] : [b, a];
  // A list that grew in one branch: what both have, then the rest.
  const items = longer.items.map((item, at) => {
    const other = shorter.items[at];
    return other === undefined ? item : join.of(item, other, depth + 1);
  });
  const rest = longer.rest ?? shorter.rest;
  return { items, tuple: a.tuple, ...(rest === undefined ? {} : { rest }) };
}

function joinMappings(a: MappingState, b: MappingState, join: Join, depth: number): MappingState {
  const entries = new Map(a.entries);
  for (const [key, value] of b.entries) {
    const other = entries.get(key);
    entries.set(key, other === undefined ? value : join.of(other, value, depth + 1));
  }
  const rest =
    a.rest === undefined || b.rest === undefined ? (a.rest ?? b.rest) : join.of(a.rest, b.rest, depth + 1);
  return { entries, ...(rest === undefined ? {} : { rest }) };
}
