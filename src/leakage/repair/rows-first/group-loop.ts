import type { Expr, Module, Name, Span, Stmt } from '../../syntax/ast.js';
import {
  expressionsIn,
  namesIn,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import type { TextEdit } from '../context.js';
import { calleeName } from './row-order.js';

/** `for key, part in frame.groupby("key")`: a loop that takes one group of rows after another. */
export interface GroupLoop {
  readonly frame: Name;
  /** Every place in the loop where the group is read. */
  readonly uses: readonly Name[];
}

/** The loop over groups whose group a computation is about. */
export function groupLoopAround(statement: Stmt, node: Expr): GroupLoop | undefined {
  const group = rootName(node);
  for (let owner = statement.suite.owner; owner !== undefined; owner = owner.suite.owner) {
    if (owner.type !== 'for' || owner.target.type !== 'sequence' || owner.iterable.type !== 'call') continue;
    const part = owner.target.items.at(-1);
    const { iterable } = owner;
    if (part?.type !== 'name' || part.id !== group || calleeName(iterable) !== 'groupby') continue;
    const frame = iterable.callee.type === 'attribute' ? iterable.callee.object : undefined;
    const isByColumns = iterable.args.every(
      ({ value, star }) => star === '' && [...namesInExpression(value)].length === 0,
    );
    if (frame?.type !== 'name' || !isByColumns) return undefined;
    const uses = owner.body.statements.flatMap((inner) => [...namesIn(inner)]);
    return { frame, uses: uses.filter(({ id }) => id === group) };
  }
  return undefined;
}

/**
 * What is looked up in a dictionary that a loop over groups fills: a group that the loop did not see gets the mean of
 * those it saw; bounds of `clip` may be missing. Nothing where a lookup would fail.
 */
export function lookupsWithFallback(module: Module, block: Span, statement: Stmt): TextEdit[] | undefined {
  const [target] = statement.type === 'assign' ? statement.targets : [];
  const filled = target?.type === 'subscript' ? rootName(target) : undefined;
  if (filled === undefined || target === undefined) return undefined;
  const pandas = /^import pandas as (\w+)/m.exec(module.source)?.[1];
  const edits: TextEdit[] = [];
  for (const outer of module.body.statements) {
    for (const inner of statementsIn(outer)) {
      if (inner.start < statement.start || inner === statement) continue;
      const parts = ownExpressions(inner).flatMap((own) => [...expressionsIn(own)]);
      const uses = parts.filter((part) => part.type === 'name' && part.id === filled);
      for (const use of uses) {
        const lookup = parts.find(
          (part) => part.type === 'call' && calleeName(part) === 'map' && part.args[0]?.value === use,
        );
        if (lookup === undefined) return undefined;
        const isBound = parts.some(
          (part) =>
            part.type === 'call' &&
            calleeName(part) === 'clip' &&
            part.args.some(({ value }) => value.start <= lookup.start && lookup.end <= value.end),
        );
        if (isBound) continue;
        if (pandas === undefined || lookup.start < block.start || lookup.end > block.end) return undefined;
        edits.push({
          start: lookup.end,
          end: lookup.end,
          text: `.fillna(${pandas}.Series(${filled}).mean())`,
        });
      }
    }
  }
  return edits;
}
