import type { Expr, Stmt } from '../../syntax/ast.js';
import { namesInExpression, rootName } from '../../syntax/walk.js';
import { declined, edited, freshName, type RepairContext, type Rewrite } from '../context.js';
import { changesIn } from '../divisions.js';
import { readSelections } from '../split-parts.js';
import { NotSaid, Saying } from './computations-of-rows.js';
import { assignedBetween, isKnownBefore, onlyLosesColumns } from './known-before.js';
import { anchorOf, LEARNS } from './learn-on-later-split.js';
import { rowChangeBetween } from './row-order.js';

const NO_CONDITION = 'the rows are not divided by a condition that is known before the fit';

/**
 * What is computed over all rows of a frame before `train = frame[frame["date"] < cut]` is computed over the rows that fulfil
 * the condition, which is known before: the column stays as it is. All other lines stay.
 */
export function learnOnRowsOfLaterCondition(context: RepairContext): Rewrite {
  const anchor = anchorOf(context);
  const [leak] = context.leaks;
  if (anchor === undefined || leak === undefined) return declined('no leak in this block');
  if (context.leaks.some(({ kind }) => !LEARNS.has(kind) || kind === 'training-rows'))
    return declined('the block holds a leak that cannot be moved');
  const condition = conditionOf(context, anchor);
  if (condition === undefined) return declined(NO_CONDITION);
  const { source, module, watchedEarlier } = context;
  const tables = context.leaks.flatMap(({ node }) => [...namesInExpression(node)].map(({ id }) => id));
  if (tables.some((id) => id !== condition.table && watchedEarlier.has(id)))
    return declined('it learns from another table than the one that is divided');
  if (isReplacedOnTheWay(context, anchor, condition.table))
    return declined(`\`${condition.table}\` may have its rows under other labels before the last fit`);
  const rows = freshName(module.source, 'fit_rows');
  try {
    const saying = new Saying(context, leak, anchor, {
      ofFrame: `.loc[${rows}]`,
      ofArray: `[${rows}.to_numpy()]`,
    });
    const lines = [`${rows} = ${condition.text}`];
    return { text: edited(source, context.block, saying.withLines(saying.edits(), lines)) };
  } catch (error) {
    if (error instanceof NotSaid) return declined(error.message);
    throw error;
  }
}

/** Whether a table gets another value before the last of several fits: `merge` numbers its rows again. */
function isReplacedOnTheWay({ module, leaks }: RepairContext, anchor: Stmt, table: string): boolean {
  const last = Math.max(...leaks.map(({ statement }) => statement.start));
  const end = anchor.type === 'for' ? anchor.end : last;
  return [...changesIn(module, anchor.start, end, table)].some(({ index }) => index === undefined);
}

/** The condition of the training part of a later division, as it can be said before the anchor. */
function conditionOf(
  context: RepairContext,
  anchor: Stmt,
): { readonly table: string; readonly text: string } | undefined {
  const { source } = context;
  const [leak] = context.leaks;
  const { statements } = anchor.suite;
  const later = statements.slice(statements.indexOf(anchor) + 1);
  const split = leak === undefined ? undefined : readSelections(source, later, leak);
  const [part] = split?.parts ?? [];
  if (split === undefined || part === undefined || leak?.scoredNames.includes(part.train)) return undefined;
  const value = assignedTo(split.statements, part.train);
  const table = value === undefined ? undefined : rootName(value);
  const condition = value === undefined ? undefined : pickedBy(value);
  const first = split.statements[0] ?? split.statement;
  if (table === undefined || condition === undefined) return undefined;
  const text = saidBefore(context, condition, table, anchor, first);
  return text === undefined ? undefined : { table, text };
}

/** What a statement assigns to a variable, alone or beside others. */
function assignedTo(statements: readonly Stmt[], name: string): Expr | undefined {
  for (const statement of statements) {
    if (statement.type !== 'assign') continue;
    const [target] = statement.targets;
    if (target?.type === 'name' && target.id === name) return statement.value;
    if (target?.type !== 'sequence' || statement.value.type !== 'sequence') continue;
    const at = target.items.findIndex((item) => item.type === 'name' && item.id === name);
    if (at >= 0) return statement.value.items[at];
  }
  return undefined;
}

/** The condition of `frame[…]`, `frame.loc[…]`, each with or without a copy. */
function pickedBy(value: Expr): Expr | undefined {
  if (value.type === 'call' && value.callee.type === 'attribute')
    return /^(copy|reset_index)$/.test(value.callee.name) ? pickedBy(value.callee.object) : undefined;
  if (value.type !== 'subscript' || value.indices.length !== 1) return undefined;
  const { object } = value;
  const isPlain = object.type === 'name' || (object.type === 'attribute' && object.name === 'loc');
  return isPlain ? value.indices[0] : undefined;
}

/** A comparison of one column with something known, where the column is the same before; nothing otherwise. */
function saidBefore(
  context: RepairContext,
  condition: Expr,
  table: string,
  anchor: Stmt,
  split: Stmt,
): string | undefined {
  const { module, source, watchedLists } = context;
  if (condition.type !== 'compare' || condition.operands.length !== 2) return undefined;
  const [left, right] = condition.operands;
  const column = left === undefined ? undefined : columnOf(left, table);
  if (left === undefined || right === undefined || column === undefined) return undefined;
  const watched = { name: column, lists: watchedLists };
  if (!isKnownBefore(module, table, anchor, split, watched, anchor.start, keepsValues)) return undefined;
  const isKnown = (value: Expr): boolean =>
    [...namesInExpression(value)].every(({ id }) => id !== table && isKnownBefore(module, id, anchor, split));
  if (isKnown(right)) return source.slice(condition.start, condition.end);
  // `cut = frame["date"].max() - pd.Timedelta(weeks=6)`, of the same column.
  const made = right.type === 'name' ? assignedBetween(module, right.id, anchor, split) : undefined;
  // Fewer rows may have another maximum.
  const change = rowChangeBetween(module, anchor.start, split.start, (name) => name === table);
  if (change !== undefined || made === undefined || !isOfColumn(context, made, table, column, anchor))
    return undefined;
  const text = source.slice(made.start, made.end);
  return text.includes('\n') ? undefined : `${source.slice(condition.start, right.start)}${text}`;
}

/** Methods that leave a column of this name as it is, whatever they do to the rows and to other columns. */
const KEEPS_VALUES =
  /^(merge|join|sort_values|sort_index|reset_index|copy|dropna|drop|drop_duplicates|query)$/;

/** `frame = frame.merge(means, on="store", how="left")`: a column that is read by its name later has its values. */
function keepsValues(statement: Stmt, table: string): boolean {
  if (onlyLosesColumns(statement, table)) return true;
  const [target, other] = statement.type === 'assign' ? statement.targets : [];
  if (statement.type !== 'assign' || target?.type !== 'name' || other !== undefined) return false;
  let { value } = statement;
  while (value.type === 'call' && value.callee.type === 'attribute' && KEEPS_VALUES.test(value.callee.name))
    value = value.callee.object;
  if (value.type === 'subscript') value = value.object;
  return value.type === 'name' && value.id === table && value !== statement.value;
}

/** The name of a column in `frame["date"]`, `frame.date`, each with or without a part of a date. */
function columnOf(value: Expr, table: string): string | undefined {
  if (value.type === 'attribute' && value.object.type === 'attribute' && value.object.name === 'dt')
    return columnOf(value.object.object, table);
  if (value.type === 'attribute')
    return value.object.type === 'name' && value.object.id === table ? value.name : undefined;
  if (value.type !== 'subscript' || value.object.type !== 'name' || value.object.id !== table)
    return undefined;
  const [index, other] = value.indices;
  return index?.type === 'constant' && typeof index.value === 'string' && other === undefined
    ? index.value
    : undefined;
}

/** `frame["date"].max() - offset`: of this column and of what is known before. */
function isOfColumn(
  context: RepairContext,
  value: Expr,
  table: string,
  column: string,
  anchor: Stmt,
): boolean {
  if (value.type === 'binary')
    return [value.left, value.right].every((part) => isOfColumn(context, part, table, column, anchor));
  if (value.type === 'call' && value.callee.type === 'attribute' && value.args.length === 0)
    return /^(max|min)$/.test(value.callee.name) && columnOf(value.callee.object, table) === column;
  return [...namesInExpression(value)].every(
    ({ id }) => id !== table && isKnownBefore(context.module, id, anchor, value),
  );
}
