import type { Call, Expr } from '../../syntax/ast.js';
import { expressionsIn, ownExpressions, rootName, statementsIn } from '../../syntax/walk.js';
import type { RepairContext, TextEdit } from '../context.js';
import { isChangedBetween } from '../divisions.js';

/**
 * `kmeans.labels_` after a fit on some rows: the clusters of all rows are what the fitted object predicts. Nothing where
 * it cannot.
 */
export function clustersOfAllRows(
  { module, source, block }: RepairContext,
  fit: Call,
  object: Expr,
  rows: Expr,
  predicts: boolean,
): TextEdit[] | undefined {
  const fitted = new Set(object.type === 'name' ? [object.id] : []);
  const edits: TextEdit[] = [];
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (statement.end < fit.end) continue;
      if (statement.type === 'assign' && statement.value === fit) {
        for (const target of statement.targets) if (target.type === 'name') fitted.add(target.id);
      }
      for (const part of ownExpressions(statement).flatMap((own) => [...expressionsIn(own)])) {
        if (part.type !== 'attribute' || !/^(labels_|row_labels_|embedding_)$/.test(part.name)) continue;
        if (part.object !== fit && !fitted.has(rootName(part.object) ?? '')) continue;
        const isPredicted =
          predicts &&
          part.name === 'labels_' &&
          part.object !== fit &&
          rows.type === 'name' &&
          part.start >= block.start &&
          part.end <= block.end &&
          !isChangedBetween(module, fit.end, part.start, rows.id);
        if (!isPredicted) return undefined;
        const text = `${source.slice(part.object.start, part.object.end)}.predict(${rows.id})`;
        edits.push({ start: part.start, end: part.end, text });
      }
    }
  }
  return edits;
}
