import { expressionsIn, ownExpressions, statementsIn } from '../../syntax/walk.js';
import { changesIn } from '../check/script-change.js';
import type { RepairContext } from '../context.js';
import type { SplitStatement } from '../split-parts.js';
import type { Plan } from './plan.js';

/**
 * A column by which rows are divided (`frame[frame["date"] < cut]`) and that a statement changes which would move after the
 * division: other rows would be on the two sides.
 */
export function changedDividingColumn(
  { module }: RepairContext,
  { moved }: Plan,
  { statements, byCall }: SplitStatement,
): string | undefined {
  if (byCall) return undefined;
  const divides = new Set<string>();
  for (const part of statements.flatMap(ownExpressions).flatMap((own) => [...expressionsIn(own)])) {
    if (part.type === 'constant' && typeof part.value === 'string') divides.add(part.value);
    if (part.type === 'attribute') divides.add(part.name);
  }
  return moved
    .flatMap((outer) => [...statementsIn(outer)])
    .flatMap((statement) => changesIn(module, statement))
    .map(({ what }) => /^"(.*)"$/.exec(what)?.[1])
    .find((column) => column !== undefined && divides.has(column));
}
