import type { Stmt } from '../../syntax/ast.js';
import {
  expressionsIn,
  namesIn,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import type { RepairContext } from '../context.js';
import type { FoldLoop } from './fold-loop.js';

const APPLIES = /^(predict\w*|transform|decision_function|score|score_samples)$/;

/**
 * A model of a fold that is applied after the loop to a table that was prepared for all rows: the two would not go
 * together any more. Nothing where that does not happen.
 */
export function usedWithFoldModels(
  context: RepairContext,
  { statement: loop }: FoldLoop,
  prepared: ReadonlySet<string>,
): string | undefined {
  const models = namesOfFolds(loop);
  for (const statement of statementsAfter(loop)) {
    for (const inner of statementsIn(statement)) {
      // `for model in models`, `total = sum(m.predict(X) for m in models)`
      const own = ownExpressions(inner).flatMap((part) => [...expressionsIn(part)]);
      if (inner.type === 'for' && mentions(namesInExpression(inner.iterable), models))
        for (const { id } of namesInExpression(inner.target)) models.add(id);
      for (const part of own) {
        if (part.type !== 'comprehension') continue;
        for (const { target, iterable } of part.clauses)
          if (mentions(namesInExpression(iterable), models))
            for (const { id } of namesInExpression(target)) models.add(id);
      }
      for (const part of own) {
        // What the folds predicted is in the units of their own preparation.
        const mixes =
          part.type === 'binary' &&
          /^[-+*/]$/.test(part.operator) &&
          mentions(namesInExpression(part), models) &&
          mentions(namesInExpression(part), prepared);
        const turnsBack =
          part.type === 'call' &&
          part.callee.type === 'attribute' &&
          prepared.has(rootName(part.callee.object) ?? '') &&
          part.args.some(({ value }) => mentions(namesInExpression(value), models));
        if (mixes || turnsBack) return 'what the folds give is put together with the preparation after them';
        if (part.type !== 'call') continue;
        const { callee } = part;
        const isApplied =
          callee.type === 'attribute' &&
          APPLIES.test(callee.name) &&
          models.has(rootName(callee.object) ?? '');
        const isOwnFunction =
          callee.type === 'name' &&
          context.module.body.statements.some((one) => one.type === 'function' && one.name === callee.id) &&
          part.args.some(({ value }) => mentions(namesInExpression(value), fittedInFolds(loop)));
        if (!isApplied && !isOwnFunction) continue;
        const table = part.args
          .flatMap(({ value }) => [...namesInExpression(value)])
          .find(({ id }) => prepared.has(id));
        if (table !== undefined) return `a model of the folds is applied to \`${table.id}\` after them`;
      }
      if (
        inner.type === 'return' &&
        mentions(namesIn(inner), prepared) &&
        mentions(namesIn(inner), fittedInFolds(loop))
      )
        return 'a model of the folds is returned with what it was prepared by';
      if (inner.type === 'assign' && inner.suite === loop.suite)
        for (const target of inner.targets)
          if (target.type === 'name' && !mentions(namesInExpression(inner.value), models))
            models.delete(target.id);
    }
  }
  return undefined;
}

/** Whether a variable is read after a loop. */
export function isReadAfter(loop: Stmt, name: string): boolean {
  return [...statementsAfter(loop)].some((statement) => mentions(namesIn(statement), new Set([name])));
}

function mentions(names: Iterable<{ readonly id: string }>, wanted: ReadonlySet<string>): boolean {
  for (const { id } of names) if (wanted.has(id)) return true;
  return false;
}

/** Variables that hold something of a fold after the loop: assigned in it, fitted in it, or filled in it. */
function namesOfFolds(loop: Stmt): Set<string> {
  const names = fittedInFolds(loop);
  for (const inner of statementsIn(loop)) {
    if (inner === loop || inner.type !== 'assign') continue;
    for (const target of inner.targets.flatMap((one) => (one.type === 'sequence' ? one.items : [one]))) {
      const name = rootName(target);
      if (name !== undefined) names.add(name);
    }
  }
  return names;
}

/** What is fitted in the loop, and the lists that something is put in. */
function fittedInFolds(loop: Stmt): Set<string> {
  const names = new Set<string>();
  for (const inner of statementsIn(loop)) {
    for (const own of ownExpressions(inner)) {
      for (const part of expressionsIn(own)) {
        if (part.type !== 'call' || part.callee.type !== 'attribute') continue;
        if (!/^(fit|train|partial_fit|append|extend|add|setdefault)$/.test(part.callee.name)) continue;
        const name = rootName(part.callee.object);
        if (name !== undefined) names.add(name);
      }
    }
  }
  return names;
}

/** The statements that run after a loop, up to the end of its function. */
function* statementsAfter(loop: Stmt): Generator<Stmt> {
  let current = loop;
  for (;;) {
    const { statements, owner } = current.suite;
    yield* statements.slice(statements.indexOf(current) + 1);
    if (owner === undefined || owner.type === 'function') return;
    current = owner;
  }
}
