import type { Call, Expr, Stmt } from '../syntax/ast.js';
import { expressionsIn, ownExpressions } from '../syntax/walk.js';
import type { FitEvent } from '../values/facts.js';
import { originOf, type Region, sameRows } from '../values/region.js';
import { type EstimatorState, MAX_PARTS, type TableState, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import type { Interpreter } from './interpreter.js';
import { featuresOfLabelPeriod } from './label-period.js';

/** How a column came about, by its name: of which columns, and where. */
interface Origin {
  readonly from: readonly string[];
  readonly madeBy: Stmt;
  /** Columns whose values of later rows it has. */
  readonly ahead: readonly string[];
}

/** Columns that are remembered. */
const MAX_COLUMNS = 4096;

/** The origins of the columns that a script makes. */
export class ColumnOrigins {
  readonly #origins = new Map<string, Origin>();

  note(column: string, from: readonly string[], madeBy: Stmt, ahead: readonly string[]): void {
    if (this.#origins.size < MAX_COLUMNS) this.#origins.set(column, { from, madeBy, ahead });
  }

  of(column: string): Origin | undefined {
    return this.#origins.get(column);
  }
}

/** Which columns the labels of a fit are, and whether one of them is among the features as well. */
export function labelsOf(
  interp: Interpreter,
  features: Value | undefined,
  labels: Value | undefined,
  call: Call,
  model?: EstimatorState,
): { columns: readonly string[]; fits: FitEvent[] } {
  const columns = labels?.type === 'table' ? labels.cell.value.from : [];
  if (features?.type !== 'table' || labels?.type !== 'table' || picksColumns(model))
    return { columns, fits: [] };
  const [state, label] = [features.cell.value, labels.cell.value];
  const ofPeriod = featuresOfLabelPeriod(interp, state, label);
  const copy =
    labelCopy(interp, state, label) ??
    recodedLabel(interp, state, label) ??
    rescaledLabel(interp, state, label);
  if (copy === undefined) return { columns, fits: [...ofPeriod] };
  const rows = { rows: [...new Set(state.rows.map(originOf))], certain: state.certain };
  const event = interp.fit(
    'label-in-features',
    `column \`${copy.column}\``,
    rows,
    interp.label(call),
    call,
    copy.madeBy ?? interp.statement,
    columns,
  );
  return { columns, fits: [event, ...ofPeriod] };
}

/** Whether rows were read from a file, or put together from rows that were. */
function isFromFile(region: Region): boolean {
  const { isFile, grouped } = originOf(region);
  return isFile === true || grouped?.every((row) => originOf(row).isFile === true) === true;
}

interface Copy {
  readonly column: string;
  readonly madeBy: Stmt | undefined;
}

/** Whether it is known which columns the features are, and that the label is what it says, not what it will be some rows later. */
function isComparable(x: TableState, y: TableState): boolean {
  if (y.from.length === 0 || !/^(frame|array)$/.test(x.shape) || !sameRows(x.rows, y.rows)) return false;
  if (y.fits.some(({ kind }) => kind === 'future-values')) return false;
  return !x.partial || x.closed;
}

/** A feature column that is the label or is computed from it alone, row by row; only where that is certain. */
function labelCopy(interp: Interpreter, x: TableState, y: TableState): Copy | undefined {
  const [label, ...others] = y.from;
  if (label === undefined || !isComparable(x, y)) return undefined;
  // A label that was made of other columns is known by its name where the code takes it out of the features.
  const sources = interp.columnOrigins.of(label)?.from ?? [];
  const isMade = others.length > 0 && others.every((other) => sources.includes(other));
  if (others.length > 0 && !isMade && !x.dropped.has(label)) return undefined;
  countWork(x.columns.size);
  for (const [column, { from, madeBy }] of x.columns) {
    if (column !== label && from.includes(label)) return { column, madeBy };
  }
  return hasColumn(interp, x, label) ? { column: label, madeBy: x.selectedBy } : undefined;
}

/**
 * `late = delay > 15` beside the feature `delay`, or `bad = status == "x"` beside `code = status.map(…)`: a label that is a
 * recoding of one column, which is among the features itself or recoded. Of made-up data that is how labels are made.
 */
function recodedLabel(interp: Interpreter, x: TableState, y: TableState): Copy | undefined {
  const [label] = y.from;
  if (label === undefined || !isComparable(x, y)) return undefined;
  if (!x.rows.every(isFromFile)) return undefined;
  const origin = interp.columnOrigins.of(label);
  const [source, ...more] = (origin?.from ?? []).filter((column) => column !== label);
  if (origin === undefined || source === undefined) return undefined;
  // What the column itself was made of comes with it.
  const sources = [label, source, ...(interp.columnOrigins.of(source)?.from ?? [])];
  if (![...more, ...y.from].every((column) => sources.includes(column))) return undefined;
  if (!recodes(origin.madeBy, source)) return undefined;
  countWork(x.columns.size);
  for (const [column, { from, madeBy }] of x.columns) {
    const isOther = column !== label && column !== source && from.includes(source);
    const made = interp.columnOrigins.of(column)?.madeBy ?? madeBy;
    if (isOther && made !== undefined && recodes(made, source)) return { column, madeBy: made };
  }
  return hasColumn(interp, x, source) ? { column: source, madeBy: x.selectedBy ?? origin.madeBy } : undefined;
}

/**
 * `np.log1p(duration)` beside the feature `distance / duration`, or `duration` itself: a label that is one column on another scale,
 * which the features are computed from.
 */
function rescaledLabel(interp: Interpreter, x: TableState, y: TableState): Copy | undefined {
  const [label] = y.from;
  if (label === undefined || !isComparable(x, y) || !x.rows.every(isFromFile)) return undefined;
  const origin = interp.columnOrigins.of(label);
  const [source, ...more] = (origin?.from ?? []).filter((column) => column !== label);
  if (origin === undefined || source === undefined || more.length > 0) return undefined;
  if (!y.from.every((column) => column === label || column === source)) return undefined;
  if (!rescales(origin.madeBy, source)) return undefined;
  countWork(x.columns.size);
  for (const [column, { from, madeBy }] of x.columns)
    if (column !== label && column !== source && from.includes(source)) return { column, madeBy };
  const isFeature = x.closed ? x.columns.has(source) : false;
  return isFeature ? { column: source, madeBy: x.selectedBy ?? origin.madeBy } : undefined;
}

/** Functions by which a number is put on another scale, and can be had back. */
const RESCALING = /^(log|log2|log10|log1p|exp|expm1|sqrt|cbrt)$/;

/** Whether a statement assigns a column on another scale: `np.log1p(frame["price"])`. */
function rescales(statement: Stmt, column: string): boolean {
  if (statement.type !== 'assign' || statement.value.type !== 'call') return false;
  const { callee, args } = statement.value;
  const [first, ...others] = args;
  if (callee.type !== 'attribute' || others.length > 0 || !RESCALING.test(callee.name)) return false;
  return isColumn(first?.value, column);
}

/** Whether a model takes some of the columns only, whatever there are, as far as that is known. */
function picksColumns(model: EstimatorState | undefined, depth = 0): boolean {
  if (model === undefined) return false;
  if (depth > MAX_DEPTH || PICKING.test(model.path)) return true;
  countWork(model.steps.length);
  return model.steps
    .slice(0, MAX_PARTS)
    .some((step) => step.type !== 'estimator' || picksColumns(step.cell.value, depth + 1));
}

/** Pipelines within each other that are looked into. */
const MAX_DEPTH = 4;

/** Source: scikit-learn user guide 7.1.4 (ColumnTransformer), 7.3.8 (custom transformers); sklearn-pandas. */
const PICKING =
  /(ColumnTransformer|make_column_transformer|FunctionTransformer|FeatureUnion|make_union|DataFrameMapper)$/;

/** Functions that give one value for another, whatever the row: a mapping, a comparison, a range. */
const RECODING = /^(map|replace|isin|eq|ne|gt|ge|lt|le|between)$/;

/** Whether a statement recodes a column: it compares its values with constants, or maps them. */
function recodes(statement: Stmt, column: string): boolean {
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) {
      if (part.type === 'compare' && part.operands.length === 2) {
        const [left, right] = part.operands;
        if (isColumn(left, column) && right !== undefined && isConstant(right)) return true;
      }
      if (part.type !== 'call' || part.callee.type !== 'attribute' || !RECODING.test(part.callee.name))
        continue;
      const [first] = part.args;
      const isFixed = first !== undefined && isConstant(first.value);
      if (isColumn(part.callee.object, column) && isFixed) return true;
    }
  }
  return false;
}

/** A number, a text, or a dictionary or list of them. */
function isConstant(expression: Expr): boolean {
  for (const part of expressionsIn(expression))
    if (part.type === 'name' || part.type === 'call') return false;
  return true;
}

/** `frame["status"]`, `frame.status` or `pl.col("status")`. */
function isColumn(expression: Expr | undefined, column: string): boolean {
  if (expression?.type === 'attribute') return expression.name === column;
  if (expression?.type === 'call' && expression.callee.type === 'attribute') {
    const [name, ...others] = expression.args;
    const isOne = expression.callee.name === 'col' && others.length === 0;
    return isOne && name?.value.type === 'constant' && name.value.value === column;
  }
  const [index] = expression?.type === 'subscript' ? expression.indices : [];
  return index?.type === 'constant' && index.value === column;
}

/** Whether a column is among those of a frame: one of texts is not, where the code keeps to numbers. */
function hasColumn(interp: Interpreter, state: TableState, name: string): boolean {
  if (state.closed) return state.columns.has(name);
  return !state.dropped.has(name) && !(interp.textColumns.has(name) && state.ofNumbers === true);
}
