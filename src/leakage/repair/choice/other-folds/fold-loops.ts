import type { Call, Compare, Expr, For, Module, Stmt } from '../../../syntax/ast.js';
import { calleeName, namesInExpression, statementsIn } from '../../../syntax/walk.js';
import { assignedTo, expressionsOf } from './assigned-values.js';
import { dividesAlike, leavesEachOut } from './fixed-seed.js';
import { NotCrossFitted } from './not-cross-fitted.js';

/** A loop over the folds of some rows, and how it is said once more. */
export interface FoldRounds {
  readonly loop: For;
  /** `for train, val in folds.split(X, y):` */
  readonly head: string;
  /** The rows that are trained on, and those that are predicted, as the loop writes them. */
  readonly train: string;
  readonly scored: string;
  /** Variables that the head reads. */
  readonly reads: ReadonlySet<string>;
}

/** The rounds of a loop in which positions are taken from a splitter, or in which one number of a column of folds is left out. */
export function foldRounds(module: Module, loop: For): FoldRounds | undefined {
  return roundsOfSplitter(module, loop) ?? roundsOfColumn(module, loop);
}

function roundsOfSplitter(module: Module, loop: For): FoldRounds | undefined {
  const { target } = loop;
  if (target.type !== 'sequence') return undefined;
  const isCounted = loop.iterable.type === 'call' && calleeName(loop.iterable) === 'enumerate';
  const pair = isCounted ? target.items[1] : target;
  const folds = withoutCounting(loop.iterable);
  if (pair?.type !== 'sequence' || pair.items.length !== 2 || !areFolds(module, folds, loop))
    return undefined;
  const [train, scored] = pair.items;
  if (train?.type !== 'name' || scored?.type !== 'name') return undefined;
  const text = module.source.slice(folds.start, folds.end);
  if (text.includes('\n')) throw new NotCrossFitted('the loop over the folds is written on several lines');
  return {
    loop,
    head: `for ${train.id}, ${scored.id} in ${text}:`,
    train: train.id,
    scored: scored.id,
    reads: new Set([...namesInExpression(folds)].map(({ id }) => id)),
  };
}

/** `enumerate(folds, 1)`, `tqdm(folds)` */
function withoutCounting(iterable: Expr): Expr {
  if (iterable.type !== 'call' || !/^(enumerate|tqdm)$/.test(calleeName(iterable))) return iterable;
  const [first] = iterable.args;
  return first === undefined || first.star !== '' ? iterable : withoutCounting(first.value);
}

/** Whether these are the folds of a splitter; throws where they may not be the same ones if they are taken once more. */
function areFolds(module: Module, folds: Expr, loop: For): boolean {
  const split = splitCall(folds);
  if (split !== undefined) {
    const splitter = splitterOf(module, split, loop);
    if (splitter !== undefined && !leavesEachOut(splitter))
      throw new NotCrossFitted('the folds may not leave each row out once');
    if (splitter === undefined || !dividesAlike(module, splitter, loop))
      throw new NotCrossFitted('the folds may be others when they are made once more');
    return true;
  }
  if (folds.type !== 'name') return false;
  const [value, ...others] = assignedTo(module, folds.id, loop);
  const listed = value?.type === 'call' && calleeName(value) === 'list' ? value.args[0]?.value : undefined;
  const listedSplit = listed === undefined ? undefined : splitCall(listed);
  if (others.length > 0 || listedSplit === undefined) return false;
  const splitter = splitterOf(module, listedSplit, loop);
  return splitter !== undefined && leavesEachOut(splitter);
}

function splitCall(expression: Expr): Call | undefined {
  const isSplit =
    expression.type === 'call' &&
    expression.callee.type === 'attribute' &&
    expression.callee.name === 'split';
  return isSplit ? expression : undefined;
}

function splitterOf(module: Module, { callee }: Call, loop: For): Call | undefined {
  const object = callee.type === 'attribute' ? callee.object : undefined;
  if (object?.type === 'call') return object;
  const values = object?.type === 'name' ? assignedTo(module, object.id, loop) : [];
  const [value, ...others] = values;
  return value?.type === 'call' && others.length === 0 ? value : undefined;
}

/** `for k in range(5)`, where `fold == k` picks the rows that are predicted and `fold != k` the others. */
function roundsOfColumn({ source }: Module, loop: For): FoldRounds | undefined {
  const { target, iterable } = loop;
  if (target.type !== 'name') return undefined;
  const text = (part: Expr): string => source.slice(part.start, part.end);
  const comparisons = [...statementsIn(loop)].flatMap((statement) =>
    rowIndices(statement).filter((index): index is Compare => index.type === 'compare'),
  );
  const sides = comparisons.map(({ operators, operands: [left, right] }) => ({
    operator: operators[0],
    column: left,
    isTurn: operators.length === 1 && right?.type === 'name' && right.id === target.id,
  }));
  const scored = sides.filter(({ operator, isTurn }) => operator === '==' && isTurn);
  const [column] = scored.flatMap((side) => (side.column === undefined ? [] : [side.column]));
  if (
    column === undefined ||
    sides.some((side) => side.column === undefined || text(side.column) !== text(column))
  )
    return undefined;
  if (!sides.some(({ operator, isTurn }) => operator === '!=' && isTurn)) return undefined;
  if (text(iterable).includes('\n') || !isTakenAgain(iterable)) return undefined;
  return {
    loop,
    head: `for ${target.id} in ${text(iterable)}:`,
    train: `${text(column)} != ${target.id}`,
    scored: `${text(column)} == ${target.id}`,
    reads: new Set([...namesInExpression(column), ...namesInExpression(iterable)].map(({ id }) => id)),
  };
}

/** `range(5)`, `np.unique(fold)`: gives the same values once more. */
function isTakenAgain(iterable: Expr): boolean {
  return iterable.type === 'call' && /^(range|unique|sorted)$/.test(calleeName(iterable));
}

/** First indices of the subscripts of a statement. */
function rowIndices(statement: Stmt): Expr[] {
  return expressionsOf(statement).flatMap((part) =>
    part.type === 'subscript' ? part.indices.slice(0, 1) : [],
  );
}
