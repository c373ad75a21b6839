import type { Expr, Slice } from '../syntax/ast.js';
import { comparisonSide } from '../values/comparison.js';
import { originOf, type Region, sameRows } from '../values/region.js';
import type { Step, TableState } from '../values/value.js';
import type { Interpreter } from './interpreter.js';
import { positionOf } from './positions.js';
import { slidingWindow, withoutWindowViews } from './row-events.js';
import { pickRows } from './rows-and-columns.js';
import { textStep } from './steps.js';

/** The step to the rows on one side of a cut; nothing where the cut is at the end. */
function cutStep(
  interp: Interpreter,
  rows: readonly Region[],
  bound: Expr,
  side: 'before' | 'after',
  node: Expr,
  inclusive = false,
): Step | undefined {
  const value = interp.evaluate(bound);
  if (value.type === 'constant' && (value.value === 0 || value.value === null)) return undefined;
  const counted = value.type === 'opaque' ? value.countOf : undefined;
  if (side === 'before' && counted !== undefined && sameRows(counted, rows)) return undefined;
  const at = counted === undefined ? positionOf(value) : undefined;
  const written =
    value.type === 'constant' ? String(value.value) : interp.text(bound).replaceAll(/[\s()]+/g, '');
  const text =
    at === undefined || value.type === 'constant'
      ? written
      : `${Number(at.fraction.toFixed(9))}*+${at.offset}`;
  // `loc[:n - 1]` ends with row n - 1, and `loc[n:]` begins with the next.
  const key = inclusive && side === 'before' ? text.replace(/-1$/, '') : text;
  return { partition: interp.partition(`cut:${key}`, 'selection', node, undefined, at), side };
}

/** Steps of a slice over rows: before a cut, after a cut, or between two. */
export function sliceSteps(
  interp: Interpreter,
  slice: Slice,
  inclusive = false,
  rows: readonly Region[] = [],
): Step[] {
  const { lower, upper, step } = slice;
  if (step !== undefined)
    return isReversal(interp, slice) && lower === undefined ? [] : [textStep(interp, slice)];
  // The end first: before it, positions count from the start as in the whole.
  const end = upper === undefined ? undefined : cutStep(interp, rows, upper, 'before', slice, inclusive);
  const start = lower === undefined ? undefined : cutStep(interp, rows, lower, 'after', slice);
  return [end, start].filter((cut) => cut !== undefined);
}

/** `frame.loc[:'2023-06']`: a comparison of the index, where the bounds are labels. */
function labelSteps(interp: Interpreter, slice: Slice): Step[] | undefined {
  const steps: Step[] = [];
  // Two slices with one bound have a row or a month of rows in common, and are meant to divide.
  for (const [bound, operator] of [
    [slice.lower, '>='],
    [slice.upper, '<'],
  ] as const) {
    if (bound === undefined) continue;
    const value = interp.evaluate(bound);
    if (value.type !== 'constant' || typeof value.value !== 'string') return undefined;
    const side = comparisonSide(operator, value.value);
    if (side === undefined) return undefined;
    steps.push({ partition: interp.partition('compare:index', 'selection', slice), side });
  }
  return steps.length === 0 ? undefined : steps;
}

/** How many of the parts of a concatenation lie before a position, where it is between two of them. */
export function partsBefore(interp: Interpreter, rows: readonly Region[], bound: Expr): number | undefined {
  if (bound.type === 'unary' && bound.operator === '-') {
    const after = partsCounted(interp, [...rows].reverse(), bound.operand);
    return after === undefined ? undefined : rows.length - after;
  }
  // `loc[:n - 1]` ends with row n - 1.
  const isLess =
    bound.type === 'binary' &&
    bound.operator === '-' &&
    bound.right.type === 'constant' &&
    bound.right.value === 1;
  return partsCounted(interp, rows, isLess ? bound.left : bound);
}

function partsCounted(interp: Interpreter, rows: readonly Region[], bound: Expr): number | undefined {
  const value = interp.evaluate(bound);
  if (value.type === 'constant') {
    if (value.value === 0) return 0;
    // Of two tables one after the other, a number that is written out is the length of the first.
    return typeof value.value === 'number' && Math.abs(value.value) > 1 && rows.length === 2 ? 1 : undefined;
  }
  const counted = value.type === 'opaque' ? value.countOf : undefined;
  if (counted === undefined || counted.length > rows.length) return undefined;
  if (counted.every((region, at) => rows[at] === region)) return counted.length;
  const [only] = counted;
  const [first, second] = rows;
  // The first table has lost rows since, or loses them later.
  const isFirst =
    counted.length === 1 && only !== undefined && first !== undefined && originOf(only) === originOf(first);
  return isFirst && rows.length === 2 && second !== undefined && originOf(second) !== originOf(first)
    ? 1
    : undefined;
}

/** Rows of a concatenation up to, or from, the number of rows of its first parts. */
function sliceOfParts(interp: Interpreter, state: TableState, slice: Slice): readonly Region[] | undefined {
  if (slice.step !== undefined) return undefined;
  const low = slice.lower === undefined ? 0 : partsBefore(interp, state.rows, slice.lower);
  const high = slice.upper === undefined ? state.rows.length : partsBefore(interp, state.rows, slice.upper);
  if (low === undefined || high === undefined || low >= high) return undefined;
  return state.rows.slice(low, high);
}

/** `[::-1]` */
function isReversal(interp: Interpreter, { step }: Slice): boolean {
  return step !== undefined && interp.text(step) === '-1';
}

/** The rows of a slice. */
export function sliceRows(
  interp: Interpreter,
  state: TableState,
  slice: Slice,
  inclusive = false,
): TableState {
  const labels = labelSteps(interp, slice);
  if (labels !== undefined) return pickRows(interp, state, labels);
  const parts = state.rows.length > 1 ? sliceOfParts(interp, state, slice) : undefined;
  if (parts !== undefined) return { ...state, rows: parts };
  const steps = sliceSteps(interp, slice, inclusive, state.rows);
  if (slice.step !== undefined && !isReversal(interp, slice))
    return withoutWindowViews(pickRows(interp, state, steps));
  if (steps.length === 0)
    return isReversal(interp, slice) ? { ...state, reversed: state.reversed !== true } : state;
  const taken = slidingWindow(interp, state, slice, steps);
  // A cut somewhere through rows of several origins: nobody knows on which side each of them is.
  return {
    ...pickRows(interp, taken.windows, taken.steps),
    certain: state.certain && state.rows.length <= 1,
  };
}
