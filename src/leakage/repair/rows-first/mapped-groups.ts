import type { Leak } from '../../findings/find-leaks.js';
import type { Call, Expr, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesInExpression,
  ownExpressions,
  statementsIn,
} from '../../syntax/walk.js';
import { type RepairContext, statementsOf, type TextEdit } from '../context.js';
import { hasMissingKeys, isCount, missingWithoutKey, STOPS_AT_GAPS } from '../group-fallback.js';

const NUMBERS = /^(mean|median|std|var|sum|count|min|max|quantile|size|skew|agg|aggregate|value_counts)$/;
const NOT_FOLLOWED = 'groups that the training part lacks would have no value';

/**
 * Statistics of groups that are put on the rows by `map`: rows of a group that the training part lacks get the mean of
 * the groups, or a count of zero. A text says why there is no such value.
 */
export function withFallbacks(
  context: RepairContext,
  leaks: readonly Leak[],
  ofFrame: string,
): TextEdit[] | string {
  const edits = new Map<number, TextEdit>();
  for (const { node, nodes, statement } of leaks) {
    for (const one of new Set([node, ...nodes])) {
      if (one.type !== 'call' || !isGrouped(context.source, one)) continue;
      if (!NUMBERS.test(calleeName(one))) return NOT_FOLLOWED;
      const found = fallbacksFor(context, statement, one, ofFrame);
      if (found === undefined) return NOT_FOLLOWED;
      for (const edit of found) edits.set(edit.start, edit);
    }
  }
  return [...edits.values()];
}

function isGrouped(source: string, node: Call): boolean {
  const name = calleeName(node);
  if (name === 'transform') return false;
  return name === 'value_counts' || /\.groupby\s*\(/.test(source.slice(node.start, node.end));
}

function fallbacksFor(
  context: RepairContext,
  statement: Stmt,
  node: Call,
  ofFrame: string,
): TextEdit[] | undefined {
  const statements = statementsOf(context).flatMap((outer) => [...statementsIn(outer)]);
  const edits: TextEdit[] = [];
  const derived = new Set<string>();
  let isMerged = false;
  for (const other of statements) {
    if (other.start < statement.start) continue;
    const whole = other === statement ? node : undefined;
    const uses = usesIn(other, derived, whole);
    if (uses.length === 0) continue;
    for (const use of uses) {
      const map = use.parents.find((parent) => parent.type === 'call' && calleeName(parent) === 'map');
      const mapped = map?.type === 'call' ? map.args[0]?.value : undefined;
      if (map !== undefined && mapped !== undefined && holds(mapped, use.node)) {
        const counts = countsRows(context, statement, node, mapped);
        const fallback = counts ? '0' : fallbackOf(context, mapped, node, ofFrame);
        if (fallback === undefined) return undefined;
        const isOfKeys = map.type === 'call' && !hasMissingKeys(context.source.slice(node.start, node.end));
        const missing = isOfKeys ? missingWithoutKey(context.source, keysOf(context, map)) : '';
        if (!isFilled(use.parents, map))
          edits.push({ start: map.end, end: map.end, text: `.fillna(${fallback})${missing}` });
        continue;
      }
      const isLooked = use.parents.some((parent) => keepsRowsWithoutGroup(parent, use.node));
      // Of a group without rows, the number is 0.
      const counts = /\b(count|size|nunique|sum|len|value_counts)\b/.test(textOf(context, statement));
      if (isLooked && !counts && takesGaps(context.source)) {
        isMerged = true;
        continue;
      }
      const [target] = other.type === 'assign' ? other.targets : [];
      if (target?.type === 'name') derived.add(target.id);
      else if (!isShown(other)) return undefined;
    }
  }
  return edits.length === 0 && !isMerged ? undefined : edits;
}

function textOf({ source }: RepairContext, { start, end }: Stmt): string {
  return source.slice(start, end);
}

/** `frame.merge(means, on="store", how="left")`: rows of a group without a statistic stay, and have none. */
function keepsRowsWithoutGroup(parent: Expr, table: Expr): boolean {
  if (parent.type !== 'call' || !/^(merge|join)$/.test(calleeName(parent))) return false;
  const how = parent.args.find(({ name }) => name === 'how')?.value;
  const isLeft =
    how === undefined ? calleeName(parent) === 'join' : how.type === 'constant' && how.value === 'left';
  return isLeft && parent.args.some(({ value }) => holds(value, table));
}

/** Whether the models of a script are known to take gaps in the features. */
function takesGaps(source: string): boolean {
  return (
    /\b(XGB\w+|LGBM\w+|CatBoost\w+|HistGradientBoosting\w+|xgb|lgb|lightgbm|xgboost)\b/.test(source) &&
    !STOPS_AT_GAPS.test(source) &&
    !/\b(torch|keras|tensorflow|statsmodels)\b/.test(source)
  );
}

/** Whether what is looked up is a number of rows, or a sum: 0 where there are none. */
function countsRows({ source }: RepairContext, statement: Stmt, node: Call, mapped: Expr): boolean {
  if (calleeName(node) === 'value_counts') return true;
  if (mapped === node) return isCount(source.slice(node.start, node.end));
  const [target] = statement.type === 'assign' ? statement.targets : [];
  if (statement.type !== 'assign' || mapped.type !== 'name' || target?.type !== 'name') return false;
  return target.id === mapped.id && isCount(source.slice(statement.value.start, statement.value.end));
}

function keysOf({ source }: RepairContext, { callee }: Call): string {
  return callee.type === 'attribute' ? source.slice(callee.object.start, callee.object.end) : '';
}

interface Use {
  readonly node: Expr;
  readonly parents: readonly Expr[];
}

/** Where a computation, or a variable that comes from it, is used in the expressions of one statement. */
function usesIn(statement: Stmt, derived: ReadonlySet<string>, node: Call | undefined): Use[] {
  const uses: Use[] = [];
  const targets = statement.type === 'assign' ? statement.targets : [];
  for (const own of ownExpressions(statement)) {
    if (targets.includes(own)) continue;
    for (const part of expressionsIn(own)) {
      const isUse = part === node || (part.type === 'name' && derived.has(part.id));
      if (isUse) uses.push({ node: part, parents: parentsOf(own, part) });
    }
  }
  return uses;
}

/** The expressions around a part, innermost first. */
function parentsOf(whole: Expr, part: Expr): Expr[] {
  return [...expressionsIn(whole)]
    .filter((other) => other !== part && other.start <= part.start && part.end <= other.end)
    .toSorted((a, b) => a.end - a.start - (b.end - b.start));
}

function holds(whole: Expr, part: Expr): boolean {
  return whole.start <= part.start && part.end <= whole.end;
}

/** `….map(means).fillna(…)`: the script says itself what such rows get. */
function isFilled(parents: readonly Expr[], map: Expr): boolean {
  const [attribute] = parents.slice(parents.indexOf(map) + 1);
  return attribute?.type === 'attribute' && attribute.name === 'fillna' && attribute.object === map;
}

/** The mean of a variable with a number for each group; the statistic of all rows where it has no name. */
function fallbackOf(
  { source }: RepairContext,
  mapped: Expr,
  node: Call,
  ofFrame: string,
): string | undefined {
  if (mapped.type === 'name') {
    const assignments = source.matchAll(new RegExp(`(?<![\\w.])${mapped.id}\\s*=[^\\n]*`, 'g'));
    const isDictionary = [...assignments].some(([text]) => text.includes('to_dict('));
    return isDictionary ? `pd.Series(${mapped.id}).mean()` : `${mapped.id}.mean()`;
  }
  const { callee } = node;
  if (mapped !== node || callee.type !== 'attribute' || callee.object.type !== 'subscript') return undefined;
  const { object: grouped, indices } = callee.object;
  const frame =
    grouped.type === 'call' && grouped.callee.type === 'attribute' ? grouped.callee.object : undefined;
  const [column] = indices;
  if (frame?.type !== 'name' || column === undefined || column.type === 'sequence') return undefined;
  return `${frame.id}[${source.slice(column.start, column.end)}]${ofFrame}${source.slice(callee.object.end, node.end)}`;
}

function isShown(statement: Stmt): boolean {
  if (statement.type !== 'expression') return false;
  return [...namesInExpression(statement.value)].some(({ id }) => id === 'print' || id === 'display');
}
