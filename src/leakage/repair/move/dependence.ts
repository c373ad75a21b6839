import type { Expr, Stmt } from '../../syntax/ast.js';
import {
  expressionsIn,
  namesInExpression,
  ownExpressions,
  partsOf,
  rootName,
  suitesOf,
} from '../../syntax/walk.js';

/** Columns of a frame that a moved statement changes; `any` where their names are not known. */
export type ChangedColumns = ReadonlySet<string> | 'any';

/**
 * What a statement has to do with changed columns of a frame: nothing; it takes the frame over into another
 * (`into`), columns and all; or it computes with them.
 */
export type Dependence =
  | { readonly is: 'none' }
  | { readonly is: 'takes'; readonly into: string }
  | { readonly is: 'computes' };

const NONE: Dependence = { is: 'none' };
const COMPUTES: Dependence = { is: 'computes' };

/** Methods that give the same rows with the same values in the columns that stay. */
const TAKING = /^(drop|copy|select_dtypes|reset_index|join|merge|rename|astype|to_frame|assign)$/;
const HARMLESS_ATTRIBUTES = /^(columns|shape|index|dtypes|size|head|info|describe|isna|isnull|nunique)$/;

interface Place {
  readonly node: Expr;
  readonly parents: readonly Expr[];
}

/** Where a name stands in an expression, with the expressions around it, innermost first. */
function placesOf(expression: Expr, id: string, parents: readonly Expr[] = []): Place[] {
  if (parents.length > 60) return [];
  if (expression.type === 'name') return expression.id === id ? [{ node: expression, parents }] : [];
  return partsOf(expression).flatMap((part) => placesOf(part, id, [expression, ...parents]));
}

export function dependenceOn(
  statement: Stmt,
  frame: string,
  columns: ChangedColumns,
  created: ReadonlySet<string>,
  categories: boolean,
): Dependence {
  if (suitesOf(statement).length > 0) return COMPUTES;
  if (statement.type === 'expression' && isOutput(statement.value)) return NONE;
  let result = NONE;
  for (const own of ownExpressions(statement)) {
    for (const place of placesOf(own, frame)) {
      const next = dependenceAt(place, statement, columns, created, categories);
      if (next.is === 'computes') return next;
      if (next.is === 'takes') result = next;
    }
  }
  return result;
}

function isOutput(value: Expr): boolean {
  if (value.type !== 'call') return false;
  const root = rootName(value.callee);
  return root === 'print' || root === 'display' || root === 'plt' || root === 'sns';
}

function dependenceAt(
  { parents }: Place,
  statement: Stmt,
  columns: ChangedColumns,
  created: ReadonlySet<string>,
  categories: boolean,
): Dependence {
  const [parent, around] = parents;
  if (parent === undefined) return wholeFrame(statement, parents);
  if (parent.type === 'subscript') {
    const names = constantNames(parent.indices[0]);
    if (names === undefined) return rowPiece(parent, statement);
    const isChanged =
      columns === 'any' ? !isPlainTake(statement, parents) : names.some((name) => columns.has(name));
    if (!isChanged) return NONE;
    const takes = parent.indices[0]?.type === 'sequence' && names.every((name) => !created.has(name));
    return takes ? takenBy(statement, parent) : COMPUTES;
  }
  if (parent.type === 'attribute') {
    if (HARMLESS_ATTRIBUTES.test(parent.name)) return NONE;
    if (/^(iloc|loc)$/.test(parent.name) && around?.type === 'subscript') return rowPiece(around, statement);
    const isCall = around?.type === 'call' && around.callee === parent;
    if (!isCall) return columns !== 'any' && !columns.has(parent.name) ? NONE : COMPUTES;
    if (parent.name === 'pop') {
      const [name] = constantNames(around.args[0]?.value) ?? [];
      return name !== undefined && (columns === 'any' || !columns.has(name)) ? NONE : COMPUTES;
    }
    return TAKING.test(parent.name) ? takenBy(statement, outermostTake(parents.slice(1))) : COMPUTES;
  }
  if (parent.type === 'call') {
    const callee = parent.callee;
    const name = callee.type === 'attribute' ? callee.name : callee.type === 'name' ? callee.id : '';
    if (name === 'len') return NONE;
    if (name === 'get_dummies') {
      const listed = constantNames(parent.args.find((argument) => argument.name === 'columns')?.value);
      const apart =
        listed !== undefined && columns !== 'any' && !listed.some((column) => columns.has(column));
      return apart || !categories ? takenBy(statement, parent) : COMPUTES;
    }
  }
  return wholeFrame(statement, parents);
}

/** `copy = frame`, or the frame as one of several columns-beside-columns parts. */
function wholeFrame(statement: Stmt, parents: readonly Expr[]): Dependence {
  return parents.length === 0 ? takenBy(statement, undefined) : COMPUTES;
}

function outermostTake(parents: readonly Expr[]): Expr | undefined {
  let outermost: Expr | undefined;
  for (const parent of parents) {
    if (parent.type === 'call' || (parent.type === 'attribute' && TAKING.test(parent.name)))
      outermost = parent;
    else break;
  }
  return outermost;
}

/** `other = frame.drop(…)`: the whole value of an assignment to one name. */
function takenBy(statement: Stmt, whole: Expr | undefined): Dependence {
  if (statement.type !== 'assign') return COMPUTES;
  const [target] = statement.targets;
  if (target?.type === 'name' && (whole === undefined || statement.value === whole))
    return { is: 'takes', into: target.id };
  if (target?.type === 'sequence' && statement.value.type === 'sequence') {
    const at = whole === undefined ? -1 : statement.value.items.indexOf(whole);
    const name = target.items[at];
    if (name?.type === 'name') return { is: 'takes', into: name.id };
  }
  return COMPUTES;
}

/** `frame.iloc[:n]`, `frame[:n]`: some of the rows. `frame[columns]`: some of the columns, by a variable. */
function rowPiece(subscript: Expr, statement: Stmt): Dependence {
  return takenBy(statement, subscript);
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

export function constantNames(index: Expr | undefined): readonly string[] | undefined {
  if (index?.type === 'constant') return typeof index.value === 'string' ? [index.value] : undefined;
  if (index?.type !== 'sequence') return undefined;
  const names = index.items.map((item) => (item.type === 'constant' ? item.value : undefined));
  return names.every((name): name is string => typeof name === 'string') ? names : undefined;
}

/** Whether an expression mentions one of these names. */
export function mentions(expression: Expr, names: { has(name: string): boolean }): boolean {
  return [...namesInExpression(expression)].some((name) => names.has(name.id));
}

/** Whether replaying a statement on each part by itself gives what it gave on the whole. */
export function worksRowByRow(statement: Stmt): boolean {
  const whole =
    /^(get_dummies|factorize|shift|rolling|diff|pct_change|expanding|ewm|cumsum|cumcount|codes|sample|concat|merge|nunique|unique|rank)$/;
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) {
      if (part.type === 'attribute' && whole.test(part.name)) return false;
      if (part.type === 'name' && whole.test(part.id)) return false;
    }
  }
  return suitesOf(statement).every((suite) => suite.statements.every(worksRowByRow));
}
