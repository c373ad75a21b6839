import type { Call, Expr, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesInExpression,
  ownExpressions,
  partsOf,
  rootName,
  statementsIn,
  suitesOf,
} from '../../syntax/walk.js';
import { countWork } from '../../values/work.js';
import { type ColumnResolver, type Columns, mayOverlap } from './columns.js';

/**
 * What a statement has to do with changed columns of a frame: nothing; it takes the frame over into another
 * (`into`), columns and all; or it computes with them.
 */
export type Dependence =
  | { readonly is: 'none' }
  | { readonly is: 'takes'; readonly into: string; readonly piece: boolean }
  | { readonly is: 'computes' };

const NONE: Dependence = { is: 'none' };
const COMPUTES: Dependence = { is: 'computes' };

/** Methods that give the same rows with the same values in the columns that stay. */
const TAKING = /^(drop|copy|select_dtypes|reset_index|join|merge|rename|astype|to_frame|assign)$/;
const HARMLESS_ATTRIBUTES =
  /^(height|width|columns|shape|index|dtypes|size|head|info|describe|isna|isnull|nunique)$/;

interface Occurrence {
  readonly node: Expr;
  readonly parents: readonly Expr[];
}

/** Where a name is in an expression, with the expressions around it, innermost first. */
function occurrencesOf(expression: Expr, id: string, parents: readonly Expr[] = []): Occurrence[] {
  countWork(1 + parents.length);
  if (parents.length > 60) return [];
  if (expression.type === 'name') return expression.id === id ? [{ node: expression, parents }] : [];
  return partsOf(expression).flatMap((part) => occurrencesOf(part, id, [expression, ...parents]));
}

export function dependenceOn(
  statement: Stmt,
  frame: string,
  columns: Columns,
  created: ReadonlySet<string>,
  resolver: ColumnResolver,
): Dependence {
  if (statement.type === 'expression' && isOutput(statement.value)) return NONE;
  let result = NONE;
  for (const inner of statementsIn(statement)) {
    for (const own of ownExpressions(inner)) {
      for (const occurrence of occurrencesOf(own, frame)) {
        const next = dependenceAt(occurrence, inner, columns, created, resolver);
        // What a loop or a branch takes over is not followed.
        if (next.is === 'computes' || (next.is === 'takes' && inner !== statement)) return COMPUTES;
        if (next.is === 'takes') result = next;
      }
    }
  }
  return result;
}

function isOutput(value: Expr): boolean {
  if (value.type !== 'call') return false;
  const root = rootName(value.callee);
  return root === 'print' || root === 'display';
}

function dependenceAt(
  { parents }: Occurrence,
  statement: Stmt,
  columns: Columns,
  created: ReadonlySet<string>,
  resolver: ColumnResolver,
): Dependence {
  const [parent, around] = parents;
  if (parent === undefined) return wholeFrame(statement, parents);
  if (parent.type === 'subscript') {
    const [index] = parent.indices;
    const selected = resolver.of(index, statement);
    const isSelection =
      index?.type === 'constant' ||
      index?.type === 'sequence' ||
      selected.names !== undefined ||
      selected.kind !== undefined;
    if (!isSelection) return rowPiece(parent, statement);
    if (!mayOverlap(selected, columns)) return NONE;
    if (index?.type === 'constant' && columns.names === undefined && isPlainTake(statement, parents))
      return NONE;
    const takes =
      index?.type !== 'constant' && [...(selected.names ?? [])].every((name) => !created.has(name));
    if (!takes) return COMPUTES;
    const dummies =
      around?.type === 'call' && calleeName(around) === 'get_dummies' && around.args.length === 1;
    return takenBy(statement, dummies && columns.kind === 'numeric' ? around : parent);
  }
  if (parent.type === 'attribute') {
    if (parent.name === 'columns' && created.size > 0) return COMPUTES;
    if (HARMLESS_ATTRIBUTES.test(parent.name)) return NONE;
    if (parent.name === 'groupby' && around?.type === 'call')
      return grouping(parents, columns, resolver, statement);
    if (parent.name === 'dropna' && around?.type === 'call') {
      const subset = around.args.find((argument) => argument.name === 'subset')?.value;
      const isDisjoint = subset !== undefined && !mayOverlap(resolver.of(subset, statement), columns);
      return isDisjoint ? takenBy(statement, around) : COMPUTES;
    }
    if (/^(iloc|loc)$/.test(parent.name) && around?.type === 'subscript') return rowPiece(around, statement);
    const isCall = around?.type === 'call' && around.callee === parent;
    if (!isCall) return columns.names !== undefined && !columns.names.has(parent.name) ? NONE : COMPUTES;
    if (parent.name === 'pop') {
      const [name] = constantNames(around.args[0]?.value) ?? [];
      return name !== undefined && columns.names?.has(name) !== true ? NONE : COMPUTES;
    }
    if (!TAKING.test(parent.name)) return COMPUTES;
    const whole = outermostTake(parents);
    const next = whole === undefined ? undefined : parents[parents.indexOf(whole) + 1];
    const asDummies = next?.type === 'call' && calleeName(next) === 'get_dummies';
    return asDummies ? dummiesOf(next, statement, columns, resolver) : takenBy(statement, whole);
  }
  if (parent.type === 'call') {
    const name = calleeName(parent);
    if (name === 'len') return NONE;
    if (name === 'get_dummies') return dummiesOf(parent, statement, columns, resolver);
  }
  return wholeFrame(statement, parents);
}

/** Dummies are made of the changed columns, or of others. */
function dummiesOf(call: Call, statement: Stmt, columns: Columns, resolver: ColumnResolver): Dependence {
  const listed = call.args.find((argument) => argument.name === 'columns')?.value;
  // Without a list it turns the columns of text and categories into dummies.
  const replaced: Columns =
    listed === undefined
      ? { names: undefined, kind: 'categorical' }
      : resolver.of(listed, withoutSteps(statement));
  return mayOverlap(replaced, columns) ? COMPUTES : takenBy(statement, call);
}

/** The position of a statement without what it does. */
function withoutSteps(statement: Stmt): Stmt {
  const { suite, start, end } = statement;
  return { type: 'global', names: [], suite, start, end };
}

/** `frame.groupby(key)[column]…`: the key and the column are all that is read. */
function grouping(
  parents: readonly Expr[],
  columns: Columns,
  resolver: ColumnResolver,
  statement: Stmt,
): Dependence {
  const [, call, selection] = parents;
  if (call?.type !== 'call' || selection?.type !== 'subscript') return COMPUTES;
  const read = [call.args[0]?.value, selection.indices[0]].map((index) =>
    resolver.of(index, withoutSteps(statement)),
  );
  return read.some((part) => mayOverlap(part, columns)) ? COMPUTES : NONE;
}

/** `copy = frame`, or the frame as one of several columns-beside-columns parts. */
function wholeFrame(statement: Stmt, parents: readonly Expr[]): Dependence {
  return parents.length === 0 ? takenBy(statement, undefined) : COMPUTES;
}

/** `frame.drop(…).copy()`: as far as the methods that take everything over go. */
function outermostTake(parents: readonly Expr[]): Expr | undefined {
  let outermost: Expr | undefined;
  for (const [at, parent] of parents.entries()) {
    const isMethod = parent.type === 'attribute' && TAKING.test(parent.name);
    const isCall = parent.type === 'call' && parent.callee === parents[at - 1];
    if (!isMethod && !isCall) break;
    outermost = parent;
  }
  return outermost;
}

/** `other = frame.drop(…)`: the whole value of an assignment to one name. */
function takenBy(statement: Stmt, whole: Expr | undefined, piece = false): Dependence {
  if (statement.type !== 'assign') return COMPUTES;
  const [target] = statement.targets;
  if (target?.type === 'name' && (whole === undefined || statement.value === whole))
    return { is: 'takes', into: target.id, piece };
  if (target?.type === 'sequence' && statement.value.type === 'sequence') {
    const at = whole === undefined ? -1 : statement.value.items.indexOf(whole);
    const name = target.items[at];
    if (name?.type === 'name') return { is: 'takes', into: name.id, piece };
  }
  return COMPUTES;
}

/** `frame.iloc[:n]`, `frame[:n]`: some of the rows. `frame[columns]`: some of the columns, by a variable. */
function rowPiece(subscript: Expr, statement: Stmt): Dependence {
  const rows = subscript.type === 'subscript' && subscript.indices[0]?.type !== 'name';
  return takenBy(statement, subscript, rows);
}

/** `y = frame['label']`, as it is or with another type. */
function isPlainTake(statement: Stmt, parents: readonly Expr[]): boolean {
  if (statement.type !== 'assign') return false;
  const allowed = (part: Expr): boolean =>
    part.type === 'subscript' ||
    (part.type === 'attribute' && /^(values|astype|to_numpy|copy)$/.test(part.name)) ||
    part.type === 'call' ||
    (part.type === 'sequence' && part === statement.value);
  return parents.every(allowed) && !statement.targets.some((target) => parents.includes(target));
}

function constantNames(index: Expr | undefined): readonly string[] | undefined {
  if (index?.type === 'constant') return typeof index.value === 'string' ? [index.value] : undefined;
  if (index?.type !== 'sequence') return undefined;
  const names = index.items.map((item) => (item.type === 'constant' ? item.value : undefined));
  return names.every((name): name is string => typeof name === 'string') ? names : undefined;
}

/** Whether an expression mentions one of these names. */
export function mentions(expression: Expr, names: { has(name: string): boolean }): boolean {
  return [...namesInExpression(expression)].some((name) => names.has(name.id));
}

/** A left merge keeps the rows of the frame. */
function isLeftMerge(call: Call): boolean {
  const how = call.args.find((argument) => argument.name === 'how')?.value;
  return how?.type === 'constant' && how.value === 'left';
}

/** Whether replaying a statement on each part by itself gives what it gave on the whole. */
export function worksRowByRow(statement: Stmt): boolean {
  const whole =
    /^(get_dummies|factorize|shift|rolling|diff|pct_change|expanding|ewm|cumsum|cummax|cummin|cumprod|cumcount|codes|sample|concat|nunique|unique|rank|flip|flipud|roll|reverse|reversed|permutation|argsort|take)$/;
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) {
      if (part.type === 'call' && calleeName(part) === 'merge' && !isLeftMerge(part)) return false;
      if (part.type === 'attribute' && whole.test(part.name)) return false;
      if (part.type === 'name' && whole.test(part.id)) return false;
      if (
        part.type === 'subscript' &&
        part.indices[0]?.type === 'slice' &&
        part.indices[0].step !== undefined
      )
        return false;
    }
  }
  return suitesOf(statement).every((suite) => suite.statements.every(worksRowByRow));
}
