import type { Call, Expr, Module, Stmt } from '../syntax/ast.js';
import {
  calleeName,
  namesInExpression,
  ownExpressions,
  partsOf,
  rootName,
  statementsIn,
} from '../syntax/walk.js';
import { isStatisticCall, type SummarizedCall, summarizedCall } from './helper-calls.js';
import { tableOfNumber } from './number-of-rows.js';

const WITHOUT_VALUE = 'groups that the training part lacks would have no value';
const MAX_HELPERS = 4;

/** What reads single elements, or positions, of a statistic by group: a group that is not there stops it. */
const READS_ELEMENTS = /^(i?loc|i?at|xs|get_group|take|item|values|index|items|to_numpy|tolist)$/;
const MAKES_ROOM = /^(zeros|ones|empty|full|range|arange)$/;

/**
 * Why a helper would not give each row a value from statistics that it takes of some rows alone, or would compare them with
 * the number of other rows; nothing where it looks them up by `map`, `merge` or `join`, and fills what it does not find.
 * @param stops whether a model of the script stops at a missing value
 */
export function whyWithoutValue(
  module: Module,
  call: SummarizedCall,
  stops: boolean,
  depth = 0,
): string | undefined {
  if (depth > MAX_HELPERS) return WITHOUT_VALUE;
  const { helper, ofRows, parameters } = call;
  const statements = helper.body.statements.flatMap((outer) => [...statementsIn(outer)]);
  const statistics = new Set<string>();
  const isOfRows = (value: Expr): boolean => [...namesInExpression(value)].some(({ id }) => ofRows.has(id));
  for (const statement of statements) {
    if (statement.type === 'for' && [...namesInExpression(statement.iterable)].some(isIn(statistics)))
      return WITHOUT_VALUE;
    for (const own of ownExpressions(statement)) {
      for (const { part, parents } of withParents(own)) {
        const table = tableOfNumber(part);
        const root = table === undefined ? undefined : rootName(table);
        const isRoom = parents[0]?.type === 'call' && MAKES_ROOM.test(calleeName(parents[0]));
        if (root !== undefined && ofRows.has(root) && !parameters.has(root) && !isRoom)
          return `\`${helper.name}\` reads the number of all rows, and the statistics are those of some`;
        const inner = part.type === 'call' ? summarizedCall(module, part, isOfRows) : undefined;
        const isHandedOver = inner?.values.some((value) => isOf(value, parameters)) === true;
        if (inner !== undefined && isHandedOver) {
          const reason = whyWithoutValue(module, inner, stops, depth + 1);
          if (reason !== undefined) return reason;
        }
        const isStatistic =
          (part.type === 'name' && statistics.has(part.id)) ||
          isHandedOver ||
          (part.type === 'call' && isStatisticCall(part) && isOf(part, parameters));
        if (!isStatistic) continue;
        const use = useOf(part, parents);
        if (use === 'reads elements') return WITHOUT_VALUE;
        if (use !== 'computes' && !isFilled(module, statements, statement, use, stops)) return WITHOUT_VALUE;
        if (use === 'computes' && statement.type === 'assign')
          for (const target of statement.targets.flatMap(flat))
            if (target.type === 'name') statistics.add(target.id);
      }
    }
  }
  return undefined;
}

interface Lookup {
  readonly call: Call;
  /** What is around it, innermost first. */
  readonly around: readonly Expr[];
}

/** What is done with a statistic: it is looked up for rows, computed with, or an element of it is read. */
function useOf(statistic: Expr, parents: readonly Expr[]): Lookup | 'computes' | 'reads elements' {
  let inner = statistic;
  for (const [at, outer] of parents.entries()) {
    if (outer.type === 'lambda' || outer.type === 'comprehension') return 'reads elements';
    if (outer.type === 'attribute') {
      if (READS_ELEMENTS.test(outer.name)) return 'reads elements';
    } else if (outer.type === 'subscript') {
      const isColumn = outer.object === inner && outer.indices.every(isConstant);
      if (!isColumn) return 'reads elements';
    } else if (outer.type === 'call' && outer.callee !== inner) {
      const called = calleeName(outer);
      if (called === 'fillna') return 'computes';
      if (/^(map|merge|join)$/.test(called)) return { call: outer, around: parents.slice(at + 1) };
      if (/^(apply|applymap|replace|reindex|transform|assign|concat)$/.test(called)) return 'reads elements';
    } else if (outer.type === 'call' && calleeName(outer) === 'get' && outer.args.length < 2) {
      return 'reads elements';
    }
    inner = outer;
  }
  return 'computes';
}

/** Whether rows that a lookup finds nothing for get a value: at once, or by a later line about the same column or table. */
function isFilled(
  module: Module,
  statements: readonly Stmt[],
  statement: Stmt,
  { call, around }: Lookup,
  stops: boolean,
): boolean {
  const [attribute] = around;
  if (attribute?.type === 'attribute' && attribute.object === call && attribute.name === 'fillna')
    return true;
  // Whole numbers and texts cannot be missing.
  if (around.some((outer) => outer.type === 'call' && calleeName(outer) === 'astype')) return false;
  if (!stops) return true;
  const target = statement.type === 'assign' ? statement.targets[0] : undefined;
  const root = target === undefined ? undefined : rootName(target);
  if (target === undefined || root === undefined || statement.suite.owner?.type !== 'function') return false;
  const text = (part: Expr): string => module.source.slice(part.start, part.end);
  return statements.some((later) => {
    if (later.start < statement.end || later.suite !== statement.suite) return false;
    return ownExpressions(later).some((own) =>
      withParents(own).some(({ part }) => {
        if (part.type !== 'call' || part.callee.type !== 'attribute' || part.callee.name !== 'fillna')
          return false;
        const { object } = part.callee;
        const isStored =
          (later.type === 'assign' && later.targets.some((one) => text(one) === text(object))) ||
          (later.type === 'return' && object.type === 'name') ||
          part.args.some(({ name }) => name === 'inplace');
        return isStored && (text(object) === text(target) || (object.type === 'name' && object.id === root));
      }),
    );
  });
}

/** An expression and all its parts, each with those around it, innermost first. */
function withParents(
  whole: Expr,
  parents: readonly Expr[] = [],
): { readonly part: Expr; readonly parents: readonly Expr[] }[] {
  return [
    { part: whole, parents },
    ...partsOf(whole).flatMap((inner) => withParents(inner, [whole, ...parents])),
  ];
}

function isConstant(index: Expr): boolean {
  return index.type === 'constant' || (index.type === 'sequence' && index.items.every(isConstant));
}

function isIn(names: ReadonlySet<string>): (name: { readonly id: string }) => boolean {
  return ({ id }) => names.has(id);
}

function isOf(value: Expr, parameters: ReadonlySet<string>): boolean {
  return [...namesInExpression(value)].some(isIn(parameters));
}

function flat(target: Expr): Expr[] {
  return target.type === 'sequence' ? target.items.flatMap(flat) : [target];
}
