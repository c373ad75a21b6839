import type { Call, Expr, Stmt } from '../../syntax/ast.js';
import { expressionsIn, ownExpressions } from '../../syntax/walk.js';

/** `frame.groupby(key)[column].transform(…)`: one number per group, put on every row of the group. */
export interface GroupTransform {
  readonly node: Call;
  readonly frame: string;
  readonly key: Expr;
  readonly column: Expr;
  /** Name of the statistic. */
  readonly statistic: string;
  /** Whether the statistic only fills missing values. */
  readonly fills: boolean;
}

const STATISTICS = /^(mean|median|std|min|max|sum|count|nunique|first)$/;

export function groupTransformIn(statement: Stmt): GroupTransform | undefined {
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) {
      const found = part.type === 'call' ? read(part) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** The parts of `frame.groupby(…)[columns].transform(…)`. */
export function transformOfGroups({
  callee,
}: Call): { frame: Expr; grouped: Call; columns: readonly Expr[] } | undefined {
  if (callee.type !== 'attribute' || callee.name !== 'transform' || callee.object.type !== 'subscript')
    return undefined;
  const { object: grouped, indices } = callee.object;
  if (grouped.type !== 'call' || grouped.callee.type !== 'attribute' || grouped.callee.name !== 'groupby')
    return undefined;
  return { frame: grouped.callee.object, grouped, columns: indices };
}

function read(node: Call): GroupTransform | undefined {
  const transform = transformOfGroups(node);
  if (transform === undefined) return undefined;
  const { frame, grouped, columns } = transform;
  const [column] = columns;
  const [key, ...others] = grouped.args;
  if (frame.type !== 'name' || column?.type !== 'constant' || others.length > 0) return undefined;
  if (key?.value.type !== 'constant' || typeof key.value.value !== 'string') return undefined;
  const how = node.args[0]?.value;
  const base = { node, frame: frame.id, key: key.value, column };
  if (how?.type === 'constant' && typeof how.value === 'string' && STATISTICS.test(how.value)) {
    return { ...base, statistic: how.value, fills: false };
  }
  const statistic = how === undefined ? undefined : filling(how);
  return statistic === undefined ? undefined : { ...base, statistic, fills: true };
}

/** `lambda s: s.fillna(s.median())`: the name of the statistic. */
function filling(how: Expr): string | undefined {
  if (how.type !== 'lambda' || how.body.type !== 'call' || how.body.callee.type !== 'attribute')
    return undefined;
  const [parameter] = how.params;
  const { callee, args } = how.body;
  const value = args[0]?.value;
  if (callee.name !== 'fillna' || callee.object.type !== 'name' || callee.object.id !== parameter?.name)
    return undefined;
  if (value?.type !== 'call' || value.callee.type !== 'attribute' || value.args.length > 0) return undefined;
  const { object, name } = value.callee;
  return object.type === 'name' && object.id === parameter.name && STATISTICS.test(name) ? name : undefined;
}
