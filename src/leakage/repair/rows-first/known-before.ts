import type { Expr, Module, Stmt } from '../../syntax/ast.js';
import { expressionsIn, functionAround, ownExpressions, rootName, statementsIn } from '../../syntax/walk.js';
import { changesIn, isChangedBetween } from '../divisions.js';
import { mayChangeArguments } from '../helper-calls.js';
import { nameOf } from '../move/group-transform.js';

/** The only value that a variable gets between two statements, in the suite of the first. */
export function assignedBetween(module: Module, name: string, anchor: Stmt, split: Stmt): Expr | undefined {
  const values: Expr[] = [];
  for (const statement of anchor.suite.statements) {
    if (statement.type !== 'assign' || statement.start < anchor.start || statement.end > split.start)
      continue;
    const [target] = statement.targets;
    if (target?.type === 'name' && target.id === name) values.push(statement.value);
    if (target?.type !== 'sequence' || statement.value.type !== 'sequence') continue;
    const at = target.items.findIndex((item) => item.type === 'name' && item.id === name);
    const value = statement.value.items[at];
    if (value !== undefined) values.push(value);
  }
  const isChanged = assignments(module, name, anchor.start, split.start) !== values.length;
  return values.length === 1 && !isChanged ? values[0] : undefined;
}

function assignments(module: Module, name: string, from: number, to: number): number {
  let count = 0;
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (statement.start < from || statement.end > to || statement.type !== 'assign') continue;
      for (const target of statement.targets.flatMap((one) => (one.type === 'sequence' ? one.items : [one])))
        if (rootName(target) === name) count += 1;
    }
  }
  return count;
}

/** Whether a variable gets one value between two offsets; that its columns change later does not count. */
export function isMadeOnce(module: Module, name: string, from: number, to: number): boolean {
  const made = module.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .filter(({ start, end }) => start >= from && end <= to)
    .filter((statement) => assigns(statement, name));
  return made.length === 1;
}

/**
 * Whether a variable holds before the anchor what it holds at the split; of a table, one column of it.
 * @param from where changes of this column begin to count
 * @param keeps whether a line that gives the table another value leaves the column as it is
 */
export function isKnownBefore(
  module: Module,
  id: string,
  anchor: Stmt,
  split: Pick<Stmt, 'start'>,
  column?: { readonly name: string; readonly lists: ReadonlyMap<string, readonly string[]> },
  from = anchor.start,
  keeps: (statement: Stmt, table: string) => boolean = onlyLosesColumns,
): boolean {
  if (!isAssignedBefore(module, id, anchor)) return false;
  if (column === undefined) return !isChangedBetween(module, anchor.start, split.start, id);
  for (const { statement, index } of changesIn(module, from, split.start, id)) {
    const isOther =
      index === undefined
        ? keeps(statement, id)
        : isOfOtherColumn(module.source, index, column) ||
          isInLoopOverOthers(module, statement, index, column.name);
    // Where all columns are filled, the labels that decide the proportions have no gaps.
    const isFill = index?.type !== 'constant' && isOnlyFilled(module.source, statement);
    if (!isOther && !isFill) return false;
  }
  return !isHandedOn(module, id, from, split.start);
}

/** `for name in ["a", "b"]: frame[name] = …`: none of the columns of the loop is this one. */
function isInLoopOverOthers(module: Module, statement: Stmt, index: Expr, column: string): boolean {
  const names = index.type === 'name' ? nameOf(module, statement, index)?.values : undefined;
  return names !== undefined && !names.includes(column);
}

/** `frame = frame.fillna(0)`, `frame[columns] = frame[columns].fillna(0)`, `frame.fillna(0, inplace=True)` */
function isOnlyFilled(source: string, statement: Stmt): boolean {
  const value = statement.type === 'assign' || statement.type === 'expression' ? statement.value : undefined;
  if (value?.type !== 'call' || value.callee.type !== 'attribute' || value.callee.name !== 'fillna')
    return false;
  if (statement.type !== 'assign') return true;
  const [target, other] = statement.targets;
  const text = (part: Expr): string => source.slice(part.start, part.end);
  return target !== undefined && other === undefined && text(target) === text(value.callee.object);
}

/** Whether a line between two offsets hands a variable to a function of the script that may change it. */
function isHandedOn(module: Module, id: string, from: number, to: number): boolean {
  return module.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .filter(({ start, end }) => start >= from && end <= to)
    .flatMap((statement) => ownExpressions(statement).flatMap((own) => [...expressionsIn(own)]))
    .some((part) => part.type === 'call' && mayChangeArguments(module, part, id));
}

/** Whether an index surely names other columns than this one. */
export function isOfOtherColumn(
  source: string,
  index: Expr,
  { name, lists }: { readonly name: string; readonly lists: ReadonlyMap<string, readonly string[]> },
): boolean {
  return isAnotherColumn(source, index, name) || isOfOtherColumns(index, name, lists);
}

/**
 * `frame = frame.drop(columns=…)`, `frame = pd.get_dummies(frame, …)`: columns are left out or replaced by ones of another name.
 * A column that a later line reads by its name is as it was.
 */
export function onlyLosesColumns(statement: Stmt, table: string): boolean {
  const [target, other] = statement.type === 'assign' ? statement.targets : [];
  const value = statement.type === 'assign' || statement.type === 'expression' ? statement.value : undefined;
  if (value?.type !== 'call' || value.callee.type !== 'attribute') return false;
  if (statement.type === 'assign' && (target?.type !== 'name' || target.id !== table || other !== undefined))
    return false;
  const { name, object } = value.callee;
  const isOf = (part: Expr | undefined): boolean => part?.type === 'name' && part.id === table;
  if (name === 'get_dummies') return isOf(value.args[0]?.value) && value.args[0]?.name === undefined;
  const isOfColumns = value.args.some(
    (argument) =>
      argument.name === 'columns' ||
      (argument.name === 'axis' &&
        argument.value.type === 'constant' &&
        /^(1|columns)$/.test(`${argument.value.value}`)),
  );
  return (
    name === 'drop' && isOf(object) && isOfColumns && value.args.every(({ name: one }) => one !== 'index')
  );
}

/** `frame[columns]`, where the variable holds a list of columns without this one. */
function isOfOtherColumns(
  index: Expr,
  column: string,
  lists: ReadonlyMap<string, readonly string[]>,
): boolean {
  const names = index.type === 'name' ? lists.get(index.id) : undefined;
  return names !== undefined && names.length > 0 && !names.includes(column);
}

/** Whether an index surely names another column: by a constant, or by a part of the name that is one. */
function isAnotherColumn(source: string, index: Expr, column: string): boolean {
  if (index.type === 'constant') return index.value !== column;
  if (index.type === 'sequence') return index.items.every((item) => isAnotherColumn(source, item, column));
  if (index.type === 'binary' && index.operator === '+')
    return [index.left, index.right].some(
      (part) => part.type === 'constant' && typeof part.value === 'string' && !column.includes(part.value),
    );
  if (index.type !== 'formatted') return false;
  const text = source.slice(index.start, index.end).replace(/^[a-zA-Z]*(['"])(.*)\1$/s, '$2');
  return text.split(/\{[^{}]*\}/).some((part) => !column.includes(part));
}

function isAssignedBefore(module: Module, id: string, anchor: Stmt): boolean {
  const scope = functionAround(anchor);
  if (scope?.type === 'function' && scope.params.some(({ name }) => name === id)) return true;
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (statement.start >= anchor.start) continue;
      const around = functionAround(statement);
      if (around !== undefined && around !== scope) continue;
      if (statement.type === 'import' && statement.bindings.some(({ name }) => name === id)) return true;
      if (statement.type !== 'assign' && statement.type !== 'class') continue;
      if (statement.type === 'class' ? statement.name === id : assigns(statement, id)) return true;
    }
  }
  return false;
}

export function assigns(statement: Stmt, id: string): boolean {
  if (statement.type !== 'assign') return false;
  return statement.targets
    .flatMap((target) => (target.type === 'sequence' ? target.items : [target]))
    .some((target) => target.type === 'name' && target.id === id);
}
