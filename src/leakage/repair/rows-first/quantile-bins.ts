import type { Call, Expr } from '../../syntax/ast.js';

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
