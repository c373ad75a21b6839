import type { Call, Expr, FunctionDefinition, Module, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, ownExpressions, rootName, statementsIn } from '../../syntax/walk.js';
import { lastAssigned } from './table-kind.js';

/** Methods after which a table has other rows, or its rows in another order. */
const CHANGING =
  /^(sort_values|sort_index|sort|sample|drop_duplicates|dropna|query|filter|explode|append|reindex|nlargest|nsmallest|melt|stack|unstack|pivot|pivot_table|resample|shuffle|permutation|fit_resample|head|tail)$/;

/** What gives the rows of a table in another order, or some of them, where the result is a table of its own. */
const REORDERS =
  /^(take|flip|flipud|roll|rot90|reverse|reversed|sorted|argsort|unique|truncate|nth|combine_first|between_time|at_time|asfreq|swaplevel|partition|lexsort)$/;

/**
 * A line between two offsets after which a table may have other rows or another order, looking into the functions that
 * are called on the way; nothing where every table keeps its rows and their order.
 */
export function rowChangeBetween(
  module: Module,
  start: number,
  end: number,
  isTable: (name: string) => boolean,
): Stmt | undefined {
  const seen = new Set<FunctionDefinition>();
  const open: { from: number; to: number; within: readonly Stmt[] }[] = [
    { from: start, to: end, within: module.body.statements },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { from, to } = next;
    for (const statement of statementsOutsideFunctions(next.within, from, to)) {
      if (statement.start < from || statement.end > to) continue;
      const isCalled = next.within !== module.body.statements;
      if (changesRows(module, statement) && (isCalled || storesTable(statement, isTable))) return statement;
      for (const called of functionsCalled(module, statement)) {
        if (seen.has(called)) continue;
        seen.add(called);
        open.push({ from: called.start, to: called.end, within: called.body.statements });
      }
    }
  }
  return undefined;
}

/** Statements between two offsets, without the bodies of functions that are only defined there. */
function* statementsOutsideFunctions(within: readonly Stmt[], from: number, to: number): Generator<Stmt> {
  for (const outer of within) {
    const holdsPosition = outer.start < from && outer.end > from;
    if ((outer.type === 'function' || outer.type === 'class') && !holdsPosition) continue;
    for (const statement of statementsIn(outer)) {
      if (statement.start >= from && statement.end <= to) yield statement;
    }
  }
}

/** Whether what a statement gives is kept in a variable that holds rows. */
function storesTable(statement: Stmt, isTable: (name: string) => boolean): boolean {
  if (statement.type !== 'assign') return true;
  return statement.targets
    .flatMap((target) => (target.type === 'sequence' ? target.items : [target]))
    .some((target) => isTable(rootName(target) ?? ''));
}

function changesRows(module: Module, statement: Stmt): boolean {
  const isStored =
    statement.type === 'assign' ||
    statement.type === 'augmented' ||
    statement.type === 'return' ||
    (statement.type === 'expression' && isInPlace(statement.value));
  if (!isStored) return false;
  if (statement.type === 'assign' && statement.targets.some(({ type }) => type !== 'subscript')) {
    const values = statement.value.type === 'sequence' ? statement.value.items : [statement.value];
    if (values.some(movesRows)) return true;
  }
  if (statement.type === 'return' && statement.value !== undefined && movesRows(statement.value)) return true;
  return ownExpressions(statement).some((own) => callsForOtherRows(module, own));
}

/** Whether an expression gives other rows than those of the tables in it, or gives them in another order. */
export function mayMoveRows(module: Module, value: Expr): boolean {
  return movesRows(value) || callsForOtherRows(module, value);
}

function callsForOtherRows(module: Module, whole: Expr): boolean {
  for (const part of expressionsIn(whole)) {
    if (part.type !== 'call') continue;
    const name = calleeName(part);
    const isAcross = (name === 'reindex' && isOfColumns(part)) || (name === 'filter' && picksColumns(part));
    if (CHANGING.test(name) && !isAcross) return true;
    if (/^(concat|vstack|concatenate|r_)$/.test(name) && !isSideBySide(part)) return true;
    if (name === 'merge' && !(isLeft(part) && hasKeysOnce(module, part))) return true;
    if (name === 'join' && mayJoinOtherRows(part)) return true;
    if (name === 'drop' && dropsRows(part)) return true;
  }
  return false;
}

/** `frame[frame["a"] > 0]`, `frame.iloc[::-1]`, `np.flip(frame.values, axis=0)` */
function movesRows(value: Expr): boolean {
  if (picksRows(value)) return true;
  return [...expressionsIn(value)].some(
    (part) =>
      (part.type === 'call' && REORDERS.test(calleeName(part))) ||
      (part.type === 'subscript' &&
        ((part.indices[0]?.type === 'slice' && part.indices[0].step !== undefined) || isByVariable(part))),
  );
}

/** `frame.loc[order, columns]`: rows by labels or positions that have a name. */
function isByVariable({ object, indices }: Expr & { type: 'subscript' }): boolean {
  const [rows] = indices;
  return (
    object.type === 'attribute' &&
    /^i?loc$/.test(object.name) &&
    rows !== undefined &&
    /^(name|attribute|subscript)$/.test(rows.type)
  );
}

/** `frame[frame["a"] > 0]`, `frame.loc[~mask].copy()`: rows by a condition, not columns by their names. */
function picksRows(value: Expr): boolean {
  if (value.type === 'attribute') return picksRows(value.object);
  if (value.type === 'call') return value.callee.type === 'attribute' && picksRows(value.callee.object);
  if (value.type !== 'subscript') return false;
  const [index] = value.indices;
  const isCondition =
    index?.type === 'compare' ||
    index?.type === 'unary' ||
    (index?.type === 'binary' && index.operator !== '+') ||
    (index?.type === 'call' && !/^(list|sorted|tuple)$/.test(calleeName(index)));
  return isCondition || picksRows(value.object);
}

function isInPlace(value: Expr): boolean {
  if (value.type !== 'call') return false;
  return calleeName(value) === 'shuffle' || value.args.some(({ name }) => name === 'inplace');
}

function isSideBySide(call: Call): boolean {
  return call.args.some(
    ({ name, value }) =>
      name === 'axis' && value.type === 'constant' && /^(1|columns)$/.test(`${value.value}`),
  );
}

function isLeft(call: Call): boolean {
  return call.args.some(
    ({ name, value }) => name === 'how' && value.type === 'constant' && value.value === 'left',
  );
}

/** What gives a table with one row for each key. */
const ONE_ROW_EACH = /^(groupby|group_by|drop_duplicates|value_counts|pivot_table|unique)$/;

/** Whether the table that is merged has each key once, as far as the script shows: a key that repeats repeats rows. */
function hasKeysOnce(module: Module, call: Call): boolean {
  const isChecked = call.args.some(
    ({ name, value }) =>
      name === 'validate' &&
      value.type === 'constant' &&
      /^(m:1|1:1|many_to_one|one_to_one)$/.test(`${value.value}`),
  );
  if (isChecked) return true;
  const isFunction = /^(pd|pandas)$/.test(rootName(call.callee) ?? '');
  const right = call.args.find(({ name }) => name === 'right') ?? call.args[isFunction ? 1 : 0];
  return right !== undefined && hasOneRowEach(module, right.value, 0);
}

function hasOneRowEach(module: Module, table: Expr, depth: number): boolean {
  const isMade = [...expressionsIn(table)].some(
    (part) => part.type === 'call' && ONE_ROW_EACH.test(calleeName(part)),
  );
  if (isMade) return true;
  const root = rootName(table);
  const made = root === undefined || depth > 3 ? undefined : lastAssigned(module, root, 0, table.start);
  return made !== undefined && hasOneRowEach(module, made, depth + 1);
}

/** `frame.join(other, how="inner")`; a join from the left, which is the default, keeps the rows. */
function mayJoinOtherRows(call: Call): boolean {
  return call.args.some(
    ({ name, value }) => name === 'how' && !(value.type === 'constant' && value.value === 'left'),
  );
}

/** `frame.reindex(columns=other.columns, fill_value=0)`: other columns, the same rows. */
function isOfColumns(call: Call): boolean {
  return call.args.every(({ name }) => name === 'columns' || name === 'fill_value');
}

/** `frame.filter(regex="_Yes$")`: some columns of all rows. */
function picksColumns(call: Call): boolean {
  const areNamed =
    call.args.length > 0 && call.args.every(({ name }) => /^(regex|like|items|axis)$/.test(name ?? ''));
  const axis = call.args.find(({ name }) => name === 'axis')?.value;
  return areNamed && (axis === undefined || isSideBySide(call));
}

/** `frame.drop(frame[...].index)` and `frame.drop(index=…)`, not `frame.drop("column", axis=1)`. */
function dropsRows(call: Call): boolean {
  const isColumns = call.args.some(({ name }) => name === 'columns' || name === 'axis');
  return call.args.some(({ name }) => name === 'index') || (!isColumns && call.args.length > 0);
}

function* functionsCalled(module: Module, statement: Stmt): Generator<FunctionDefinition> {
  const called = new Set<string>();
  for (const own of ownExpressions(statement)) {
    // A function may also be handed over, as in `frame.pipe(clean)`.
    for (const part of expressionsIn(own)) {
      if (part.type === 'name') called.add(part.id);
      if (part.type === 'attribute') called.add(part.name);
    }
  }
  if (called.size === 0) return;
  for (const outer of module.body.statements) {
    if (outer.type !== 'function' && outer.type !== 'class') continue;
    for (const inner of statementsIn(outer)) {
      if (inner.type === 'function' && called.has(inner.name)) yield inner;
    }
  }
}
