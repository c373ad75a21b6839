import type { Leak } from '../../findings/find-leaks.js';
import type { Expr, Stmt } from '../../syntax/ast.js';
import { calleeName, namesInExpression, ownExpressions, rootName } from '../../syntax/walk.js';
import { declined, edited, freshName, type RepairContext, type Rewrite, statementsOf } from '../context.js';
import { isRowValue } from '../row-values.js';
import { hasRows, isPositional, NotSaid, Saying } from './computations-of-rows.js';
import { groupLoopAround } from './group-lookup.js';
import { divideEarlier, type EarlierDivision } from './later-split.js';

export const LEARNS: ReadonlySet<string> = new Set([
  'training-rows',
  'scaling',
  'imputation',
  'encoding',
  'projection',
  'vocabulary',
  'clustering',
  'binning',
  'statistics',
  'group-statistics',
  'target-encoding',
  'feature-selection',
]);

/** The first statement of the block that holds a leak: what is learned has to be known before it. */
export function anchorOf(context: RepairContext): Stmt | undefined {
  return statementsOf(context).find((statement) =>
    context.leaks.some(({ node }) => node.start >= statement.start && node.end <= statement.end),
  );
}

/**
 * What is computed over all rows before `train_test_split(…, random_state=…)` is computed over those rows that the
 * split will give to the training part. They are known before the split, since the same seed divides the positions of
 * the rows in the same way. All other lines stay.
 */
export function learnOnRowsOfLaterSplit(context: RepairContext): Rewrite {
  const anchor = anchorOf(context);
  const [leak] = context.leaks;
  if (anchor === undefined || leak === undefined) return declined('no leak in this block');
  if (context.leaks.some(({ kind, split }) => !LEARNS.has(kind) || split?.node !== leak.split?.node))
    return declined('the block holds a leak that cannot be moved');
  try {
    const table = firstTable(context, leak);
    const earlier = divideEarlier(context, leak, anchor, table);
    if (typeof earlier === 'string') return declined(earlier);
    const divided = divideForFit(context, leak, anchor, earlier);
    if (divided !== undefined) return { text: divided };
    const saying = new Saying(context, leak, anchor, earlier);
    const edits = saying.edits();
    return { text: edited(context.source, context.block, saying.withLines(edits, earlier.lines)) };
  } catch (error) {
    if (error instanceof NotSaid) return declined(error.message);
    throw error;
  }
}

/** `model.fit(X, y)` before the split: the tables themselves are divided, whatever they are. */
function divideForFit(
  context: RepairContext,
  leak: Leak,
  anchor: Stmt,
  { divide, lines }: EarlierDivision,
): string | undefined {
  const { source, block, lineEnding } = context;
  const { node } = leak;
  const isAlone = context.leaks.length === 1 && leak.nodes.length === 1 && leak.statement === anchor;
  if (leak.kind !== 'training-rows' || !isAlone || node.type !== 'call' || calleeName(node) !== 'fit')
    return undefined;
  const tables = node.args.filter(isPositional).map(({ value }) => value);
  const hasOthers = node.args.some(
    ({ name, star }) => star !== '' || name === 'X' || name === 'y' || isRowValue(name),
  );
  const areKnown = tables.every((table) => {
    const root = rootName(table);
    return root !== undefined && hasRows(context, leak, root);
  });
  if (hasOthers || !areKnown || tables.length === 0 || tables.length > 2) return undefined;
  const indent = source.slice(source.lastIndexOf('\n', anchor.start - 1) + 1, anchor.start);
  if (/\S/.test(indent)) throw new NotSaid('the fit shares its line');
  const names = ['x', 'y'].slice(0, tables.length).map((end) => freshName(source, `fit_${end}`));
  const rests = ['x', 'y'].slice(0, tables.length).map((end) => freshName(source, `rest_${end}`));
  const texts = tables.map(({ start, end }) => source.slice(start, end));
  const imports = lines.slice(0, -1).map((one) => `${one}${lineEnding}${indent}`);
  const line = `${imports.join('')}${names.map((name, at) => `${name}, ${rests[at] ?? ''}`).join(', ')} = ${divide(texts)}${lineEnding}${indent}`;
  const edits = tables.map(({ start, end }, at) => ({ start, end, text: names[at] ?? '' }));
  return edited(source, block, [{ start: anchor.start, end: anchor.start, text: line }, ...edits]);
}

/** A variable with the rows of the leak: the division is made for its length. */
function firstTable(context: RepairContext, leak: Leak): string {
  for (const part of enclosing(leak.statement, leak.node)) {
    if (part.type === 'name' && hasRows(context, leak, part.id)) return part.id;
  }
  throw new NotSaid('the rows of the fit have no name before it');
}

/** The names of a computation, and of the whole statement around them where it is written for groups. */
function* enclosing(statement: Stmt, node: Expr): Generator<Expr> {
  yield* namesInExpression(node);
  for (const own of ownExpressions(statement)) yield* namesInExpression(own);
  const loop = groupLoopAround(statement, node);
  if (loop !== undefined) yield loop.frame;
}
