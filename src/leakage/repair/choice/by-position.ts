import type { Expr, FunctionDefinition } from '../../syntax/ast.js';
import { calleeName, expressionsIn, ownExpressions, rootName, statementsIn } from '../../syntax/walk.js';

const POSITION = /^(nan)?arg(max|min)$/;

/** `np.argmax(scores)`, `max(grid, key=…)`: gives a position or a candidate, not its score. */
export function isPositionOrKey(part: Expr): boolean {
  if (part.type !== 'call') return false;
  const name = calleeName(part);
  return (
    POSITION.test(name) || (/^(max|min)$/.test(name) && part.args.some((argument) => argument.name === 'key'))
  );
}

/** `ks[int(np.argmax(scores))]`, `np.argmin(errors) + 1` */
export function isByPosition(value: Expr): boolean {
  return [...expressionsIn(value)].some((part) => part.type === 'call' && POSITION.test(calleeName(part)));
}

/** Whether a helper returns the best candidate, `return grid[np.argmax(scores)]`, alone or before other values. */
export function givesCandidateFirst(helper: FunctionDefinition): boolean {
  const statements = helper.body.statements.flatMap((outer) => [...statementsIn(outer)]);
  const positions = new Set<string>();
  const scores = new Set<string | undefined>();
  for (const statement of statements) {
    for (const part of ownExpressions(statement).flatMap((own) => [...expressionsIn(own)])) {
      if (part.type !== 'call') continue;
      if (/^(fit|partial_fit|train)$/.test(calleeName(part))) return false;
      if (POSITION.test(calleeName(part))) scores.add(part.args[0] && rootName(part.args[0].value));
    }
    if (statement.type !== 'assign' || !isByPosition(statement.value) || statement.value.type === 'subscript')
      continue;
    for (const target of statement.targets) if (target.type === 'name') positions.add(target.id);
  }
  const returned = statements.flatMap((statement) => (statement.type === 'return' ? [statement.value] : []));
  const [value, ...others] = returned;
  if (value === undefined || others.length > 0) return false;
  const first = value.type === 'sequence' ? value.items[0] : value;
  if (first?.type === 'call') return /^(max|min)$/.test(calleeName(first)) && isPositionOrKey(first);
  if (first?.type !== 'subscript' || scores.has(rootName(first.object)) || scores.has(undefined))
    return false;
  const [index, other] = first.indices;
  if (index === undefined || other !== undefined) return false;
  return isByPosition(index) || (index.type === 'name' && positions.has(index.id));
}
