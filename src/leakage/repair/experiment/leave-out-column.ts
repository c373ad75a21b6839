import type { Leak } from '../../findings/find-leaks.js';
import type { Call, Expr, Module, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, ownExpressions, rootName, statementsIn } from '../../syntax/walk.js';
import type { RepairContext, TextEdit } from '../context.js';
import type { Mending } from './mend-experiment.js';

/** The number of features written out: a layer of a network, or rows that are typed in. */
const NUMBERED = /\binput_(dim|shape)\s*=|\bInput\(|\bLinear\(\s*\d|\[\[\s*-?\d/;

/**
 * A feature that says what the label is (`price_per_area` of a `price`) is left out: of the one list that names the features, or
 * by the one line that drops the label to make them.
 */
export function leaveOutColumn(context: RepairContext, leak: Leak): Mending {
  const column = /^column `(.+)`$/.exec(leak.subject)?.[1];
  return column === undefined
    ? { declined: 'which column says what the label is has no name' }
    : leaveOut(context, leak, column);
}

/** A column that a value of a later row makes is left out in the same way: no other value is that feature. */
export function leaveOutLaterValue(context: RepairContext, leak: Leak): Mending {
  const column = columnOfLaterValue(leak);
  return column === undefined
    ? { declined: 'the column of values of later rows has no name' }
    : leaveOut(context, leak, column);
}

/** The column that a statement makes of `shift(-1)`. */
export function columnOfLaterValue({ kind, node, statement }: Leak): string | undefined {
  if (kind !== 'future-values' || statement.type !== 'assign' || statement.targets.length > 1)
    return undefined;
  const [target] = statement.targets;
  const [index, ...others] = target?.type === 'subscript' ? target.indices : [];
  const isColumn = target?.type === 'subscript' && target.object.type === 'name' && others.length === 0;
  const isShift = node.type === 'call' && calleeName(node) === 'shift';
  return isShift && isColumn && index?.type === 'constant' && typeof index.value === 'string'
    ? index.value
    : undefined;
}

function leaveOut({ module, source }: RepairContext, leak: Leak, column: string): Mending {
  if (NUMBERED.test(source)) return { declined: 'the script says how many features there are' };
  const lists = listsThatName(module, column);
  const [list, ...others] = lists;
  if (others.length > 0) return { declined: `\`${column}\` is in more than one list of columns` };
  const edits = list === undefined ? unnamed(module, source, leak, column) : without(list, column);
  return edits.length === 0
    ? { declined: 'which columns are features is a decision about the experiment' }
    : { edits };
}

function* statementsOf(module: Module): Generator<Stmt> {
  for (const outer of module.body.statements) yield* statementsIn(outer);
}

function partsIn(statement: Stmt): Expr[] {
  return ownExpressions(statement).flatMap((own) => [...expressionsIn(own)]);
}

type List = Expr & { type: 'sequence' };

/** Lists of names that are assigned, or by which a table is assigned, and that have the column. */
function listsThatName(module: Module, column: string): readonly List[] {
  const found: List[] = [];
  for (const statement of statementsOf(module)) {
    if (statement.type !== 'assign') continue;
    const parts = partsIn(statement);
    const notFeatures = parts.filter(
      (part): part is Call => part.type === 'call' && /^(drop|groupby|sort_values)$/.test(calleeName(part)),
    );
    for (const part of parts) {
      if (part.type !== 'sequence' || part.items.length < 2) continue;
      const isNamed = part.items.some((item) => item.type === 'constant' && item.value === column);
      const areNames = part.items.every((item) => item.type === 'constant' && typeof item.value === 'string');
      const isOther = notFeatures.some(({ start, end }) => start <= part.start && part.end <= end);
      if (isNamed && areNames && !isOther) found.push(part);
    }
  }
  return found;
}

/** A list without one of its names. */
function without({ items }: List, column: string): TextEdit[] {
  const at = items.findIndex((item) => item.type === 'constant' && item.value === column);
  const [before, item, after] = [items[at - 1], items[at], items[at + 1]];
  if (item === undefined) return [];
  if (after !== undefined) return [{ start: item.start, end: after.start, text: '' }];
  return before === undefined ? [] : [{ start: before.end, end: item.end, text: '' }];
}

/** The features are all columns but those that are dropped, or that a comprehension leaves out. */
function unnamed(module: Module, source: string, leak: Leak, column: string): TextEdit[] {
  const dropped = droppedBesides(module, source, leak, column);
  const left = leftOutBesides(module, source, leak, column);
  return dropped.length > 0 && left.length > 0 ? [] : [...dropped, ...left];
}

/** `[c for c in frame.columns if c != "price"]` leaves one column more out. */
function leftOutBesides(module: Module, source: string, leak: Leak, column: string): TextEdit[] {
  const all = [...statementsOf(module)]
    .filter((statement) => statement.start > leak.statement.end)
    .flatMap((statement) => partsIn(statement))
    .flatMap((part) => (part.type === 'comprehension' ? [part] : []));
  const [only, ...others] = all.filter(
    ({ clauses: [clause] }) => clause?.iterable.type === 'attribute' && clause.iterable.name === 'columns',
  );
  const [clause, ...more] = only?.clauses ?? [];
  const [condition, ...further] = clause?.conditions ?? [];
  if (only === undefined || others.length + more.length + further.length > 0) return [];
  if (clause?.target.type !== 'name' || only.element.type !== 'name' || condition?.type !== 'compare')
    return [];
  const [one, many] = condition.operands;
  const [operator = ''] = condition.operators;
  if (condition.operands.length !== 2 || one?.type !== 'name' || many === undefined) return [];
  const quote = source.slice(many.start, many.end).includes("'") ? "'" : '"';
  const name = `${quote}${column}${quote}`;
  if (operator === '!=' && many.type === 'constant')
    return [{ start: many.end, end: many.end, text: ` and ${one.id} != ${name}` }];
  const last = many.type === 'sequence' ? many.items.at(-1) : undefined;
  return /^not\s+in$/.test(operator) && last?.type === 'constant'
    ? [{ start: last.end, end: last.end, text: `, ${name}` }]
    : [];
}

/** `X = frame.drop(columns=["price"])` drops one column more. */
function droppedBesides(module: Module, source: string, leak: Leak, column: string): TextEdit[] {
  const calls: Call[] = [];
  for (const statement of statementsOf(module)) {
    if (statement.type !== 'assign' || statement.end <= leak.statement.start) continue;
    const targets = new Set(statement.targets.flatMap((target) => rootName(target) ?? []));
    for (const part of partsIn(statement)) {
      const isDrop = part.type === 'call' && calleeName(part) === 'drop';
      // A table that loses columns and keeps its name is not yet the one of the features.
      if (isDrop && !targets.has(rootName(part.callee) ?? '')) calls.push(part);
    }
  }
  const [call, ...others] = calls;
  if (call === undefined || others.length > 0) return [];
  const names = droppedNames(call);
  if (names === undefined) return [];
  const made = names.type === 'name' ? madeOnce(module, names.id) : names;
  if (made === undefined) return [];
  const quote = source.slice(made.start, made.end).includes("'") ? "'" : '"';
  if (made.type === 'constant')
    return [{ ...spanOf(made), text: `[${source.slice(made.start, made.end)}, ${quote}${column}${quote}]` }];
  const last = made.type === 'sequence' ? made.items.at(-1) : undefined;
  return last === undefined ? [] : [{ start: last.end, end: last.end, text: `, ${quote}${column}${quote}` }];
}

/** What a call drops, if it drops columns whose names are written out. */
function droppedNames(call: Call): Expr | undefined {
  const option = (wanted: string): Expr | undefined => call.args.find(({ name }) => name === wanted)?.value;
  if (option('index') !== undefined || option('inplace') !== undefined) return undefined;
  const axis = option('axis');
  const isColumns = axis?.type === 'constant' && (axis.value === 1 || axis.value === 'columns');
  const [first] = call.args;
  const names = option('columns') ?? (isColumns && first?.name === undefined ? first?.value : undefined);
  return names?.type === 'constant' || names?.type === 'sequence' || names?.type === 'name'
    ? names
    : undefined;
}

/** The list that is the only value of a variable. */
function madeOnce(module: Module, name: string): List | undefined {
  const makers = [...statementsOf(module)].filter(
    (statement) =>
      (statement.type === 'assign' && statement.targets.some((target) => rootName(target) === name)) ||
      (statement.type === 'augmented' && rootName(statement.target) === name),
  );
  const [only, ...others] = makers;
  const isList = only?.type === 'assign' && only.value.type === 'sequence' && others.length === 0;
  return isList && only.value.type === 'sequence' ? only.value : undefined;
}

function spanOf({ start, end }: Expr) {
  return { start, end };
}
