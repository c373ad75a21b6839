import type { Leak } from '../../findings/find-leaks.js';
import type { Expr, FunctionDefinition, Module, Span, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  functionAround,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import { loopsAround } from '../check/script-change.js';
import { lastAssigned } from '../rows-first/table-kind.js';

/** Methods after which the rows of a table are in another order, or those of several tables are in one. */
const REORDERS =
  /(?<!\b(?:np|torch|tf))\.(sort_values|sort_index|sample|merge|join|reindex|explode|stack|unstack|melt|pivot|pivot_table|append)\(|\b(shuffle|permutation|merge|concat|vstack|concatenate)\(/;
/** The same, except for what puts rows in the order of time before past values are taken. */
const SEVERAL =
  /(?<!\b(?:np|torch|tf))\.(explode|stack|melt|sample)\(|\b(shuffle|permutation|melt|concat|vstack|concatenate)\(/;
/** What is done for one series after the other, if the rows are grouped before. */
const BY_SERIES = /^(shift|transform|rolling|diff|pct_change|cumcount|apply|ewm|expanding|rank)$/;
const MAX_DEPTH = 4;

/**
 * Why the rows of a table may not be one series in the order of time, as the code that takes past values of its rows has to have
 * it; nothing where they are.
 */
export function whyNotOneSeries(module: Module, leak: Leak, division: Stmt): string | undefined {
  const { source } = module;
  // What a helper does is looked at in the helper.
  if (leak.callers?.includes(leak.statement) === true && leak.statement !== division)
    return 'where past values are taken is not known';
  const textOf = ({ start, end }: Span): string => source.slice(start, end);
  for (const node of leak.nodes) {
    const statement = statementAround(module, node);
    if (statement === undefined) return 'where past values are taken is not known';
    const problem = whyGrouped(module, node, statement) ?? whyRepeated(module, statement);
    if (problem !== undefined) return problem;
  }
  const isAfter = afterPastValues(leak, division);
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (statement.start >= division.start || !stores(statement)) continue;
      const parts = ownExpressions(statement).flatMap((own) => [...expressionsIn(own)]);
      if (parts.some(isBySeries))
        return 'the table holds several series, so that its rows are not in one order';
      if (parts.some(isByColumn)) continue;
      const text = ownExpressions(statement).map(textOf).join('\n');
      if ((isAfter(statement) ? REORDERS : SEVERAL).test(text))
        return 'whether the rows are in the order of time is not known';
    }
  }
  return undefined;
}

/** Which statements run after past values were taken: in a helper those below it, and around it those below its call. */
function afterPastValues({ nodes, statement, callers = [] }: Leak, division: Stmt): (other: Stmt) => boolean {
  const first = Math.min(...nodes.map(({ start }) => start));
  const helper = functionAround(statement);
  const around = functionAround(division);
  const call = helper === around ? undefined : callers.find((caller) => functionAround(caller) === around);
  if (helper === undefined || call === undefined) return ({ start }) => start > first;
  const isInside = ({ start }: Span): boolean => start >= helper.start && start < helper.end;
  const isAll = nodes.every(isInside);
  return (other) => other.start > (isInside(other) || !isAll ? first : call.start);
}

/** `frame.groupby("store")["sales"].shift(1)` */
function isBySeries(part: Expr): boolean {
  if (part.type !== 'call' || part.callee.type !== 'attribute' || !BY_SERIES.test(part.callee.name))
    return false;
  return isGroups(part.callee.object);
}

/** `pd.concat([lags, frame], axis=1)` puts columns side by side. */
function isByColumn(part: Expr): boolean {
  return (
    part.type === 'call' &&
    calleeName(part) === 'concat' &&
    part.args.some(
      ({ name, value }) =>
        name === 'axis' && value.type === 'constant' && (value.value === 1 || value.value === 'columns'),
    )
  );
}

function stores(statement: Stmt): boolean {
  return (
    /^(assign|augmented|return)$/.test(statement.type) ||
    (statement.type === 'expression' &&
      statement.value.type === 'call' &&
      (statement.value.args.some(({ name }) => name === 'inplace') || /shuffle/.test(calleeText(statement))))
  );
}

function calleeText(statement: Stmt): string {
  if (statement.type !== 'expression' || statement.value.type !== 'call') return '';
  const { callee } = statement.value;
  return callee.type === 'attribute' ? callee.name : callee.type === 'name' ? callee.id : '';
}

/** The innermost statement that holds an expression. */
export function statementAround(module: Module, { start, end }: Span): Stmt | undefined {
  let found: Stmt | undefined;
  for (const outer of module.body.statements) {
    if (outer.start > start || outer.end < end) continue;
    for (const statement of statementsIn(outer)) {
      if (statement.start <= start && end <= statement.end) found = statement;
    }
  }
  return found;
}

/** Why an expression takes the values of one group after the other; nothing of `frame["a"].shift(1)`, or a window of an array. */
function whyGrouped(module: Module, node: Expr, statement: Stmt): string | undefined {
  const params = new Set<string>();
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) {
      if (part.start > node.start || part.end < node.end) continue;
      if (part.type === 'lambda') for (const { name } of part.params) params.add(name);
      if (part.type === 'comprehension' && !part.clauses.every(({ iterable }) => isRange(iterable)))
        return 'past values are taken of several series';
    }
  }
  // `series[start:end]`: the node is what is in the brackets.
  const taken = ownExpressions(statement)
    .flatMap((own) => [...expressionsIn(own)])
    .find((part) => part.type === 'subscript' && part.indices.includes(node));
  const root = rootName(receiverOf(taken ?? node));
  if (root === undefined) return 'the rows that past values are taken of have no name';
  const made = lastAssigned(module, root, functionAround(statement)?.start ?? 0, node.start);
  const isGrouped = made !== undefined && isGroups(made);
  return params.has(root) || isGrouped ? 'past values are taken of several series' : undefined;
}

/** `frame.groupby("store")["sales"]` */
function isGroups(value: Expr): boolean {
  if (value.type === 'subscript' || value.type === 'attribute') return isGroups(value.object);
  return value.type === 'call' && calleeName(value) === 'groupby';
}

/** What the past values of an expression are taken of. */
function receiverOf(node: Expr): Expr {
  if (node.type === 'call' && node.callee.type === 'attribute') {
    const [first] = node.args;
    // `rows.append(series[start:end])`
    if (/^(append|extend|stack|array|asarray)$/.test(node.callee.name) && first !== undefined)
      return receiverOf(first.value);
    return receiverOf(node.callee.object);
  }
  if (node.type === 'attribute') return receiverOf(node.object);
  // `(frame.index - pd.Timedelta("7 days")).map(known)`
  if (node.type === 'binary') return receiverOf(node.left);
  if (node.type === 'comprehension') return receiverOf(node.element);
  return node.type === 'subscript' ? receiverOf(node.object) : node;
}

function isRange(iterable: Expr): boolean {
  return (
    iterable.type === 'call' && iterable.callee.type === 'name' && /^(range|trange)$/.test(iterable.callee.id)
  );
}

/** Whether a statement runs once for each of several tables: in a loop over them, or in a function that is called for each. */
function whyRepeated(module: Module, statement: Stmt, depth = 0): string | undefined {
  const several = 'past values are taken of several series';
  for (const loop of loopsAround(statement)) {
    if (loop.type !== 'for') return several;
    const isConstant = loop.iterable.type === 'sequence' || loop.iterable.type === 'name';
    if (!isRange(loop.iterable) && !(isConstant && loop.target.type === 'name')) return several;
  }
  const ranges = loopsAround(statement).filter((loop) => loop.type === 'for' && isRange(loop.iterable));
  if (ranges.length > 1) return several;
  const around = functionAround(statement);
  if (around?.type !== 'function') return undefined;
  if (depth >= MAX_DEPTH) return 'where past values are taken is not known';
  const [call, ...others] = usesOf(module, around);
  if (call === undefined || others.length > 0 || !call.isCalled)
    return `\`${around.name}\` is not called exactly once`;
  return whyRepeated(module, call.statement, depth + 1);
}

/** Statements outside of a function or method that name it, each with whether it calls it, once. */
function usesOf(module: Module, helper: FunctionDefinition): { statement: Stmt; isCalled: boolean }[] {
  const { name, start, end } = helper;
  const isMethod = helper.suite.owner?.type === 'class';
  const names = (part: Expr): boolean =>
    isMethod ? part.type === 'attribute' && part.name === name : part.type === 'name' && part.id === name;
  const uses: { statement: Stmt; isCalled: boolean }[] = [];
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (statement.start >= start && statement.end <= end) continue;
      const parts = ownExpressions(statement).flatMap((own) => [...expressionsIn(own)]);
      for (const mention of parts.filter(names)) {
        const isCalled = parts.some((part) => part.type === 'call' && part.callee === mention);
        const isRepeated = parts.some(
          ({ type, ...part }) =>
            /^(comprehension|lambda)$/.test(type) && part.start <= mention.start && mention.end <= part.end,
        );
        uses.push({ statement, isCalled: isCalled && !isRepeated });
      }
    }
  }
  return uses;
}
