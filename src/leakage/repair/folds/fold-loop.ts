import type { For, Stmt } from '../../syntax/ast.js';
import { expressionsIn, rootName, statementsIn } from '../../syntax/walk.js';

/** A loop over folds: `for train, val in folds.split(X, y)`, with or without `enumerate`. */
export interface FoldLoop {
  readonly statement: For;
  /** The statement of the outer suite that holds the loop, or is it. */
  readonly outer: Stmt;
  /** Variable of the positions of the training rows. */
  readonly train: string;
  /** The table whose rows are divided. */
  readonly table: string;
}

/** The only loop over folds in some statements; nothing where there is none, or more than one. */
export function onlyFoldLoop(statements: readonly Stmt[]): FoldLoop | undefined {
  const loops: FoldLoop[] = [];
  for (const outer of statements) {
    if (outer.type === 'function' || outer.type === 'class') continue;
    for (const statement of statementsIn(outer)) {
      if (statement.type !== 'for') continue;
      const train = trainingIndex(statement);
      const table = dividedTable(statement);
      if (train !== undefined && table !== undefined) loops.push({ statement, outer, train, table });
    }
  }
  return loops.length === 1 ? loops[0] : undefined;
}

/** `for tr, va in kf.split(X)`, `for fold, (tr, va) in enumerate(kf.split(X))`: the name of the first of the two. */
export function trainingIndex({ target }: For): string | undefined {
  if (target.type !== 'sequence') return undefined;
  const nested = target.items.find((item) => item.type === 'sequence');
  const pair = nested?.type === 'sequence' ? nested.items : target.items;
  const [first] = pair;
  return pair.length === 2 && first?.type === 'name' ? first.id : undefined;
}

function dividedTable({ iterable }: For): string | undefined {
  for (const part of expressionsIn(iterable)) {
    if (part.type !== 'call' || part.callee.type !== 'attribute' || part.callee.name !== 'split') continue;
    const [rows] = part.args;
    if (rows !== undefined && rows.star === '' && rows.value.type !== 'constant') return rootName(rows.value);
  }
  return undefined;
}
