import type { Leak } from '../../findings/find-leaks.js';
import type { Argument, Call, Expr, Module, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  functionAround,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import { type Region, sameRows } from '../../values/region.js';
import { concatenatedItems } from '../concatenation.js';
import { freshName, type RepairContext } from '../context.js';
import { isOnlyLearnedByHelper, mentionsRows } from '../helper-calls.js';
import { dividedAgain } from './divided-again.js';
import { assignedBetween, assigns, isKnownBefore } from './known-before.js';
import { labelsBefore, labelsInHelper } from './labels-before.js';
import { mayMoveRows, rowChangeBetween } from './row-order.js';
import { lastAssigned } from './table-kind.js';

/** The division that a later `train_test_split` will make, said earlier: the positions of the training rows. */
export interface EarlierDivision {
  /** What takes these rows, after a frame or after an array. */
  readonly ofFrame: string;
  readonly ofArray: string;
  /** The line that makes them, to be before the anchor, after an import that the script has later. */
  readonly lines: readonly string[];
  /** The division of other tables with the same rows, as an expression. */
  readonly divide: (tables: readonly string[]) => string;
}

const OPTIONS = /^(test_size|train_size|random_state|shuffle|stratify)$/;

/**
 * The division of a later split for a table as it is at an earlier statement. It is the same where the seed is fixed
 * and no row moves between the two; a text says why it may not be.
 */
export function divideEarlier(
  context: RepairContext,
  leak: Leak,
  anchor: Stmt,
  table: string,
): EarlierDivision | string {
  const { source, module } = context;
  const split = leak.split;
  const call = split?.node;
  if (split === undefined || call?.type !== 'call' || calleeName(call) !== 'train_test_split')
    return 'the split is not in the block in a form that can be rewritten';
  const { statement } = split;
  if (statement.start < anchor.end || statement.type !== 'assign' || statement.value !== call)
    return 'the split does not come after the fit';
  const options = call.args.filter(({ name }) => name !== undefined);
  if (call.args.some(({ name, star }) => star !== '' || (name !== undefined && !OPTIONS.test(name))))
    return 'the split takes other arguments';
  const seed = options.find(({ name }) => name === 'random_state')?.value;
  const isInOrder = options.some(({ name, value }) => name === 'shuffle' && isFalse(value));
  if (!isInOrder && (seed === undefined || !isFixed(seed)))
    return 'the split has no fixed seed, so it cannot be made twice';
  const route = routeTo(module, anchor, statement);
  if (typeof route === 'string') return route;
  const again = dividedAgain(module, statement, call);
  if (again !== undefined)
    return `the table is divided once more in another way (line ${lineOf(source, again)}), and other rows are scored then`;

  const moved = call.args.find(({ name, value }) => name === undefined && mayMoveRows(module, value));
  if (moved !== undefined) return 'the split divides other rows, or rows in another order';

  const count = countOf(context, call, table, anchor, statement);
  if (count === undefined) return `\`${table}\` holds other rows than what is split`;
  for (const [index, [at, to]] of route.spans.entries()) {
    // The variables of the split's own function are watched; in a function on the way each may be the table.
    const isOfSplit = index === route.spans.length - 1;
    const isTable = (name: string): boolean => !isOfSplit || context.watched.has(name);
    // A helper that learns gives no rows, whatever it does to find out.
    const from =
      at === anchor.start && isOnlyLearnedByHelper(module, leak.node, mentionsRows(context.watchedEarlier))
        ? anchor.end
        : at;
    const change = rowChangeBetween(module, from, to, isTable);
    if (change !== undefined)
      return `rows change between the fit and the split (line ${lineOf(source, change)})`;
  }
  const texts: string[] = [];
  for (const option of options) {
    const text = optionBefore(context, option, anchor, statement, route.entry, table);
    if (text === undefined) return `\`${option.name}\` of the split is not known before the fit`;
    texts.push(`${option.name}=${text}`);
  }
  const [rows, rest] = [freshName(source, 'fit_rows'), freshName(source, 'rest_rows')];
  const callee = source.slice(call.callee.start, call.callee.end);
  const divide = (tables: readonly string[]): string => `${callee}(${[...tables, ...texts].join(', ')})`;
  const all = rowCount(module, table, anchor);
  const first = count === all ? '' : `[:${count}]`;
  return {
    ofFrame: `${first === '' ? '' : `.iloc${first}`}.iloc[${rows}]`,
    ofArray: `${first}[${rows}]`,
    lines: [...importBefore(module, call, anchor), `${rows}, ${rest} = ${divide([`range(${count})`])}`],
    divide,
  };
}

/** The import of the function that divides, where the script has it after the anchor. */
function importBefore(module: Module, { callee }: Call, anchor: Stmt): string[] {
  const root = rootName(callee);
  const imports = module.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .filter((statement) => statement.type === 'import')
    .filter(({ bindings }) => bindings.some(({ name }) => name === root));
  if (root === undefined || imports.some(({ start }) => start < anchor.start)) return [];
  const path = imports.flatMap(({ bindings }) => bindings).find(({ name }) => name === root)?.path;
  const [, from, name] = /^(.+)\.(\w+)$/.exec(path ?? '') ?? [];
  if (from === undefined || name === undefined || callee.type !== 'name') return [];
  return [`from ${from} import ${name}${name === root ? '' : ` as ${root}`}`];
}

function isFalse(value: Expr): boolean {
  return value.type === 'constant' && value.value === false;
}

function isFixed(seed: Expr): boolean {
  if (seed.type === 'constant') return typeof seed.value === 'number';
  return (seed.type === 'name' || seed.type === 'attribute') && /seed|state/i.test(lastWord(seed));
}

function lastWord(expression: Expr): string {
  return expression.type === 'name' ? expression.id : expression.type === 'attribute' ? expression.name : '';
}

function lineOf(source: string, { start }: Stmt): number {
  return source.slice(0, start).split('\n').length;
}

/** What may make a sparse matrix, which has no length. */
const MAY_BE_SPARSE = /^(?:fit_transform|transform|hstack|vstack|c[sc][rc]_matrix|coo_matrix)$/;

/** The number of rows of a table, as a text. */
function rowCount(module: Module, table: string, anchor: Stmt): string {
  const value = lastAssigned(module, table, 0, anchor.start);
  const isMade = value?.type === 'call' && MAY_BE_SPARSE.test(calleeName(value));
  return isMade ? `${table}.shape[0]` : `len(${table})`;
}

/** How many rows there are to divide, as a text: the table's own, or those of a first piece of it that is split. */
function countOf(
  context: RepairContext,
  call: Call,
  table: string,
  anchor: Stmt,
  split: Stmt,
): string | undefined {
  const divided = call.args.find(({ name }) => name === undefined)?.value;
  const root = divided === undefined ? undefined : rootName(divided);
  const [rows, later] = [context.watchedEarlier.get(table), context.watched.get(root ?? '')];
  if (root === undefined || rows === undefined || later === undefined) return undefined;
  if (sameRows(rows, later) && partsOfTable(context, table, anchor) === undefined)
    return rowCount(context.module, table, anchor);
  // Of two tables below each other, the rows of the split come first, and keep their positions.
  const [only, ...others] = later;
  if (only !== rows[0] || others.length > 0) return undefined;
  const piece = assignedBetween(context.module, root, anchor, split);
  const upper = piece === undefined || rootName(piece) !== table ? undefined : upperBound(piece);
  const first = firstTableOf(context, table, anchor, later);
  const counted = first === undefined ? undefined : rowCount(context.module, first, anchor);
  // A table that is made of neither of the two may have its rows in another order.
  const isOfThese = [...(piece === undefined ? [] : namesInExpression(piece))].every(
    ({ id }) => id === first || id === table || !context.watchedEarlier.has(id),
  );
  if (upper === undefined) return (piece === undefined ? root === first : isOfThese) ? counted : undefined;
  const names = [...namesInExpression(upper)];
  const isKnown = names.every(({ id }) => id === 'len' || isKnownBefore(context.module, id, anchor, split));
  return isKnown ? context.source.slice(upper.start, upper.end) : counted;
}

/** `both = pd.concat([train, test]).reset_index(drop=True)`: the tables that a table was put together of, one below the other. */
function partsOfTable(
  { module, source }: RepairContext,
  table: string,
  anchor: Stmt,
): { readonly first: Expr; readonly end: number } | undefined {
  let [name, before] = [table, anchor.start];
  for (let depth = 0; depth < 8; depth += 1) {
    let value = lastAssigned(module, name, 0, before);
    if (value === undefined) return undefined;
    const { start, end } = value;
    while (value.type === 'call' && concatenatedItems(source, value) === undefined && isMethod(value))
      value = value.callee.type === 'attribute' ? value.callee.object : value;
    const [first, ...others] = concatenatedItems(source, value) ?? [];
    if (first !== undefined && others.length > 0) return { first, end };
    const root = rootName(value);
    if (root === undefined) return undefined;
    [name, before] = [root, start];
  }
  return undefined;
}

function isMethod({ callee }: Call): boolean {
  return (
    callee.type === 'attribute' && !(callee.object.type === 'name' && /^(pd|np)$/.test(callee.object.id))
  );
}

/** The first of two tables below each other, if it has the rows of the split, in the same order. */
function firstTableOf(
  context: RepairContext,
  table: string,
  anchor: Stmt,
  later: readonly Region[],
): string | undefined {
  const parts = partsOfTable(context, table, anchor);
  const first = parts === undefined ? undefined : rootName(withoutMethods(parts.first));
  if (parts === undefined || first === undefined || mayMoveRows(context.module, parts.first))
    return undefined;
  if (!sameRows(context.watchedEarlier.get(first) ?? [], later)) return undefined;
  const change = rowChangeBetween(context.module, parts.end, anchor.start, () => true);
  return change === undefined ? first : undefined;
}

function withoutMethods(value: Expr): Expr {
  return value.type === 'call' && value.callee.type === 'attribute'
    ? withoutMethods(value.callee.object)
    : value;
}

/** The bound in `table[:n]`, `table.iloc[:n]`, `table.iloc[:n, :]`, each with or without a copy, and without some columns. */
function upperBound(piece: Expr): Expr | undefined {
  if (piece.type === 'call' && piece.callee.type === 'attribute')
    return keepsRows(piece) ? upperBound(piece.callee.object) : undefined;
  if (piece.type !== 'subscript') return undefined;
  const { object, indices } = piece;
  const isPlain = object.type === 'name' || (object.type === 'attribute' && object.name === 'iloc');
  const [rows] = indices;
  if (!isPlain || rows?.type !== 'slice' || rows.lower !== undefined || rows.step !== undefined)
    return undefined;
  return rows.upper;
}

/** `table[:n].drop(columns="label")`, `table[:n].copy()` */
function keepsRows(call: Call): boolean {
  const name = calleeName(call);
  if (name === 'drop')
    return (
      call.args.some((argument) => argument.name === 'columns') &&
      call.args.every((one) => one.name !== 'index')
    );
  return /^(copy|reset_index|astype)$/.test(name);
}

interface Route {
  /** What runs between the two locations. */
  readonly spans: readonly (readonly [number, number])[];
  /** The call in the scope of the split through which the fit is reached, where it is in another scope. */
  readonly entry: Stmt | undefined;
}

/** What runs between a statement and the split: the rest of its function, then what follows the one call of it. */
function routeTo(module: Module, anchor: Stmt, split: Stmt): Route | string {
  const spans: [number, number][] = [];
  let from: Stmt = anchor;
  const target = functionAround(split);
  for (let depth = 0; depth < 6; depth += 1) {
    const around = functionAround(from);
    if (around === target) {
      if (from.start > split.start) return 'the fit runs after the split';
      spans.push([depth > 0 ? from.end : from.start, split.start]);
      return { spans, entry: depth > 0 ? from : undefined };
    }
    if (around?.type !== 'function') return 'the split is in a function and the fit outside of it';
    const calls = callsOf(module, around.name);
    const [only] = calls;
    if (only === undefined || calls.length > 1 || !runsForOneTable(only, around.name))
      return `\`${around.name}\` is not called exactly once`;
    if (!isTakenAsItIs(only, around.name))
      return `what \`${around.name}\` gives is changed where it is called`;
    spans.push([depth > 0 ? from.end : from.start, around.end]);
    from = only;
  }
  return 'the fit is too deep in functions';
}

/** Whether a statement takes what a function gives, at most by the names of its columns, and does nothing else with it. */
function isTakenAsItIs(statement: Stmt, name: string): boolean {
  return ownExpressions(statement).every((own) =>
    [...expressionsIn(own)].every((part) => {
      const isAround = part.type === 'call' || (part.type === 'subscript' && part.indices.some(isOfRows));
      if (!isAround || (part.type === 'call' && calleeName(part) === name)) return true;
      return ![...expressionsIn(part.type === 'call' ? part : part.object)].some(
        (inner) => inner.type === 'call' && calleeName(inner) === name,
      );
    }),
  );
}

function isOfRows(index: Expr): boolean {
  return index.type !== 'constant' && index.type !== 'sequence';
}

/** Statements that call a function; nothing where it is handed over as a value. */
function callsOf(module: Module, name: string): Stmt[] {
  const found: Stmt[] = [];
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      for (const own of ownExpressions(statement)) {
        const parts = [...expressionsIn(own)];
        const callees = new Set(parts.flatMap((part) => (part.type === 'call' ? [part.callee] : [])));
        for (const part of parts) {
          const isNamed = (part.type === 'name' || part.type === 'attribute') && lastWord(part) === name;
          if (isNamed) found.push(...(callees.has(part) ? [statement] : [statement, statement]));
        }
      }
    }
  }
  return found;
}

/** In a loop over columns the same table is handed over every time; in another loop it may be another one. */
function runsForOneTable(call: Stmt, name: string): boolean {
  const [first] = [...ownExpressions(call)]
    .flatMap((own) => [...expressionsIn(own)])
    .flatMap((part) => (part.type === 'call' && calleeName(part) === name ? [part.args[0]?.value] : []));
  for (
    let owner = call.suite.owner;
    owner !== undefined && owner.type !== 'function';
    owner = owner.suite.owner
  ) {
    if (owner.type === 'while') return false;
    if (owner.type !== 'for') continue;
    const turns = new Set([...namesInExpression(owner.target)].map(({ id }) => id));
    if (first === undefined || [...namesInExpression(first)].some(({ id }) => turns.has(id))) return false;
  }
  return true;
}

/** The value of an option, said before the anchor. */
function optionBefore(
  context: RepairContext,
  { name, value }: Argument,
  anchor: Stmt,
  split: Stmt,
  entry: Stmt | undefined,
  table: string,
): string | undefined {
  const { source, module } = context;
  const text = source.slice(value.start, value.end);
  const names = [...namesInExpression(value)];
  if (names.length === 0) return text;
  if (entry !== undefined) {
    if (names.every(({ id }) => isModuleConstant(module, id, split, entry))) return text;
    return name === 'stratify' ? labelsInHelper(context, value, { anchor, entry, split }, table) : undefined;
  }
  if (names.every(({ id }) => isKnownBefore(module, id, anchor, split))) return text;
  if (name !== 'stratify') return undefined;
  return labelsBefore(context, value, anchor, split);
}

/** A variable that every function sees, assigned once, and no other variable of the split's function. */
function isModuleConstant(module: Module, id: string, split: Stmt, entry: Stmt): boolean {
  const scope = functionAround(split);
  if (scope?.type === 'function' && scope.params.some(({ name }) => name === id)) return false;
  let count = 0;
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      const isBound =
        assigns(statement, id) ||
        (statement.type === 'class' && statement.name === id) ||
        (statement.type === 'for' && rootName(statement.target) === id);
      if (!isBound) continue;
      count += 1;
      const isLater = functionAround(entry) === undefined && statement.start > entry.start;
      if (functionAround(statement) !== undefined || isLater) return false;
    }
  }
  return count === 1;
}
