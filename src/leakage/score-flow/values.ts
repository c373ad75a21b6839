import type { Expr, Parameter, Suite } from '../syntax/ast.js';
import { countWork } from '../values/work.js';
import { type ColumnSet, type Columns, type Table, touches } from './table.js';

/** A number, a text, or anything else; values that it is made of may hold scores. */
export interface Plain {
  readonly kind: 'plain';
  readonly label: string;
  readonly parts: readonly Value[];
  /** A text of the script. */
  readonly text?: string;
  /** The table of which it is the number of rows. */
  readonly lengthOf?: Table;
}

/** A statistic of rows. */
export interface Learned {
  readonly kind: 'learned';
  readonly label: string;
  readonly from: Table;
  /** Grouped by these columns: it is looked up by them. */
  readonly groups?: string;
}

/** Names of columns of a table. */
export interface ColumnNames {
  readonly kind: 'columns';
  readonly columns: Columns;
  readonly set: ColumnSet;
  /** What picks them, if it was learned. */
  readonly by?: Learned;
}

interface Items {
  readonly kind: 'items';
  items: Value[];
}

interface Dictionary {
  readonly kind: 'dictionary';
  readonly entries: Map<string, Value>;
}

export interface UserFunction {
  readonly kind: 'function';
  readonly name: string;
  readonly params: readonly Parameter[];
  readonly body: Suite | Expr;
  readonly scope: Scope;
}

/** A class of the script: what its objects do is not followed. */
interface UserClass {
  readonly kind: 'class';
  readonly label: string;
}

export interface Branch {
  readonly columns: ColumnSet;
  readonly transformer: Estimator | 'passthrough' | 'drop';
}

/** What a model was trained on, as it gets it. */
export interface Training {
  readonly X: Table;
  readonly y: Value | undefined;
}

/** A transformer, a model, or several one after the other. */
export interface Estimator {
  readonly kind: 'estimator';
  /** Class and arguments; empty for a pipeline. */
  label: string;
  readonly isSampler: boolean;
  readonly isFollowed: boolean;
  readonly steps?: readonly Estimator[];
  readonly branches?: readonly Branch[];
  readonly remainder?: Estimator | 'passthrough' | 'drop';
  /** Rows that it was fitted on. */
  fitted?: Table;
  training?: Training;
}

/** `lgb.Dataset(X, label=y)` */
export interface DataSet {
  readonly kind: 'dataset';
  readonly X: Table;
  readonly y: Value | undefined;
}

export interface Prediction {
  readonly kind: 'prediction';
  readonly model: string;
  readonly training: Training | undefined;
  readonly X: Table;
  readonly isFollowed: boolean;
  /** What was done with it afterwards. */
  readonly uses: readonly string[];
}

export interface Score {
  readonly kind: 'score';
  readonly label: string;
  readonly labels: Value | undefined;
  readonly predictions: readonly Prediction[];
  /** What is done with the predictions before they are scored, as a text. */
  readonly way: string;
  /** What is done with the score before it is shown, as a text. */
  shownAs?: string;
}

/** A table whose rows are grouped. */
export interface Grouped {
  readonly kind: 'grouped';
  readonly table: Table;
  readonly keys: string;
}

export type Value =
  | Table
  | Plain
  | Learned
  | ColumnNames
  | Items
  | Dictionary
  | UserFunction
  | UserClass
  | Estimator
  | DataSet
  | Prediction
  | Score
  | Grouped;

export function plain(label: string, parts: readonly Value[] = []): Plain {
  return { kind: 'plain', label: label.slice(0, 400), parts };
}

export function textValue(text: string): Plain {
  return { kind: 'plain', label: JSON.stringify(text), parts: [], text };
}

export const NONE = plain('None');

/** Variables, with those around a function. */
export class Scope {
  readonly #values = new Map<string, Value>();
  readonly #outer: Scope | undefined;

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  get(name: string): Value | undefined {
    return this.#values.get(name) ?? this.#outer?.get(name);
  }

  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }
}

/** Scores in a value, in the order in which they stand in it. */
export function scoresIn(value: Value, found: Score[] = [], depth = 0): Score[] {
  if (depth > 12) return found;
  if (value.kind === 'score') {
    if (!found.includes(value)) found.push(value);
  } else if (value.kind === 'plain') for (const part of value.parts) scoresIn(part, found, depth + 1);
  else if (value.kind === 'items') for (const item of value.items) scoresIn(item, found, depth + 1);
  else if (value.kind === 'dictionary')
    for (const entry of value.entries.values()) scoresIn(entry, found, depth + 1);
  return found;
}

/** How deep a computation is written out. */
const MAX_WAY = 12;

/** How a value is computed from predictions and scores, as a text that says nothing about the rows. */
export function wayOf(value: Value, depth = 0): string {
  countWork(1);
  if (depth > MAX_WAY) return '…';
  const inner = (values: readonly Value[]): string => values.map((part) => wayOf(part, depth + 1)).join();
  switch (value.kind) {
    case 'plain':
      return value.parts.length === 0
        ? value.label.slice(0, MAX_CONSTANT)
        : `${/^[^([{]*/.exec(value.label)?.[0] ?? ''}(${inner(value.parts)})`;
    case 'items':
      return `[${inner(value.items)}]`;
    case 'dictionary':
      return `{${inner([...value.entries.values()])}}`;
    default:
      return value.kind;
  }
}

/** Characters of a constant that count. */
const MAX_CONSTANT = 80;

/** Predictions in a value. */
export function predictionsIn(value: Value, found: Prediction[] = [], depth = 0): Prediction[] {
  if (depth > 12) return found;
  if (value.kind === 'prediction') {
    if (!found.includes(value)) found.push(value);
  } else if (value.kind === 'plain') for (const part of value.parts) predictionsIn(part, found, depth + 1);
  else if (value.kind === 'items') for (const item of value.items) predictionsIn(item, found, depth + 1);
  else if (value.kind === 'table') {
    const { names } = value.state.columns;
    const last =
      names?.length === 1 ? value.state.steps.findLast((step) => touches(step, names[0] ?? '')) : undefined;
    if (last?.prediction !== undefined && !found.includes(last.prediction)) found.push(last.prediction);
  }
  return found;
}

/** Columns that a value names: a text, a list of texts, or the columns of a table. */
export function columnSetOf(value: Value): ColumnSet | undefined {
  if (value.kind === 'columns') return value.set;
  if (value.kind === 'plain' && value.text !== undefined) return [value.text];
  if (value.kind !== 'items' || value.items.length === 0) return undefined;
  const names: string[] = [];
  for (const item of value.items) {
    if (item.kind !== 'plain' || item.text === undefined) return undefined;
    names.push(item.text);
  }
  return names;
}

/** What a value is, as a text. */
export function keyOf(value: Value, depth = 0): string {
  if (depth > 6) return '…';
  switch (value.kind) {
    case 'table':
      return value.key;
    case 'plain':
    case 'score':
      return value.label;
    case 'learned':
      return value.label;
    case 'columns':
      return value.set === '*' ? 'columns' : `[${value.set.join()}]`;
    case 'items':
      return `[${value.items.map((item) => keyOf(item, depth + 1)).join()}]`;
    case 'dictionary':
      return `{${[...value.entries].map(([name, entry]) => `${name}:${keyOf(entry, depth + 1)}`).join()}}`;
    case 'function':
      return `def ${value.name}`;
    case 'class':
      return value.label;
    case 'estimator':
      return estimatorKey(value, depth);
    case 'dataset':
      return 'data set';
    case 'prediction':
      return `${value.model}(…)`;
    case 'grouped':
      return `group[${value.keys}]`;
  }
}

function estimatorKey({ label, steps, branches }: Estimator, depth: number): string {
  if (steps !== undefined) return steps.map((step) => keyOf(step, depth + 1)).join('|');
  if (branches !== undefined) return `ColumnTransformer(${branches.length})`;
  return label;
}
