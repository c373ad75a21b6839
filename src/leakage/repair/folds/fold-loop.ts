import type { Expr, For, FunctionDefinition, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, rootName, statementsIn } from '../../syntax/walk.js';

/** A loop over folds: `for train, val in folds.split(X, y)`, with or without `enumerate`. */
export interface FoldLoop {
  readonly statement: For;
  /** The statement of the outer suite that holds the loop, or is it. */
  readonly outer: Stmt;
  /** Variable of the positions of the training rows. */
  readonly train: string;
  /** The table whose rows are divided. */
  readonly table: string;
  /** The function that the loop is in, where that reads the tables of the statements from outside. */
  readonly within?: FunctionDefinition;
}

/** The only loop over folds in some statements; nothing where there is none, or more than one. */
export function onlyFoldLoop(statements: readonly Stmt[]): FoldLoop | undefined {
  const outside = statements.filter(({ type }) => type !== 'function' && type !== 'class');
  const loops = outside.flatMap((outer) => loopsIn(outer));
  return loops.length === 1 ? loops[0] : undefined;
}

/** The only loop over folds in some statements and in the functions among them, where it is in such a function. */
export function onlyFoldLoopInFunction(statements: readonly Stmt[]): FoldLoop | undefined {
  const loops = statements.flatMap((outer) =>
    loopsIn(outer).map((loop) => (outer.type === 'function' ? { ...loop, within: outer } : loop)),
  );
  return loops.length === 1 && loops[0]?.within !== undefined ? loops[0] : undefined;
}

function loopsIn(outer: Stmt): FoldLoop[] {
  return [...statementsIn(outer)].flatMap((statement) => {
    if (statement.type !== 'for') return [];
    const train = trainingIndex(statement);
    const table = dividedTable(statement);
    return train === undefined || table === undefined ? [] : [{ statement, outer, train, table }];
  });
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
    if (rows === undefined || rows.star !== '' || rows.value.type === 'constant') continue;
    return tableOfLength(rows.value) ?? rootName(rows.value);
  }
  return undefined;
}

/** `np.zeros(len(y))`, `np.arange(X.shape[0])`, `range(len(X))`: the table whose number of rows it is. */
function tableOfLength(rows: Expr): string | undefined {
  if (rows.type !== 'call' || !/^(zeros|ones|empty|arange|range)$/.test(calleeName(rows))) return undefined;
  const [size] = rows.args;
  const value = size?.value.type === 'sequence' ? size.value.items[0] : size?.value;
  const [table] = value?.type === 'call' && calleeName(value) === 'len' ? value.args : [];
  if (table !== undefined) return rootName(table.value);
  const isShape =
    value?.type === 'subscript' && value.object.type === 'attribute' && value.object.name === 'shape';
  return isShape ? rootName(value) : undefined;
}
