import type { Argument, Assign, Expr, FunctionDefinition, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  functionAround,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import type { RepairContext } from '../context.js';
import { changesIn } from '../divisions.js';
import { mayChangeArguments } from '../helper-calls.js';
import { assignedBetween, isKnownBefore, isOfOtherColumn, onlyLosesColumns } from './known-before.js';
import { lastAssigned } from './table-kind.js';

/** A column of a table by its name. */
interface PlainColumn {
  readonly frame: string;
  readonly name: string;
  readonly node: Expr & { type: 'subscript' };
}

/** Labels that decide the proportions: taken from their table where the script does so later. */
export function labelsBefore(
  context: RepairContext,
  labels: Expr,
  anchor: Stmt,
  split: Stmt,
): string | undefined {
  const { source, module } = context;
  const made = labels.type === 'name' ? assignedBetween(module, labels.id, anchor, split) : labels;
  const column = made === undefined ? undefined : plainColumn(made);
  if (made === undefined || column === undefined) return undefined;
  const { frame, name, node } = column;
  const watched = { name, lists: context.watchedLists };
  // What is done with the column belongs to the labels: texts are in another order than numbers.
  const after = source.slice(node.end, made.end);
  if (after.includes('\n')) return undefined;
  if (isKnownBefore(module, frame, anchor, split, watched)) return source.slice(node.start, made.end);
  // `frame["label"] = (frame["label"] == "Yes").astype(int)`: the labels are made of what they were, row by row.
  const mapping = mappingOf(context, column, anchor, split);
  if (mapping === undefined) return undefined;
  const isKnown =
    isKnownBefore(module, frame, anchor, mapping, watched) &&
    isKnownBefore(module, frame, mapping, split, watched, mapping.end);
  if (!isKnown) return undefined;
  const mapped = source.slice(mapping.value.start, mapping.value.end);
  return after === '' || mapping.value.type === 'call' ? `${mapped}${after}` : `(${mapped})${after}`;
}

/** The only line that makes the labels of themselves, value by value. */
function mappingOf(
  { module, source }: RepairContext,
  { frame, name }: PlainColumn,
  anchor: Stmt,
  split: Stmt,
): Assign | undefined {
  const changes = [...changesIn(module, anchor.end, split.start, frame)].filter(
    ({ index }) => index?.type === 'constant' && index.value === name,
  );
  const [only, ...others] = changes;
  const statement = only?.statement;
  if (statement?.type !== 'assign' || others.length > 0 || statement.suite !== anchor.suite) return undefined;
  const { value, targets } = statement;
  const isLabel = (part: Expr): boolean => {
    const column = part.type === 'subscript' ? plainColumn(part) : undefined;
    return column?.frame === frame && column.name === name;
  };
  const [target, other] = targets;
  if (
    target === undefined ||
    other !== undefined ||
    !isLabel(target) ||
    source.slice(value.start, value.end).includes('\n')
  )
    return undefined;
  let reads = 0;
  const isByValue = (part: Expr): boolean => {
    if (isLabel(part)) {
      reads += 1;
      return true;
    }
    if (part.type === 'compare') return part.operands.every(isByValue);
    if (part.type === 'call')
      return (
        part.callee.type === 'attribute' &&
        /^(astype|map|replace|fillna|eq|ne)$/.test(part.callee.name) &&
        isByValue(part.callee.object) &&
        part.args.every(({ value: one }) =>
          [...namesInExpression(one)].every(({ id }) => /^(int|float|bool)$/.test(id)),
        )
      );
    return part.type === 'constant';
  };
  return isByValue(value) && reads === 1 ? statement : undefined;
}

/**
 * The labels within a helper that gets the table whose column they are, as `df = add_statistics(df)`: the same column of the
 * helper's own table, which no line of the helper changes.
 */
export function labelsInHelper(
  context: RepairContext,
  labels: Expr,
  { anchor, entry, split }: { readonly anchor: Stmt; readonly entry: Stmt; readonly split: Stmt },
  table: string,
): string | undefined {
  const { source, module } = context;
  const helper = functionAround(anchor);
  const made = labels.type === 'name' ? assignedBetween(module, labels.id, entry, split) : labels;
  const column = made === undefined ? undefined : plainColumn(made);
  if (helper?.type !== 'function' || column === undefined || entry.type !== 'assign') return undefined;
  const [target, other] = entry.targets;
  const { value } = entry;
  if (target?.type !== 'name' || target.id !== column.frame || other !== undefined) return undefined;
  if (value.type !== 'call' || calleeName(value) !== helper.name) return undefined;
  const at = value.args.findIndex(
    (argument) =>
      argument.name === undefined && argument.value.type === 'name' && argument.value.id === column.frame,
  );
  const parameter = helper.params[at];
  if (at < 0 || parameter === undefined || value.args.some(({ star }) => star !== '')) return undefined;
  const watched = { name: column.name, lists: context.watchedLists };
  if (!isKnownBefore(module, column.frame, entry, split, watched, entry.end)) return undefined;
  if (!isCopyOf(context, table, parameter.name, helper, anchor)) return undefined;
  const label = `${table}${source.slice(column.node.object.end, made?.end)}`;
  if (label.includes('\n')) return undefined;
  return keepsColumn(context, helper, value, table, column.name) ? label : undefined;
}

/** Whether a variable of a helper is its parameter, or a copy of it. */
function isCopyOf(
  { module, source }: RepairContext,
  table: string,
  parameter: string,
  helper: FunctionDefinition,
  anchor: Stmt,
): boolean {
  const made = lastAssigned(module, table, helper.start, anchor.start);
  if (made === undefined) return table === parameter;
  return isCopied(source, made) && rootName(made) === parameter;
}

/** `frame.copy()` */
function isCopied(source: string, value: Expr): boolean {
  return /^\w+\.copy\(\)$/.test(source.slice(value.start, value.end).replaceAll(/\s/g, ''));
}

/** Methods of a whole table that may give a column other values. */
const REPLACES =
  /^(rename|assign|eval|replace|applymap|set_axis|clip|fillna|transform|apply|pipe|update|pop|insert)$/;

/** Whether a helper gives its table back, and no line of it gives this column of its tables other values. */
function keepsColumn(
  { module, watchedLists }: RepairContext,
  helper: FunctionDefinition,
  call: Expr & { type: 'call' },
  table: string,
  column: string,
): boolean {
  const { source } = module;
  const isTable = (value: Expr | undefined): boolean => value?.type === 'name' && value.id === table;
  const passed = new Map(
    helper.params.map(({ name }, at) => {
      return [name, call.args[at]?.name === undefined ? call.args[at]?.value : undefined] as const;
    }),
  );
  const namesOf = (list: Expr): readonly string[] | undefined => {
    const value = list.type === 'name' ? (passed.get(list.id) ?? list) : list;
    if (value.type === 'name') return watchedLists.get(value.id);
    if (value.type !== 'sequence') return undefined;
    const names = value.items.flatMap((item) =>
      item.type === 'constant' && typeof item.value === 'string' ? [item.value] : [],
    );
    return names.length === value.items.length ? names : undefined;
  };
  for (const statement of helper.body.statements.flatMap((outer) => [...statementsIn(outer)])) {
    if (/^(function|class|global|delete|augmented|try|with|while)$/.test(statement.type)) return false;
    if (statement.type === 'return' && !isTable(statement.value)) return false;
    for (const part of ownExpressions(statement).flatMap((own) => [...expressionsIn(own)])) {
      if (part.type !== 'call') continue;
      if (mayChangeArguments(module, part)) return false;
      if (part.callee.type !== 'attribute') continue;
      const { object, name } = part.callee;
      if (object.type === 'name' && REPLACES.test(name)) return false;
      const index = object.type === 'subscript' ? object.indices.at(-1) : undefined;
      const isInPlace = part.args.some((argument) => argument.name === 'inplace');
      if (
        isInPlace &&
        (index === undefined || !isOfOtherColumn(source, index, { name: column, lists: watchedLists }))
      )
        return false;
    }
    if (statement.type !== 'assign') continue;
    for (const target of statement.targets.flatMap((one) => (one.type === 'sequence' ? one.items : [one]))) {
      if (target.type !== 'subscript') {
        if (target.type !== 'name') return false;
        if (target.id === table && !isCopied(source, statement.value) && !onlyLosesColumns(statement, table))
          return false;
        continue;
      }
      const index = target.indices.at(-1);
      if (index === undefined || target.object.type !== 'name') return false;
      if (isOfOtherColumn(source, index, { name: column, lists: watchedLists })) continue;
      const loop = statement.suite.owner;
      const isTurn =
        loop?.type === 'for' &&
        index.type === 'name' &&
        loop.target.type === 'name' &&
        loop.target.id === index.id;
      const names = isTurn ? namesOf(loop.iterable) : undefined;
      if (names === undefined || names.includes(column)) return false;
    }
  }
  return true;
}

/** `frame["label"]`, with or without `.values` or `.astype(int)` after it. */
export function plainColumn(expression: Expr): PlainColumn | undefined {
  if (expression.type === 'attribute' && expression.name === 'values') return plainColumn(expression.object);
  if (expression.type === 'call' && expression.callee.type === 'attribute')
    return /^(to_numpy|copy|astype)$/.test(expression.callee.name) && expression.args.every(isNumeric)
      ? plainColumn(expression.callee.object)
      : undefined;
  if (expression.type !== 'subscript' || expression.object.type !== 'name') return undefined;
  const [index, other] = expression.indices;
  if (index?.type !== 'constant' || typeof index.value !== 'string' || other !== undefined) return undefined;
  return { frame: expression.object.id, name: index.value, node: expression };
}

/** Texts are in another order than numbers, and the split deals out one class after another. */
function isNumeric({ value }: Argument): boolean {
  return value.type === 'name' && /^(int|float|bool)$/.test(value.id);
}
