import type { Expr, Module, Span, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';

/** Models that take rows with missing values. */
const TAKES_MISSING = /^(LGBM|XGB|CatBoost|HistGradientBoosting)\w*(Classifier|Regressor|Ranker)$/;
/** What learns from rows, or turns them into something that learns. */
const LEARNS =
  /(Classifier|Regressor|Ranker|Regression|Ridge|Lasso|ElasticNet|SVC|SVR|NB|KMeans|PCA|SVD|Scaler|Transformer|Pipeline|make_pipeline|Sequential|Model|Module|LSTM|GRU|Dense|Linear|OLS|DMatrix|Dataset|Pool|tensor|from_numpy|STL|MSTL|decompose|ARIMA|SARIMAX|Prophet|Smoothing|VAR|AutoReg)$/i;

/**
 * Whether a script can do with a column that has no value in its first rows: every model takes such rows, or rows without a value
 * are dropped between the statement that makes the column and the division.
 */
export function toleratesMissing(module: Module, made: Stmt, end: number): boolean {
  return everyModelTakesMissing(module) || dropsMissing(module, made, end) || dropsMadeOf(made, end);
}

/**
 * `features = indicators(prices)`, `features = features.dropna()`: all that the script takes of a table goes through another one, of
 * which rows without a value are dropped.
 */
function dropsMadeOf(made: Stmt, end: number): boolean {
  const [target] = made.type === 'assign' ? made.targets : [];
  if (target?.type !== 'name') return false;
  const later = made.suite.statements.filter(({ start }) => start > made.end);
  const mentions = (statement: Stmt, name: string): boolean =>
    [...statementsIn(statement)].some((inner) =>
      ownExpressions(inner).some((own) => [...namesInExpression(own)].some(({ id }) => id === name)),
    );
  const drops = later.find((statement) => statement.start < end && dropsAnyMissing(statement));
  const [table] = drops?.type === 'assign' ? drops.targets : [];
  if (drops === undefined || table?.type !== 'name' || table.id === target.id) return false;
  const isMade = later.some(
    (statement) =>
      statement.start < drops.start &&
      statement.type === 'assign' &&
      statement.targets.some(({ type, ...one }) => type === 'name' && 'id' in one && one.id === table.id) &&
      mentions(statement, target.id),
  );
  // What is taken of it afterward, or stays under another name, may have gaps.
  const isTakenOtherwise = later.some(
    (statement) =>
      statement.type !== 'expression' &&
      mentions(statement, target.id) &&
      (statement.start > drops.start ||
        namesMade(statement, table.id).some((name) =>
          later.some((other) => other.start > drops.start && mentions(other, name)),
        )),
  );
  return isMade && !isTakenOtherwise;
}

/** The variables that a statement gives a value, except for a table. */
function namesMade(statement: Stmt, table: string): string[] {
  const targets = statement.type === 'assign' ? statement.targets : [];
  return targets
    .flatMap((target) => (target.type === 'sequence' ? target.items : [target]))
    .flatMap((target) => rootName(target) ?? [])
    .filter((name) => name !== table);
}

/** `features = features[known].dropna()` */
function dropsAnyMissing(statement: Stmt): boolean {
  if (statement.type !== 'assign' || statement.targets.length > 1) return false;
  const { value, targets } = statement;
  return (
    value.type === 'call' &&
    value.callee.type === 'attribute' &&
    value.callee.name === 'dropna' &&
    value.args.length === 0 &&
    targets[0]?.type === 'name' &&
    rootName(value) === targets[0].id
  );
}

function everyModelTakesMissing({ body }: Module): boolean {
  const constructed = body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .flatMap((statement) => ownExpressions(statement).flatMap((own) => [...expressionsIn(own)]))
    .flatMap((part) => (part.type === 'call' ? [calleeName(part)] : []))
    .filter((name) => LEARNS.test(name));
  return constructed.length > 0 && constructed.every((name) => TAKES_MISSING.test(name));
}

/** `frame = frame.dropna()`, `frame.dropna(subset=["lag"])`, `frame[frame["lag"].notna()]`, with the column or a lag of the same values. */
function dropsMissing(module: Module, made: Stmt, end: number): boolean {
  const [target] = made.type === 'assign' ? made.targets : [];
  const table = target === undefined ? undefined : rootName(target);
  if (target === undefined || table === undefined) return false;
  const sure = new Set([...textsIn(target), ...lagsOf(module, made, table)]);
  return module.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .filter((later) => later.start > made.end && later.start < end && later.suite.owner?.type !== 'if')
    .flatMap((later) => ownExpressions(later).flatMap((own) => [...expressionsIn(own)]))
    .some((part) => {
      if (part.type !== 'call' || part.callee.type !== 'attribute') return false;
      const { name, object } = part.callee;
      if (rootName(object) !== table) return false;
      // The rows that a condition picks; what is only counted is not dropped.
      if (name === 'notna' || name === 'notnull') return isCondition(module, part) && namesOne(object, sure);
      if (name !== 'dropna' || part.args.some(({ name: option }) => !/^(subset|inplace)$/.test(option ?? '')))
        return false;
      const subset = part.args.find(({ name: option }) => option === 'subset')?.value;
      return subset === undefined || namesOne(subset, sure);
    });
}

/** `frame[frame["lag"].notna()]` */
function isCondition({ source }: Module, { start, end }: Span): boolean {
  return /\w\[\s*$/.test(source.slice(Math.max(0, start - 40), start)) && source[end] === ']';
}

function namesOne(expression: Expr, columns: ReadonlySet<string>): boolean {
  return textsIn(expression).some((text) => columns.has(text));
}

/** Columns of a table that are lags of the values that a column is made of. */
function lagsOf({ body, source }: Module, made: Stmt, table: string): string[] {
  const values = made.type === 'assign' ? sourceOf(made.value) : undefined;
  return body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .flatMap((statement) => {
      if (statement.type !== 'assign' || values === undefined) return [];
      const { value, targets } = statement;
      const isLag =
        value.type === 'call' && value.callee.type === 'attribute' && value.callee.name === 'shift';
      const [target] = targets;
      if (!isLag || target === undefined || rootName(target) !== table) return [];
      const own = sourceOf(value);
      const isSame =
        own !== undefined && source.slice(own.start, own.end) === source.slice(values.start, values.end);
      return isSame && !/-/.test(source.slice(value.callee.end, value.end)) ? textsIn(target) : [];
    });
}

/** `frame["a"]` of `frame["a"].rolling(7).mean()`, `groups` of `groups.transform(…)`. */
function sourceOf(value: Expr): Expr | undefined {
  if (value.type === 'call' && value.callee.type === 'attribute') return sourceOf(value.callee.object);
  return value.type === 'subscript' || value.type === 'name' ? value : undefined;
}

function textsIn(expression: Expr): string[] {
  return [...expressionsIn(expression)].flatMap((part) =>
    part.type === 'constant' && typeof part.value === 'string' ? [part.value] : [],
  );
}
