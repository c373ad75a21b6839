import type { Call, Expr } from '../../syntax/ast.js';
import { calleeName, expressionsIn, ownExpressions, partsOf, rootName } from '../../syntax/walk.js';
import type { Region } from '../../values/region.js';
import { newStatements, partPairs, type ScriptChange } from './script-change.js';

/** What a table knows of itself besides its rows. */
const ABOUT = /^(columns|dtypes|dtype|name|names|keys|schema|shape)$/;

/**
 * Why a rewrite may not stay that puts the rows of a part beside the rows of the whole table: in a call, as `backward(train, y,
 * columns)`, where `y` has the labels of all rows, or in a column, as `train["rate"] = [rates[key] for key in frame["key"]]`.
 * @param rows The rows of each variable, when the split runs.
 */
export function besideAllRows(
  change: ScriptChange,
  rows: ReadonlyMap<string, readonly Region[]>,
): string | undefined {
  const pairs = partPairs(change);
  const parts = new Set(pairs.flatMap(({ train, test }) => [train, test]));
  const sources = new Set(
    pairs.flatMap(({ source }) => (rows.get(rootName(source) ?? '') ?? []).map(sourceOf)),
  );
  const isWhole = (name: string): boolean =>
    !parts.has(name) &&
    (rows.get(name) ?? []).some((region) => !isDivided(region) && sources.has(sourceOf(region)));
  for (const statement of newStatements(change)) {
    const [target] = statement.type === 'assign' ? statement.targets : [];
    const column = target?.type === 'subscript' && parts.has(rootName(target) ?? '') ? statement : undefined;
    const read = column?.type === 'assign' ? wholeRowsRead(column.value, isWhole) : undefined;
    if (read !== undefined) return `\`${read}\` has all rows, and gives those of one part a column`;
    for (const own of ownExpressions(statement)) {
      for (const call of expressionsIn(own)) {
        if (call.type !== 'call' || !call.args.some(({ value }) => parts.has(rootName(value) ?? '')))
          continue;
        const other = wholeRowsIn(call, isWhole);
        if (other !== undefined) return `\`${other}\` has all rows, beside those of one part in a call`;
      }
    }
  }
  return undefined;
}

/** A variable whose rows a call gets, as they are or as some of its columns. */
function wholeRowsIn({ args }: Call, isWhole: (name: string) => boolean): string | undefined {
  for (const { value } of args) {
    const name = rootName(value);
    if (name !== undefined && isWhole(name) && isOfRows(value)) return name;
  }
  return undefined;
}

/** A variable whose rows an expression reads, not only their number or the names of their columns, nor some by their positions. */
function wholeRowsRead(expression: Expr, isWhole: (name: string) => boolean): string | undefined {
  if (expression.type === 'name') return isWhole(expression.id) ? expression.id : undefined;
  if (expression.type === 'attribute' && ABOUT.test(expression.name)) return undefined;
  if (expression.type === 'call' && calleeName(expression) === 'len') return undefined;
  const isPicked =
    expression.type === 'subscript' &&
    expression.object.type === 'attribute' &&
    /^i?loc$/.test(expression.object.name);
  if (isPicked) return undefined;
  for (const part of partsOf(expression)) {
    const found = wholeRowsRead(part, isWhole);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `frame`, `frame["a"].values`, `frame.a`; not `frame.columns`, nor `frame[rows]`. A call in between may give anything. */
function isOfRows(value: Expr): boolean {
  let part = value;
  for (;;) {
    if (part.type === 'name') return true;
    if (part.type === 'subscript' && part.indices.every(isColumn)) part = part.object;
    else if (part.type === 'attribute' && !ABOUT.test(part.name)) part = part.object;
    else return false;
  }
}

function isColumn(index: Expr): boolean {
  if (index.type === 'sequence') return index.items.every(isColumn);
  return index.type === 'constant' && typeof index.value === 'string';
}

/** The table from which rows come. */
function sourceOf(region: Region): Region {
  let source = region;
  while (source.parent !== undefined) source = source.parent;
  return source;
}

/** Whether rows are those of one side of a split or fold; rows that were selected may still be on both sides. */
function isDivided(region: Region): boolean {
  for (let part: Region | undefined = region; part !== undefined; part = part.parent)
    if (part.partition !== undefined && part.partition.form !== 'selection') return true;
  return false;
}
