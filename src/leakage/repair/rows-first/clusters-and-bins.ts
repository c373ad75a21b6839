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

/** `pd.qcut(frame["column"], q=10, labels=False)`: bins whose edges are quantiles of all rows. */
export interface QuantileBins {
  readonly column: Expr;
  /** The callee without its last word: `pd.` */
  readonly library: string;
  /** Text of the arguments that decide the edges. */
  readonly edges: readonly string[];
  /** Text of the arguments that name the bins. */
  readonly naming: readonly string[];
}

/** The parts of a call of `qcut` whose rows are one column of a table; nothing for another call. */
export function readQuantileBins(source: string, { callee, args }: Call): QuantileBins | undefined {
  const textOf = ({ start, end }: Expr): string => source.slice(start, end);
  if (callee.type !== 'attribute' || callee.name !== 'qcut') return undefined;
  const [first, second, third] = args;
  if (first === undefined || args.some(({ star }) => star !== '')) return undefined;
  if (args.filter(({ name }) => name === undefined).length > 2 && third?.name === undefined) return undefined;
  if (first.value.type !== 'subscript' || first.value.object.type !== 'name') return undefined;
  const edges: string[] = [];
  const naming: string[] = [];
  for (const { name, value } of args.slice(1)) {
    const text = name === undefined ? textOf(value) : `${name}=${textOf(value)}`;
    if (name === 'labels' || name === 'precision') naming.push(text);
    else if (name === 'q' || name === 'duplicates' || (name === undefined && value === second?.value))
      edges.push(text);
    else return undefined;
  }
  return { column: first.value, library: textOf(callee.object), edges, naming };
}

/** The line that takes the edges from some rows, and the expression that puts all rows between them. */
export function sayQuantileBins(
  source: string,
  { column, library, edges, naming }: QuantileBins,
  ofFrame: string,
  name: string,
): { readonly line: string; readonly text: string } {
  const rows = source.slice(column.start, column.end);
  const options = ['retbins=True', 'labels=False', ...edges.filter((text) => text.includes('='))];
  const positional = edges.filter((text) => !text.includes('='));
  const line = `${name} = ${library}.qcut(${[`${rows}${ofFrame}`, ...positional, ...options].join(', ')})[1]`;
  // Values beyond those of the training rows belong to the first and the last bin.
  const within = `${rows}.clip(${name}[0], ${name}[-1])`;
  return { line, text: `${library}.cut(${[within, name, ...naming, 'include_lowest=True'].join(', ')})` };
}
