import type { LeakKind } from '../kinds.js';
import type { Call, Expr, Slice } from '../syntax/ast.js';
import { namesInExpression } from '../syntax/walk.js';
import { union } from '../values/facts.js';
import { newTable } from '../values/join.js';
import { type CutAt, isCut } from '../values/region.js';
import { type Step, type TableState, tableFacts, type Value } from '../values/value.js';
import { ANY_LABEL } from './any-label.js';
import type { Interpreter } from './interpreter.js';
import { positionOf } from './positions.js';
import { pickRows } from './rows-and-columns.js';

/** The variable of a loop over a range of positions, and how far apart these are. */
export interface Counter {
  readonly name: string;
  /** 1, or the step that the range has: its value where that is known, and its expression. */
  readonly step: { readonly value: number | undefined; readonly expression: Expr | undefined };
  /** Where the range begins and ends, as far as it says. */
  readonly start?: Expr | undefined;
  readonly stop?: Expr | undefined;
}

/** The counter of `for i in range(…)`; nothing for any other loop. */
export function counterOf(interp: Interpreter, target: Expr, iterable: Expr): Counter | undefined {
  const isRange =
    iterable.type === 'call' && iterable.callee.type === 'name' && iterable.callee.id === 'range';
  if (!isRange || target.type !== 'name') return undefined;
  const [first, second, third] = iterable.args.map(({ value }) => value);
  const value = third === undefined ? 1 : numberOf(interp.evaluate(third));
  const [start, stop] = second === undefined ? [undefined, first] : [first, second];
  return { name: target.id, step: { value, expression: third }, start, stop };
}

/** Fewer rows at the start or the end are the history of the first window, or what the last one forecasts. */
const MIN_ROWS = 200;

/** Whether a position divides the rows, and is not one near their start or their end. */
function isWithin({ fraction, offset }: CutAt): boolean {
  if (fraction <= 0) return offset >= MIN_ROWS;
  return fraction < 1 || -offset >= MIN_ROWS;
}

/**
 * The part of the rows that `for i in range(start, stop)` goes through: nothing where that is all of them, except for some rows
 * at their ends.
 */
export function rangeSteps(interp: Interpreter, index: Expr): readonly Step[] {
  const counter = counterIn(interp, index);
  // Longer steps may go from one training to the next.
  if (counter?.step.value !== 1) return [];
  return stepsBetween(interp, counter.start, counter.stop, index);
}

function numberOf(value: Value): number | undefined {
  return value.type === 'constant' && typeof value.value === 'number' ? value.value : undefined;
}

/** The steps to the rows between two positions of which each may be missing, or be near the end of the rows. */
export function stepsBetween(
  interp: Interpreter,
  start: Expr | undefined,
  stop: Expr | undefined,
  node: Expr,
): readonly Step[] {
  const stepOf = (bound: Expr | undefined, side: 'before' | 'after'): readonly Step[] => {
    if (bound === undefined) return [];
    const value = interp.evaluate(bound);
    // The number of rows before a cut is where it is.
    const [counted] = value.type === 'opaque' ? (value.countOf ?? []) : [];
    if (counted?.partition !== undefined && isCut(counted.partition) && counted.side === 'before')
      return [{ partition: counted.partition, side }];
    const at = positionOf(value);
    if (at === undefined || !isWithin(at)) return [];
    const key =
      value.type === 'constant' ? String(value.value) : `${Number(at.fraction.toFixed(9))}*+${at.offset}`;
    return [{ partition: interp.partition(`cut:${key}`, 'selection', node, undefined, at), side }];
  };
  return [...stepOf(stop, 'before'), ...stepOf(start, 'after')];
}

/**
 * `series[i - n:i]` for every `i`: windows that overlap. Dealt out at random, a scored window shares most of
 * its values with windows that are trained on.
 */
export function slidingWindow(
  interp: Interpreter,
  state: TableState,
  slice: Slice,
  steps: readonly Step[],
): { readonly windows: TableState; readonly steps: readonly Step[] } {
  const same = { windows: state, steps };
  if (slice.lower === undefined || slice.upper === undefined || state.rows.length === 0) return same;
  const [lower, upper] = [slice.lower, madeInLoop(interp, slice.upper)];
  const counter = counterIn(interp, lower);
  const moves = (bound: Expr): boolean =>
    [...namesInExpression(bound)].some((name) => name.id === counter?.name) &&
    !/[*/%]/.test(interp.text(bound));
  if (counter === undefined || !moves(lower) || !moves(upper)) return same;
  const text = `\`${interp.label(slice)}\``;
  const subject = `the window ${text}`;
  const repeat = interp.context.repeatOf(counter);
  if (!overlap(interp, counter, lower, upper)) {
    const { rows } = pickRows(interp, state, steps);
    if (repeat !== undefined) interp.windows.note(repeat, { subject, node: slice, rows, areBatches: true });
    return same;
  }
  const within = rangeSteps(interp, lower);
  const taken = within.length === 0 ? steps : within;
  if (repeat !== undefined)
    interp.windows.note(repeat, { subject, node: slice, rows: pickRows(interp, state, taken).rows });
  const event = interp.fit('shuffled-time', subject, state, text, slice, undefined, [ANY_LABEL]);
  return { windows: { ...state, fits: union(state.fits, [event]) }, steps: taken };
}

/** A part of windows that were taken for each row, `windows[::24]`: those that remain need not overlap. */
export function withoutWindowViews(state: TableState): TableState {
  const fits = state.fits.filter(
    ({ node }) =>
      !(
        node.type === 'call' &&
        node.callee.type === 'attribute' &&
        node.callee.name === 'sliding_window_view'
      ),
  );
  return fits.length === state.fits.length ? state : { ...state, fits };
}

function counterIn(interp: Interpreter, bound: Expr): Counter | undefined {
  for (const { id } of namesInExpression(bound)) {
    const counter = interp.context.counter(id);
    if (counter !== undefined) return counter;
  }
  return undefined;
}

/** What a variable of the innermost loop was made of: `i + n` of `end = i + n`. */
function madeInLoop(interp: Interpreter, bound: Expr): Expr {
  if (bound.type !== 'name' || interp.context.counter(bound.id) !== undefined) return bound;
  const loop = interp.context.innermostLoop;
  if (loop?.type !== 'for') return bound;
  for (const statement of loop.body.statements) {
    const [target] = statement.type === 'assign' ? statement.targets : [];
    if (statement.type === 'assign' && target?.type === 'name' && target.id === bound.id)
      return statement.value;
  }
  return bound;
}

/** Whether windows that begin a step apart are longer than that step; a longer step cuts the rows into batches. */
function overlap(interp: Interpreter, { step }: Counter, lower: Expr, upper: Expr): boolean {
  if (step.value === 1) return true;
  const length = lengthBetween(lower, upper);
  if (length === undefined || step.expression === undefined) return false;
  const size = numberOf(interp.evaluate(length));
  if (size !== undefined && step.value !== undefined) return step.value > 0 && step.value < size;
  // `n // 2` is less than `n`, whatever that is.
  const [text, part] = [length, step.expression].map((part) => interp.text(part).replaceAll(/\s+/g, ''));
  return (
    text !== undefined && part?.startsWith(`${text}//`) === true && /^\d+$/.test(part.slice(text.length + 2))
  );
}

/** `n` of `i` and `i + n`, or of `i - n` and `i`. */
function lengthBetween(lower: Expr, upper: Expr): Expr | undefined {
  if (lower.type === 'name' && upper.type === 'binary' && upper.operator === '+') {
    if (upper.left.type === 'name' && upper.left.id === lower.id) return upper.right;
    if (upper.right.type === 'name' && upper.right.id === lower.id) return upper.left;
  }
  const isBefore = lower.type === 'binary' && lower.operator === '-' && lower.left.type === 'name';
  return isBefore && upper.type === 'name' && lower.left.type === 'name' && lower.left.id === upper.id
    ? lower.right
    : undefined;
}

/** The same rows, made with something that was computed over all of them by this method. */
export function withRowEvent(interp: Interpreter, state: TableState, kind: LeakKind, call: Call): Value {
  if (state.shape === 'row') return newTable(state);
  const rowsText = call.callee.type === 'attribute' ? interp.label(call.callee.object) : '';
  const event = interp.fit(kind, `\`${interp.label(call)}\``, tableFacts(state), rowsText, call);
  return newTable({ ...state, fits: union(state.fits, [event]) });
}
