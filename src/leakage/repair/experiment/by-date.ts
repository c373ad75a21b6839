import type { Call, Expr, Module, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  functionAround,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import type { RepairContext, TextEdit } from '../context.js';
import { tableKind } from '../rows-first/table-kind.js';
import { dateColumnOf } from './date-column.js';

/** What makes an array of a table, whose rows are in the order that the table has then. */
const MAKES_ARRAY = /\.values\b|\.(to_numpy|tolist)\(|\b(np|numpy)\.(array|asarray)\(/;
const COLUMNS = /^(name|constant|sequence)$/;

/** A table that features and labels are taken of, and the first statement that takes them. */
interface Divided {
  readonly table: string;
  readonly first: Stmt;
}

/**
 * Rows of several series are put in the order of their dates before they are divided: then those that come first are trained on, of all
 * series, and the last ones are scored. Nothing where the rows are not all those of one table that has one column of dates.
 */
export function sortedByDate(context: RepairContext, division: Stmt): TextEdit | undefined {
  const { module, source, lineEnding } = context;
  const divided = dividedTable(module, division);
  if (divided === undefined) return undefined;
  const { table, first } = divided;
  const scope = functionAround(division);
  if (functionAround(first) !== scope || !isBound(module, table, first)) return undefined;
  const date = dateColumnOf(module, table, first);
  if (date === undefined || tableKind(module, table, first) === 'array') return undefined;
  if (isChanged(module, table, first, division) || hasOtherArrays(module, table, first)) return undefined;
  const line = source.lastIndexOf('\n', first.start - 1) + 1;
  const indent = source.slice(line, first.start);
  if (/\S/.test(indent)) return undefined;
  // Folds are positions, which pick rows by their label where these are counted.
  const relabel =
    division.type === 'for' && /\.loc\[/.test(source.slice(division.start, division.end))
      ? '.reset_index(drop=True)'
      : '';
  const [quote = ''] = date.text;
  const text = `${table} = ${table}.sort_values(${date.text}, kind=${quote}stable${quote})${relabel}${lineEnding}${indent}`;
  return { start: first.start, end: first.start, text };
}

/** The one table whose rows a statement divides: by `train_test_split`, or in a loop over folds. */
function dividedTable(module: Module, division: Stmt): Divided | undefined {
  const calls = ownExpressions(division)
    .flatMap((own) => [...expressionsIn(own)])
    .filter((part): part is Call => part.type === 'call');
  const call = calls.find(
    (one) =>
      calleeName(one) === 'train_test_split' || (division.type === 'for' && calleeName(one) === 'split'),
  );
  const values =
    call?.args.filter(({ name }) => name === undefined || /^(X|y)$/.test(name)).map(({ value }) => value) ??
    [];
  // What the loop takes of other tables by the positions of the folds has to have their order, too.
  const others = division.type === 'for' ? takenInLoop(division) : [];
  const all = [...values, ...others].map((value) => tableOf(module, value, division));
  const [one, ...more] = all;
  if (one === undefined || more.some((other) => other?.table !== one.table)) return undefined;
  const first = all
    .flatMap((other) => (other === undefined ? [] : [other.first]))
    .reduce((a, b) => (b.start < a.start ? b : a));
  return { table: one.table, first };
}

/** Tables of which rows are taken by the positions of a fold: `X.iloc[train]`, `frame.loc[train, names]`, `y[train]`. */
function takenInLoop(division: Stmt & { type: 'for' }): Expr[] {
  const turn = new Set([...namesInExpression(division.target)].map(({ id }) => id));
  return division.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .flatMap((statement) => ownExpressions(statement).flatMap((own) => [...expressionsIn(own)]))
    .flatMap((part) => {
      const [index] = part.type === 'subscript' ? part.indices : [];
      if (part.type !== 'subscript' || index?.type !== 'name' || !turn.has(index.id)) return [];
      const { object } = part;
      return [object.type === 'attribute' && /^i?loc$/.test(object.name) ? object.object : object];
    });
}

/** The table that features or labels are columns of: `frame[names]`, `np.log1p(frame["sales"])`, `X` of `X = frame[names]`. */
function tableOf(module: Module, value: Expr, at: Stmt, depth = 0): Divided | undefined {
  if (depth > 6) return undefined;
  switch (value.type) {
    case 'name': {
      const made = lastMade(at, value.id);
      const inner = made === undefined ? undefined : tableOf(module, made.value, made, depth + 1);
      return inner !== undefined && inner.table !== value.id ? inner : { table: value.id, first: at };
    }
    case 'subscript':
      return value.indices.length === 1 && COLUMNS.test(value.indices[0]?.type ?? '')
        ? tableOf(module, value.object, at, depth + 1)
        : undefined;
    case 'attribute':
      return tableOf(module, value.object, at, depth + 1);
    case 'call': {
      const { callee, args } = value;
      if (callee.type !== 'attribute') return undefined;
      const [first] = args;
      if (/^(np|numpy)$/.test(rootName(callee) ?? ''))
        return first === undefined ? undefined : tableOf(module, first.value, at, depth + 1);
      return /^(drop|astype|to_numpy|copy)$/.test(callee.name)
        ? tableOf(module, callee.object, at, depth + 1)
        : undefined;
    }
    default:
      return undefined;
  }
}

/** The statement before another one in its suite that gives a variable its value as columns of a table. */
function lastMade(at: Stmt, name: string): (Stmt & { type: 'assign' }) | undefined {
  const made = at.suite.statements.findLast(
    (one) =>
      one.start < at.start &&
      one.type === 'assign' &&
      one.targets.some((target) => target.type === 'name' && target.id === name),
  );
  return made?.type === 'assign' && /^(subscript|attribute|call)$/.test(made.value.type) ? made : undefined;
}

/** Whether a variable has its value in the function of a statement, so that it can get another one there. */
function isBound(module: Module, name: string, at: Stmt): boolean {
  const scope = functionAround(at);
  if (scope?.type === 'function' && scope.params.some((param) => param.name === name)) return true;
  return module.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .some(
      (one) =>
        one.start < at.start &&
        functionAround(one) === scope &&
        one.type === 'assign' &&
        one.targets.some((target) => target.type === 'name' && target.id === name),
    );
}

/** Whether a table gets other rows between two statements. */
function isChanged(module: Module, table: string, first: Stmt, division: Stmt): boolean {
  return module.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .some(
      (one) =>
        one.start >= first.start &&
        one.start < division.start &&
        one.type === 'assign' &&
        one.targets.some((target) => rootName(target) === table),
    );
}

/** Whether an array was made of the table before, which has the rows in the order that they had. */
function hasOtherArrays({ body, source }: Module, table: string, first: Stmt): boolean {
  const all = body.statements.flatMap((outer) => [...statementsIn(outer)]);
  return all.some((one) => {
    if (one.type !== 'assign' || one.start >= first.start) return false;
    const isOf = [...namesInExpression(one.value)].some(({ id }) => id === table);
    if (!isOf || !MAKES_ARRAY.test(source.slice(one.value.start, one.value.end))) return false;
    const names = one.targets.flatMap((target) => (target.type === 'name' ? [target.id] : []));
    return all.some(
      (later) =>
        later.start > first.start &&
        ownExpressions(later).some((own) => [...namesInExpression(own)].some(({ id }) => names.includes(id))),
    );
  });
}
