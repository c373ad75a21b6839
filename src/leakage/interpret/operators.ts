import type { Call, Compare, ConstantValue, Expr } from '../syntax/ast.js';
import { comparisonSide } from '../values/comparison.js';
import {
  type Facts,
  joinFacts,
  NO_FACTS,
  type Prediction,
  type Score,
  union,
  withFits,
} from '../values/facts.js';
import { emptyTable, joinValues, newEstimator, newSequence, newTable } from '../values/join.js';
import { dividedAlike, originOf, overlapOf, type Region, sameRows } from '../values/region.js';
import {
  constant,
  factsOf,
  isElement,
  type Opaque,
  opaque,
  partsOf,
  type SequenceOf,
  type SequenceState,
  type Step,
  type Table,
  type TableState,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { countWork } from '../values/work.js';
import type { Arguments } from './arguments.js';
import { afterSteps, bothMasks, boundedText, pendingTogether } from './bounds.js';
import { choiceEvents } from './choices.js';
import { forecastFor } from './forecasts.js';
import type { Interpreter } from './interpreter.js';
import { predictionOf, trainingOf } from './learning.js';
import { arithmeticOnPositions } from './positions.js';
import { leftOut } from './row-labels.js';
import { otherSide, textStep } from './steps.js';

export interface OperatorNodes {
  readonly node: Expr;
  readonly left: Expr;
  readonly right: Expr;
}

/**
 * Where predictions meet labels of the same rows, a score is being computed: by a subtraction, a comparison or
 * any function that takes both.
 */
export function meetLabels(
  interp: Interpreter,
  a: Facts,
  b: Facts,
  node: Expr,
  isMetric = false,
): readonly Score[] {
  const [predicted, labels] = a.predictions.length > 0 ? [a, b] : [b, a];
  if (predicted.predictions.length === 0) return [];
  if (labels.predictions.length > 0 || labels.rows.length === 0) return [];
  const before = predicted.scores.flatMap((score) => [...score.predictions]);
  const known = new Set(before.map((prediction) => prediction.forecast ?? prediction));
  const forecasts = predicted.predictions.flatMap((prediction) => {
    if (!isUnmet(prediction) || known.has(prediction)) return [];
    return [forecastFor(interp, prediction, labels)];
  });
  if (forecasts.length > 0) return [interp.record.addScore(interp, forecasts, labels, predicted.fits, node)];
  const scored = predicted.predictions.filter(
    (prediction) =>
      !known.has(prediction) &&
      (overlapOf(prediction.rows, labels.rows) !== 'no' ||
        dividedAlike(prediction.rows, labels.rows, isMetric) ||
        (isMetric && dividedAlike(prediction.rows.map(withAllFolds), labels.rows, isMetric))),
  );
  if (scored.length === 0) return [];
  return [interp.record.addScore(interp, scored, labels, predicted.fits, node)];
}

/** The rows of all folds where a part is one fold of them: out-of-fold predictions beside the labels of all rows. */
function withAllFolds(part: Region): Region {
  return part.partition?.form === 'folds' && part.parent !== undefined ? part.parent : part;
}

/** Predictions weighted by scores are blended by a choice on the scored rows. */
export function withWeights(interp: Interpreter, a: Facts, b: Facts, node: Expr): Facts {
  const [predicted, weights] = a.predictions.length > 0 ? [a, b] : [b, a];
  const isBlend =
    predicted.predictions.length > 0 && weights.predictions.length === 0 && weights.scores.length > 0;
  if (!isBlend) return a;
  return withFits(a, choiceEvents(interp, weights.scores, 'the weight of the predictions', node));
}

/**
 * What one side of an operator carries. A column and the least or greatest of all values, one subtracted from the other: all
 * rows are shifted by one number, as dates by the first of them, and a model sees the same.
 */
function unlessShift(operator: string, value: Value, other: Value): Facts {
  const facts = factsOf(value);
  if (operator !== '-' || value.type !== 'opaque' || value.extreme === undefined || other.type !== 'table')
    return facts;
  return { ...facts, fits: facts.fits.filter((event) => event !== value.extreme) };
}

/** `year.max() + 1` */
function shiftedExtreme(operator: string, left: Value, right: Value): Pick<Opaque, 'extreme'> {
  const [value, other] = left.type === 'constant' ? [right, left] : [left, right];
  const isShift = (operator === '+' || operator === '-') && other.type === 'constant';
  return isShift && value.type === 'opaque' && value.extreme !== undefined ? { extreme: value.extreme } : {};
}

function stateOf(value: Value): TableState | undefined {
  return value.type === 'table' ? value.cell.value : undefined;
}

export function binaryValue(
  interp: Interpreter,
  operator: string,
  left: Value,
  right: Value,
  nodes: OperatorNodes,
): Value {
  if (left.type === 'constant' && right.type === 'constant') return foldConstants(operator, left, right);
  if (operator === 'or' || operator === 'and') {
    if (left.type === 'constant') {
      return Boolean(left.value) === (operator === 'or') ? left : right;
    }
    return opaque(joinFacts(factsOf(left), factsOf(right)));
  }
  if (left.type === 'sequence' && right.type === 'sequence' && operator === '+') {
    const added = interp.appended.addAll(interp, left, nodes.left, right, nodes.right);
    const [a, b] = [left.cell.value, added.type === 'sequence' ? added.cell.value : right.cell.value];
    const [first, second] = [collectedPieces(a), collectedPieces(b)];
    if (
      first !== undefined &&
      second !== undefined &&
      !sameRows(first.cell.value.rows, second.cell.value.rows)
    )
      return newSequence({ items: [], rest: restOf(interp, first, second) ?? first, tuple: a.tuple });
    const rest = restOf(interp, a.rest, b.rest);
    return newSequence({
      items: [...a.items, ...b.items],
      tuple: a.tuple,
      written: writtenOut(a) + (writtenOut(a) === a.items.length ? writtenOut(b) : 0),
      ...(rest === undefined ? {} : { rest }),
      ...leftOutOfBoth(a, b),
    });
  }
  if (operator === '@') {
    const predicted = handMadePrediction(interp, left, right, nodes);
    if (predicted !== undefined) return predicted;
  }
  if (operator === '-' && left.type === 'positions' && right.type === 'positions' && left.set && right.set)
    return afterSteps(left, [leftOut(interp, left.of ?? [], right, nodes.right)]);
  // `np.arange(n) % 5`: a number for each row.
  if (left.type === 'positions' || right.type === 'positions')
    return newTable(emptyTable(NO_FACTS, 'column'));
  if (left.type === 'sequence' && operator === '*') return repeated(left, right);
  const [own, b] = [unlessShift(operator, left, right), unlessShift(operator, right, left)];
  // A sum or difference of a score and of what a network gives is a loss, not a blend.
  const a = /^[*/@]$/.test(operator) ? withWeights(interp, own, b, nodes.node) : own;
  const isBlank = stateOf(left)?.blank === true || stateOf(right)?.blank === true;
  // What was subtracted from a series before its model is added to the forecast.
  const isRestored = operator === '+' && [...own.predictions, ...b.predictions].some(isUnmet);
  const isScore = operator !== '&' && operator !== '|' && !isBlank && !isRestored;
  const scores = isScore ? meetLabels(interp, a, b, nodes.node) : [];
  const pending = pendingTogether(pendingOf(left), pendingOf(right));
  const [stateA, stateB] = [stateOf(left), stateOf(right)];
  const facts = joinFacts(a, b);
  const scored = scores.length === 0 ? facts : { ...facts, scores: union(facts.scores, scores) };
  if (stateA === undefined && stateB === undefined) {
    const source = left.type === 'opaque' ? left.source : right.type === 'opaque' ? right.source : undefined;
    return {
      type: 'opaque',
      facts: scored,
      ...(source === undefined ? {} : { source }),
      ...(isElement(left) || isElement(right) ? { element: true } : {}),
      ...arithmeticOnPositions(operator, left, right),
      ...shiftedExtreme(operator, left, right),
      ...(left.type === 'opaque' && left.named !== undefined ? { named: left.named } : {}),
      ...(pending.length === 0 ? {} : { pending }),
      ...takenTogether(operator, left, right),
      ...shownTogether(operator, left, right),
    };
  }
  const base = stateA ?? stateB;
  if (base === undefined) return UNKNOWN;
  const mask =
    operator === '&'
      ? (bothMasks(stateA?.mask ?? [], stateB?.mask ?? []) ?? [textStep(interp, nodes.node)])
      : [];
  const rows = joinFacts({ ...NO_FACTS, ...rowsOf(stateA) }, { ...NO_FACTS, ...rowsOf(stateB) });
  return newTable({
    ...emptyTable(scored, base.shape),
    rows: rows.rows,
    certain: rows.certain,
    from: union(
      stateA?.from ?? [],
      operator === '-' && leavesOut(a, stateA, stateB) ? [] : (stateB?.from ?? []),
    ),
    ...(mask.length > 0
      ? { mask }
      : operator === '|' && stateA?.mask !== undefined
        ? { mask: [textStep(interp, nodes.node)] }
        : {}),
  });
}

/** `"%.3f at %.2f" % (score, threshold)`: the values that the text shows. */
function shownTogether(operator: string, text: Value, values: Value): Pick<Opaque, 'shown'> {
  const isText = operator === '%' && text.type === 'constant' && typeof text.value === 'string';
  return isText && values.type === 'sequence' ? { shown: partsOf(values) } : {};
}

/** What two column expressions take together; a sum by group without the row's own value says nothing of it. */
function takenTogether(operator: string, left: Value, right: Value): Pick<Opaque, 'takes'> {
  const [a, b] = [left, right].map((value) => (value.type === 'opaque' ? (value.takes ?? []) : []));
  const isRest = operator === '-' && pendingOf(left).length > 0;
  const takes = union(a ?? [], isRest ? [] : (b ?? []));
  return takes.length === 0 ? {} : { takes };
}

function isUnmet({ isForecast, forecast }: Prediction): boolean {
  return isForecast === true && forecast === undefined;
}

/** `total - own`: a sum by group, or one up to the row, without the row's own value says nothing of it. */
function leavesOut({ fits }: Facts, sum: TableState | undefined, own: TableState | undefined): boolean {
  if (own === undefined || own.from.length === 0) return false;
  if (own.from.every((column) => sum?.running?.includes(column) === true)) return true;
  countWork(fits.length);
  return fits.some(
    ({ kind, columns = [] }) =>
      kind === 'group-statistics' && own.from.every((column) => columns.includes(column)),
  );
}

/** What the items of two lists in one have in common; of rows of two tables, one list after the other. */
export function restOf(interp: Interpreter, a: Value | undefined, b: Value | undefined): Value | undefined {
  // More of the same rows, with what was done to them.
  if (a?.type === 'opaque' && b?.type === 'table' && sameRows(interp.dataOf(a).rows, b.cell.value.rows))
    return b;
  if (a?.type !== 'table' || b?.type !== 'table') return a ?? b;
  const [left, right] = [a.cell.value, b.cell.value];
  const facts = joinFacts(left, right);
  interp.recordJoin(facts.rows);
  return newTable({
    ...emptyTable({ ...facts, certain: left.certain && right.certain }, 'row'),
    single: true,
  });
}

/** What the pieces have in common that loops put into a list, one for each row. */
function collectedPieces({ items, rest, written = 0 }: SequenceState): Table | undefined {
  if (written > 0 || items.length === 0) return undefined;
  countWork(items.length);
  const all = rest === undefined ? items : [...items, rest];
  const piece = all.every(({ type }) => type === 'table') ? all.reduce(joinValues) : undefined;
  return piece?.type === 'table' && piece.cell.value.certain && piece.cell.value.rows.length > 0
    ? piece
    : undefined;
}

/** `["age"] + [c for c in table.columns if c.startswith("lag")]`: names of columns that neither list has. */
function leftOutOfBoth(a: SequenceState, b: SequenceState): Pick<SequenceState, 'allBut'> {
  const lists = [a, b];
  // Of a list with unknown names nobody knows what it leaves out.
  if (lists.some(({ rest, allBut }) => rest !== undefined && allBut === undefined)) return {};
  const [first, ...others] = lists.flatMap(({ allBut }) => (allBut === undefined ? [] : [allBut]));
  const items = lists.flatMap((list) => list.items);
  if (first === undefined || items.some(({ type }) => type !== 'constant')) return {};
  countWork(first.length * (items.length + 1));
  const named = new Set(items.map((item) => (item.type === 'constant' ? item.value : undefined)));
  return {
    allBut: first.filter((name) => !named.has(name) && others.every((names) => names.includes(name))),
  };
}

function writtenOut({ items, written = 0 }: SequenceState): number {
  return Math.min(written, items.length);
}

/** `[rare] * 5`: the same rows several times. */
function repeated(sequence: SequenceOf, times: Value): Value {
  const state = sequence.cell.value;
  const isOnce = times.type === 'constant' && (times.value === 1 || times.value === 0);
  const areTables = state.items.length > 0 && state.items.every((item) => item.type === 'table');
  if (isOnce || !areTables || state.items.length > 12) return sequence;
  const items = [...state.items, ...state.items];
  return newSequence({ ...state, items, written: items.length });
}

function rowsOf(state: TableState | undefined): Pick<Facts, 'rows' | 'certain'> {
  return state === undefined ? NO_FACTS : { rows: state.rows, certain: state.certain };
}

export function pendingOf(value: Value): NonNullable<(Value & { type: 'opaque' })['pending']> {
  return value.type === 'opaque' ? (value.pending ?? []) : [];
}

function foldConstants(
  operator: string,
  left: Value & { type: 'constant' },
  right: Value & { type: 'constant' },
): Value {
  const [a, b] = [left.value, right.value];
  if (typeof a === 'string' && typeof b === 'string') {
    const text =
      operator === '+' ? boundedText(a, b) : operator === '/' ? boundedText(`${a}/`, b) : undefined;
    if (text !== undefined) return constant(text);
  }
  if (operator === 'and') return a ? right : left;
  if (operator === 'or') return a ? left : right;
  if (typeof a !== 'number' || typeof b !== 'number') return UNKNOWN;
  const results: Record<string, number> = {
    '+': a + b,
    '-': a - b,
    '*': a * b,
    '/': a / b,
    '//': Math.floor(a / b),
  };
  const result = results[operator];
  const isExact = result !== undefined && (!Number.isInteger(result) || Number.isSafeInteger(result));
  return isExact ? constant(result) : UNKNOWN;
}

/** `mask == False`: the mask or its opposite. */
function truthOfMask(operator: string, left: Value, right: Value): Value | undefined {
  const mask = stateOf(left)?.mask;
  const [only, ...others] = mask ?? [];
  if (left.type !== 'table' || only === undefined || others.length > 0) return undefined;
  if (right.type !== 'constant' || typeof right.value !== 'boolean') return undefined;
  if (operator !== '==' && operator !== '!=') return undefined;
  const isSame = right.value === (operator === '==');
  return isSame ? left : newTable({ ...left.cell.value, mask: [otherSide(only)] });
}

/** In Python `True` is 1. Of a text that was made of a number nobody knows whether it has a `.0` at its end. */
function equal(a: ConstantValue, b: ConstantValue): boolean | undefined {
  if (typeof a === 'string' && typeof b === 'string' && a !== b) {
    return a.replaceAll('.0', '') === b.replaceAll('.0', '') ? undefined : false;
  }
  const [left, right] = [a, b].map((value) => (typeof value === 'boolean' ? Number(value) : value));
  return left === right;
}

export function compareValue(interp: Interpreter, expression: Compare): Value {
  const values = expression.operands.map((operand) => interp.evaluate(operand));
  const [left, right] = values;
  const [leftNode, rightNode] = expression.operands;
  const operator = expression.operators[0] ?? '';
  if (left === undefined || right === undefined || leftNode === undefined || rightNode === undefined) {
    return UNKNOWN;
  }
  if (values.length === 2 && left.type === 'constant' && right.type === 'constant') {
    const isEqual = equal(left.value, right.value);
    if (isEqual === undefined) return UNKNOWN;
    if (operator === '==') return constant(isEqual);
    if (operator === '!=') return constant(!isEqual);
    return UNKNOWN;
  }
  const isNone = noneTest(operator, left, right);
  if (isNone !== undefined) return constant(isNone);
  const truth = truthOfMask(operator, left, right);
  if (truth !== undefined) return truth;
  let facts = NO_FACTS;
  let scores: readonly Score[] = [];
  for (const value of values) {
    const next = factsOf(value);
    // Equal or not: labels of a file of their own are compared with the predictions for the rows beside them.
    const isEquality = /^[=!]=$/.test(operator);
    if (/^[<>=!]/.test(operator))
      scores = union(scores, meetLabels(interp, facts, next, expression, isEquality));
    facts = joinFacts(facts, next);
  }
  facts = { ...facts, scores: union(facts.scores, scores) };
  const table = [left, right].find((value) => value.type === 'table' || value.type === 'positions');
  // Whether a key is there is no score, whatever is kept under it.
  const isLookup = operator.includes('in') && (right.type === 'mapping' || right.type === 'sequence');
  if (isLookup) return opaque({ ...NO_FACTS, fits: facts.fits });
  if (operator.includes('in') || operator.startsWith('is')) return opaque({ ...facts, rows: [] });
  const isRows = table !== undefined || (left.type === 'opaque' && left.source !== undefined);
  if (!isRows) return { ...opaque(facts), ...comparedExpressions(left, right) };
  const leftState = stateOf(left);
  const subject =
    leftState?.shape === 'column' && leftState.from.length === 1
      ? (leftState.from[0] ?? '')
      : interp
          .text(leftNode)
          .replaceAll(/\s+/g, '')
          .replace(/^\w+\.index$/, 'index');
  if (right.type === 'constant' && typeof right.value === 'string' && leftState !== undefined)
    noteTexts(interp, leftState);
  const bound =
    right.type === 'constant' ? right.value : { text: interp.text(rightNode).replaceAll(/\s+/g, '') };
  const side = comparisonSide(operator, bound);
  const partition = interp.partition(`compare:${subject}`, 'selection', expression);
  const rows = interp.dataOf(table ?? left);
  return newTable({
    ...emptyTable({ ...facts, rows: rows.rows, certain: rows.certain }, 'column'),
    from: leftState?.from ?? [],
    ...(side === undefined || values.length > 2
      ? { mask: [textStep(interp, expression)] }
      : { mask: [{ partition, side }] }),
  });
}

/** `pl.col("delay") > 0` is a column expression as well. */
function comparedExpressions(left: Value, right: Value): Pick<Opaque, 'pending' | 'takes'> {
  const isExpression = [left, right].some((value) => value.type === 'opaque' && value.pending !== undefined);
  if (!isExpression) return {};
  return { pending: pendingTogether(pendingOf(left), pendingOf(right)), ...takenTogether('', left, right) };
}

/** Remembers that a column holds texts, as the code shows. */
export function noteTexts(interp: Interpreter, { shape, from }: TableState): void {
  const [column] = from;
  if (shape === 'column' && column !== undefined && from.length === 1) interp.textColumns.add(column);
}

/** `x is None`, where it is known what `x` is. */
function noneTest(operator: string, left: Value, right: Value): boolean | undefined {
  if (!operator.startsWith('is') || right.type !== 'constant' || right.value !== null) return undefined;
  if (left.type === 'opaque') return undefined;
  const isNone = left.type === 'constant' && left.value === null;
  return operator.includes('not') ? !isNone : isNone;
}

export function unaryValue(interp: Interpreter, operator: string, value: Value, node: Expr): Value {
  if (operator === 'not') {
    return value.type === 'constant' ? constant(!value.value) : opaque(factsOf(value));
  }
  const state = stateOf(value);
  if (value.type === 'constant') {
    if (typeof value.value !== 'number') return UNKNOWN;
    return operator === '+' ? value : operator === '-' ? constant(-value.value) : UNKNOWN;
  }
  if (state === undefined) {
    const isNumber = value.type === 'opaque' && (value.countOf !== undefined || value.cut !== undefined);
    return isNumber && operator === '-' ? opaque(value.facts) : value;
  }
  if (state.mask === undefined || (operator !== '~' && operator !== '-')) return value;
  const [first, ...others] = state.mask;
  const isKnown = others.length === 0 || first?.isWhole === true;
  const mask: Step[] = isKnown && first !== undefined ? [otherSide(first)] : [textStep(interp, node)];
  return newTable({ ...state, mask });
}

/**
 * `X_val @ w`, where `w` was computed from other rows of the same table: row by row the two do not fit, so `w` is
 * what a model written by hand has learned, and the product is its prediction. `undefined` for other products.
 */
export function handMadePrediction(
  interp: Interpreter,
  left: Value,
  right: Value,
  nodes: { readonly node: Expr; readonly left: Expr; readonly right: Expr },
): Value | undefined {
  const [rows, weights] = [interp.dataOf(left), interp.dataOf(right)];
  if (rows.predictions.length > 0 || weights.predictions.length > 0 || rows.single === true) return undefined;
  if (rows.rows.length === 0 || weights.rows.length === 0) return undefined;
  const origins = rows.rows.map(originOf);
  if (!weights.rows.every((region) => origins.includes(originOf(region)))) return undefined;
  if (overlapOf(rows.rows, weights.rows) !== 'no') return undefined;
  const model = newEstimator({
    path: 'numpy.matmul',
    role: 'model',
    options: new Map(),
    steps: [],
    training: undefined,
    fits: weights.fits,
    argumentFacts: NO_FACTS,
  });
  const text = interp.label(nodes.right);
  const training = trainingOf(interp, `\`${text}\``, weights, text, [], nodes.node);
  model.cell.value = { ...model.cell.value, training };
  const prediction = predictionOf(model.cell, rows, interp.label(nodes.left), nodes.node);
  const facts = joinFacts(rows, { ...NO_FACTS, fits: weights.fits });
  return newTable(emptyTable({ ...facts, predictions: [prediction] }));
}

/** `X_val.dot(w)` */
export function productMethod(
  interp: Interpreter,
  left: Value,
  args: Arguments,
  call: Call,
): Value | undefined {
  const [weights] = args.positional;
  const [right] = args.expressions;
  if (weights === undefined || right === undefined || call.callee.type !== 'attribute') return undefined;
  return handMadePrediction(interp, left, weights, { node: call, left: call.callee.object, right });
}
