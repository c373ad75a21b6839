import type { Expr, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, ownExpressions, rootName } from '../../syntax/walk.js';
import type { RepairContext } from '../context.js';
import { isChangedBetween } from '../divisions.js';

/** Statistics that are the same after gaps were filled with them. */
const SAME_AFTER_FILL = /^(mean|median|min|max)$/;

/**
 * Where later lines of the block fill another table with the same statistic of a table that the leak has filled with it, and
 * that is not changed in between.
 */
export function fillsAlike(
  { source, module, block }: RepairContext,
  leaky: Stmt,
  node: Expr,
): readonly Expr[] {
  const root = rootName(node);
  const isFill = leaky.type === 'assign' && /\.fillna\(\s*$/.test(source.slice(leaky.start, node.start));
  if (root === undefined || !isFill || node.type !== 'call' || !SAME_AFTER_FILL.test(calleeName(node)))
    return [];
  const text = source.slice(node.start, node.end);
  const found: Expr[] = [];
  for (const later of leaky.suite.statements) {
    if (later.start < leaky.end || later.end > block.end || later.type !== 'assign') continue;
    if (later.targets.some((target) => rootName(target) === root)) break;
    if (isChangedBetween(module, leaky.end, later.start, root)) break;
    const calls = ownExpressions(later)
      .flatMap((own) => [...expressionsIn(own)])
      .filter((part) => part.type === 'call' && source.slice(part.start, part.end) === text);
    for (const call of calls)
      if (/\.fillna\(\s*$/.test(source.slice(later.start, call.start))) found.push(call);
  }
  return found;
}
