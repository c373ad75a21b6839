import type { LeakKind } from '../kinds.js';
import type {
  ClassDefinition,
  ConstantValue,
  Expr,
  FunctionDefinition,
  Lambda,
  Stmt,
} from '../syntax/ast.js';
import {
  type Facts,
  type FitEvent,
  joinFacts,
  NO_FACTS,
  type Prediction,
  type Score,
  type Training,
  union,
  wholeFacts,
} from './facts.js';
import type { CutAt, Partition, Region } from './region.js';
import type { Cell, Scope } from './store.js';
import { countWork } from './work.js';

/** A number or another value without structure of its own, and what it was computed from. */
export interface Opaque {
  readonly type: 'opaque';
  readonly facts: Facts;
  /** The call whose result this is: the source of its rows, if it turns out to hold rows. */
  readonly source?: Region;
  /** The number of rows of exactly these regions, as in `len(train)`. */
  readonly countOf?: readonly Region[];
  /** The position that the number is, where it was computed from the number of rows. */
  readonly cut?: CutAt;
  /** Statistics of a column expression that is not applied to a frame yet (`pl.col('a').mean()`). */
  readonly pending?: readonly PendingStatistic[];
  /** The column that the expression gives, where its name is known. */
  readonly named?: string;
  /** Columns of which a column expression takes the value of the row itself. */
  readonly takes?: readonly string[];
  /** Of one result for each group: the rows that they are where they are made a table. */
  readonly aggregate?: Region;
  /** The columns that it lists, where it is the `columns` of a frame of which all are known. */
  readonly names?: readonly string[];
  /** The name of the file that was opened. */
  readonly file?: string;
  /** One element of a source, in a loop over all of them. */
  readonly element?: boolean;
  /** The positions that it is one of, in a loop over all of them. */
  readonly oneOf?: Positions;
  /** A text that the script puts together, of which a part is not known. */
  readonly formatted?: boolean;
  /** What a text shows, each value by itself. */
  readonly shown?: readonly Value[];
  /** The fit of the least or the greatest value of a column, which the number is, or differs from by a constant. */
  readonly extreme?: FitEvent;
}
export interface PendingStatistic {
  readonly kind: LeakKind;
  readonly subject: string;
  readonly node: Expr;
  readonly groupedBy?: readonly string[];
}
export interface ConstantOf {
  readonly type: 'constant';
  readonly value: ConstantValue;
}
/** A module, class or function of a library, by its dotted path. */
export interface Library {
  readonly type: 'library';
  readonly path: string;
}
/** Rows: a frame, a column, an array, a data set, a loader. */
export interface Table {
  readonly type: 'table';
  readonly cell: Cell<TableState>;
}
export interface Column {
  readonly fits: readonly FitEvent[];
  readonly predictions: readonly Prediction[];
  /** Names of the columns it was computed from, row by row. */
  readonly from: readonly string[];
  /** Scores that it holds, as in a table of what was tried. */
  readonly scores?: readonly Score[];
  /** Nothing but predictions, and what was computed from them alone. */
  readonly predicted?: boolean;
  /** The statement that made it. */
  readonly madeBy?: Stmt;
  /** The constant that was assigned to all rows of it. */
  readonly constant?: ConstantValue;
  /** Rows of another table among which its values were looked for. */
  readonly among?: readonly Region[];
  /** Names of the columns that it sums up to its row. */
  readonly running?: readonly string[];
}
export interface TableState extends Facts {
  /** Columns that were assigned or selected by name; all others are alike. */
  readonly columns: ReadonlyMap<string, Column>;
  /** Columns that were removed. */
  readonly dropped: ReadonlySet<string>;
  /** True where `columns` are all the columns there are. */
  readonly closed: boolean;
  /** Some columns may have been left out without their names being known. */
  readonly partial: boolean;
  /** Columns of texts were left out. */
  readonly ofNumbers?: boolean;
  /** The statement that chose the columns. */
  readonly selectedBy?: Stmt;
  /** Of tables one under the other: the name that each part has in the index. */
  readonly keys?: readonly string[];
  /** For a single column: the columns it was computed from, row by row. */
  readonly from: readonly string[];
  /** For a single column: the name that the code gave it, under which it is put into a frame. */
  readonly called?: string;
  /** For a single column: rows of another table among which its values were looked for. */
  readonly among?: readonly Region[];
  /** For a single column: the columns that it sums up to its row. */
  readonly running?: readonly string[];
  /** Only says where values are missing. */
  readonly missing?: boolean;
  /** Texts that a loop puts together: data, or names of columns. */
  readonly formatted?: boolean;
  /** For a Boolean column: which rows it picks. */
  readonly mask?: Step[];
  /** One number for all its rows, put there before anything is known about them: no labels. */
  readonly blank?: boolean;
  /** The truth value that all its rows have so far, of an array that becomes a mask. */
  readonly truth?: boolean;
  /** Its rows are in the opposite order. */
  readonly reversed?: boolean;
  /** `row`: one row, or one batch of rows, in a loop over all of them. */
  readonly shape: 'frame' | 'column' | 'array' | 'row';
}
/** One step from a table to a part of it. */
export interface Step {
  readonly partition: Partition;
  readonly side: string;
  readonly role?: 'train' | 'test';
  /** The steps after it follow from it: its other side has all rows that they leave out. */
  readonly isWhole?: boolean;
}
/** Positions of rows: applied to a table it gives a part of it. No steps: all rows, in whatever order. */
export interface Positions {
  readonly type: 'positions';
  /** Labels of these rows, as in `train.index`; without them, positions in whatever table it is applied to. */
  readonly of?: readonly Region[];
  /** The rows of another table that have the same labels, as after `a.index.intersection(b.index)`. */
  readonly alsoOf?: readonly Region[];
  /** The rows that they are counted by, as in `np.arange(len(frame))`. */
  readonly counts?: readonly Region[];
  readonly steps: readonly Step[];
  /** In a random order. */
  readonly isShuffled?: boolean;
  /** A set of them, from which another one can be subtracted. */
  readonly set?: boolean;
  /** Some of them are in it several times: what repeats them. */
  readonly repeatedBy?: Expr;
  /** No labels but the values of this column, each of them once: rows that have one are picked by `isin`. */
  readonly values?: string;
}
export interface SequenceOf {
  readonly type: 'sequence';
  readonly cell: Cell<SequenceState>;
}
export interface SequenceState {
  readonly items: readonly Value[];
  /** What an unknown number of further items have in common. */
  readonly rest?: Value;
  readonly tuple: boolean;
  /** How many of the first items the code wrote out one by one; the others came from a loop, or nobody knows. */
  readonly written?: number;
  /** Of names of the columns of a table: all of them but these. */
  readonly allBut?: readonly string[];
}
export interface Mapping {
  readonly type: 'mapping';
  readonly cell: Cell<MappingState>;
}
export interface MappingState {
  readonly entries: ReadonlyMap<string, Value>;
  readonly rest?: Value;
  /** Of the values of a column by the labels of their rows: the column. */
  readonly valuesOf?: TableState;
}
/** An object that can be fitted, or any other object of a library class. */
export interface Estimator {
  readonly type: 'estimator';
  readonly cell: Cell<EstimatorState>;
}
export interface EstimatorState {
  /** Dotted path of the class. */
  readonly path: string;
  /** What `fit` and the others do, by the library models. */
  readonly role: EstimatorRole;
  readonly options: ReadonlyMap<string, Value>;
  /** Steps of a pipeline, the wrapped estimator of a search. */
  readonly steps: readonly Value[];
  readonly training: Training | undefined;
  /** Own fit first, then everything the fitted rows were made with. */
  readonly fits: readonly FitEvent[];
  /** Facts of what was passed to the constructor. */
  readonly argumentFacts: Facts;
  /** Of a splitter: the statement that made it. */
  readonly madeBy?: Stmt;
}
export type EstimatorRole =
  | 'transformer'
  | 'stateless'
  | 'model'
  | 'pipeline'
  | 'search'
  | 'sampler'
  | 'splitter'
  | 'network'
  | 'label-coder'
  | 'object';
export interface FunctionOf {
  readonly type: 'function';
  readonly definition: FunctionDefinition | Lambda;
  readonly scope: Scope;
  /** The object a method is bound to. */
  readonly self?: Value;
  /** The class a method was found in. */
  readonly owner?: ClassOf;
  /** Positional arguments bound by `functools.partial`. */
  readonly bound?: readonly Value[];
  /** Keyword arguments bound by it. */
  readonly boundNames?: ReadonlyMap<string, Value>;
  /** Values of parameters that a call leaves out, as they were when the function was defined. */
  readonly defaults?: ReadonlyMap<string, Value>;
}
export interface ClassOf {
  readonly type: 'class';
  readonly definition: ClassDefinition;
  readonly members: Map<string, Cell<Value>>;
  readonly bases: readonly Value[];
}
export interface Instance {
  readonly type: 'instance';
  readonly of: ClassOf;
  readonly attributes: Map<string, Cell<Value>>;
  /** What the instance learned, where a library trains it (a network, a wrapped estimator). */
  readonly learned: Cell<EstimatorState>;
}
/** A method of a value that is not called yet, as in `map(df.get, names)`. */
export interface Method {
  readonly type: 'method';
  readonly receiver: Value;
  readonly name: string;
}
/** Rows grouped by a key, or seen through a moving window. */
export interface View {
  readonly type: 'view';
  readonly form: 'groups' | 'window' | 'expression';
  readonly table: Table;
  /** Window: whether it reaches past the row itself. */
  readonly future: boolean;
  readonly node: Expr;
  /** Groups: columns whose values they are, as far as these are known. */
  readonly by?: readonly string[];
}

export type Value =
  | Opaque
  | ConstantOf
  | Library
  | Table
  | Positions
  | SequenceOf
  | Mapping
  | Estimator
  | FunctionOf
  | ClassOf
  | Instance
  | Method
  | View;

export const UNKNOWN: Opaque = { type: 'opaque', facts: NO_FACTS };

export function opaque(facts: Facts): Opaque {
  return facts === NO_FACTS ? UNKNOWN : { type: 'opaque', facts };
}

export function constant(value: ConstantValue): ConstantOf {
  return { type: 'constant', value };
}

/** Whether a value is one row, or one batch, in a loop over all of them. */
export function isElement(value: Value): boolean {
  return value.type === 'table'
    ? value.cell.value.shape === 'row'
    : value.type === 'opaque' && (value.element === true || value.facts.single === true);
}

/** Everything the columns of a table were made with. */
export function tableFacts(state: TableState): Facts {
  if (state.columns.size === 0) return state;
  const known = factsOfTables.get(state);
  if (known !== undefined) return known;
  countWork(4 * state.columns.size);
  let { fits, predictions } = state;
  let predicted = state.predicted === true || state.closed;
  for (const column of state.columns.values()) {
    fits = union(fits, column.fits);
    predictions = union(predictions, column.predictions);
    predicted = predicted && column.predicted === true;
  }
  const facts = { ...state, fits, predictions, predicted };
  factsOfTables.set(state, facts);
  return facts;
}

/** A state is never changed, so what its columns were made with is put together once. */
const factsOfTables = new WeakMap<TableState, Facts>();

/** What parts of a value carry, by the depth they were found at: one part may be reached in many ways. */
export class KnownFacts {
  readonly #levels: Map<object, Facts>[] = [];

  of(part: object, depth: number, compute: () => Facts): Facts {
    const level = this.#levels[depth] ?? new Map<object, Facts>();
    this.#levels[depth] = level;
    const known = level.get(part);
    if (known !== undefined) return known;
    const facts = compute();
    level.set(part, facts);
    return facts;
  }
}

/** What a value carries, through its parts. */
export function factsOf(value: Value): Facts {
  return partFacts(value, 0, new KnownFacts());
}

function partFacts(value: Value, depth: number, known: KnownFacts): Facts {
  if (depth > 6) return NO_FACTS;
  switch (value.type) {
    case 'opaque':
      return value.facts;
    case 'table':
      return tableFacts(value.cell.value);
    case 'view':
      return tableFacts(value.table.cell.value);
    case 'sequence': {
      const { items, rest } = value.cell.value;
      return known.of(value.cell, depth, () => joinFirst(items, rest, depth, known));
    }
    case 'mapping': {
      const { entries, rest } = value.cell.value;
      return known.of(value.cell, depth, () => joinFirst(entries.values(), rest, depth, known));
    }
    case 'estimator': {
      const { argumentFacts, fits, role } = value.cell.value;
      return role === 'transformer'
        ? { ...argumentFacts, rows: [], fits: union(argumentFacts.fits, fits) }
        : argumentFacts;
    }
    case 'instance':
      return known.of(value.attributes, depth, () => {
        const attributes = [...value.attributes.values()].slice(0, MAX_PARTS).map((cell) => cell.value);
        return joinFirst(attributes, undefined, depth, known);
      });
    case 'method':
      return partFacts(value.receiver, depth + 1, known);
    default:
      return NO_FACTS;
  }
}

/** Parts of a value that are looked at. */
export const MAX_PARTS = 64;

function joinFirst(
  values: Iterable<Value>,
  rest: Value | undefined,
  depth: number,
  known: KnownFacts,
): Facts {
  let facts = NO_FACTS;
  let left = MAX_PARTS;
  for (const value of values) {
    if (left === 0) break;
    left -= 1;
    facts = joinFacts(facts, partFacts(value, depth + 1, known));
  }
  countWork(MAX_PARTS - left);
  if (rest !== undefined && left > 0) facts = joinFacts(facts, partFacts(rest, depth + 1, known));
  return wholeFacts(facts);
}

/** What a sequence holds: its known items, and what the others look like. */
export function partsOf({ cell }: SequenceOf): readonly Value[] {
  const { items, rest } = cell.value;
  return rest === undefined ? items : [...items, rest];
}

/** The text that Python makes of a constant, where that is known: of 1 it depends on whether it is a float. */
export function textOf(value: Value): string | undefined {
  if (value.type !== 'constant' || value.value === null || typeof value.value === 'boolean') return undefined;
  // Python writes very large and very small numbers otherwise.
  return typeof value.value === 'number' && !/^-?\d{1,15}(\.\d+)?$/.test(String(value.value))
    ? undefined
    : String(value.value);
}

/** The texts of a list, where all of them are known. */
export function textsOf(value: Value): readonly string[] | undefined {
  if (value.type !== 'sequence' || value.cell.value.rest !== undefined) return undefined;
  countWork(value.cell.value.items.length);
  const texts = value.cell.value.items.map((item) => (item.type === 'constant' ? item.value : undefined));
  return texts.length > 0 && texts.every((text): text is string => typeof text === 'string')
    ? texts
    : undefined;
}
