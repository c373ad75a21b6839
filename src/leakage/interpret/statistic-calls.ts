import type { Call } from '../syntax/ast.js';
import { type Facts, type FitEvent, joinFacts, NO_FACTS, union } from '../values/facts.js';
import { emptyTable, list, newTable } from '../values/join.js';
import { overlapOf } from '../values/region.js';
import { factsOf, isElement, opaque, UNKNOWN, type Value } from '../values/value.js';
import { type Arguments, argument, argumentsOf, flag } from './arguments.js';
import { choose } from './builtins.js';
import { choiceEvents } from './choices.js';
import type { Interpreter } from './interpreter.js';
import { meetLabels, withWeights } from './operators.js';
import { isByClass } from './scores-of-parts.js';
import { asTable } from './table-calls.js';
import { unknownCall } from './unknown-calls.js';
/** Whether a reduction goes along the columns of each row. */
export function isRowWise(args: Arguments, axisPosition: number): boolean {
  const axis = argument(args, axisPosition, 'axis', 'dim', 'axes');
  if (axis?.type === 'constant') {
    return axis.value === 1 || axis.value === -1 || axis.value === 'columns' || axis.value === 2;
  }
  // Over all axes but the first: a statistic for each row.
  if (axis?.type === 'sequence') {
    return axis.cell.value.items.every(
      (item) => item.type === 'constant' && typeof item.value === 'number' && item.value !== 0,
    );
  }
  return false;
}

export function statistic(
  interp: Interpreter,
  kind: Parameters<Interpreter['fit']>[0],
  args: Arguments,
  call: Call,
): Value {
  const [first] = args.positional;
  const facts = args.all.map((value) => interp.dataOf(value)).reduce(joinFacts, NO_FACTS);
  if (first === undefined) return opaque(facts);
  if (facts.scores.length > 0 && facts.predictions.length === 0) return opaque(facts);
  if (facts.predictions.length > 0) {
    const weights = args.keywords.get('weights');
    const blended = weights === undefined ? facts : withWeights(interp, facts, factsOf(weights), call);
    if (blended !== facts) return newTable(emptyTable(blended));
  }
  if (facts.scores.length > 0) return opaque(facts);
  if (isElement(first) || facts.single === true) return newTable(emptyTable(facts, 'row'));
  // A list of arrays: one result per row, as in a blend.
  const overParts = first.type === 'sequence';
  const quantile = /(quantile|percentile)$/.test(interp.text(call.callee));
  if (
    facts.predictions.length > 0 ||
    isRowWise(args, quantile ? 2 : 1) ||
    (overParts && kind === 'statistics')
  ) {
    return facts.rows.length > 0 ? newTable(emptyTable(facts)) : opaque(facts);
  }
  if (facts.rows.length === 0) return opaque(facts);
  const [expression] = args.expressions;
  const rowsText = expression === undefined ? '' : interp.label(expression);
  const subject = `\`${interp.label(call)}\``;
  const compared = kind === 'feature-selection' ? comparedRows(interp, args) : undefined;
  const event = interp.fit(kind, subject, compared ?? facts, rowsText, call);
  return learnedNumber(facts, event, interp.text(call.callee));
}

/** What a statistic of these rows is: `name` is that of the function. */
export function learnedNumber(facts: Facts, event: FitEvent, name: string): Value {
  const number = opaque({ ...NO_FACTS, fits: union(facts.fits, [event]) });
  return /(^|[._])(nan|a)?(min|max)$/.test(name) ? { ...number, extreme: event } : number;
}

/** `ttest_ind(X[y == 0], X[y == 1])`: parts of one table that are compared are that table. */
function comparedRows(interp: Interpreter, args: Arguments): Pick<Facts, 'rows' | 'certain'> | undefined {
  const all = args.positional.map((value) => interp.dataOf(value)).filter(({ rows }) => rows.length > 0);
  const parts = all.flatMap(({ rows }) => rows);
  const [first] = parts;
  if (all.length < 2 || first?.parent === undefined || new Set(parts).size < 2) return undefined;
  const areParts = parts.every(
    ({ parent, partition }) => parent === first.parent && partition?.form === 'selection',
  );
  return areParts ? { rows: [first.parent], certain: all.every(({ certain }) => certain) } : undefined;
}

export function bins(interp: Interpreter, args: Arguments, call: Call): Value {
  const edges = argument(args, 1, 'bins', 'q');
  const byRank = /(qcut|rankdata)$/.test(interp.text(call.callee));
  const fixed = !byRank && !(edges?.type === 'constant' && typeof edges.value === 'number');
  if (fixed) return unknownCall(interp, args, call);
  return withEvent(interp, 'binning', `\`${interp.label(call)}\``, args, call);
}

/** The rows of the first argument, made with something computed over all of them. */
export function withEvent(
  interp: Interpreter,
  kind: Parameters<Interpreter['fit']>[0],
  subject: string,
  args: Arguments,
  call: Call,
): Value {
  // `np.repeat(a, repeats, axis)`
  const axisAt = /\brepeat$/.test(interp.text(call.callee)) ? 2 : 1;
  const predicted = args.positional.some((value) => factsOf(value).predictions.length > 0);
  const results = args.positional
    .filter((value) => value.type === 'table' || interp.dataOf(value).rows.length > 0)
    .map((value) => {
      const state = asTable(interp, value);
      const facts = interp.dataOf(value);
      // Rows of predictions drawn again and again, and the labels with them: the spread of a score.
      const isBootstrap = kind === 'duplicated-rows' && predicted;
      if (
        isRowWise(args, axisAt) ||
        isBootstrap ||
        (kind === 'duplicated-rows' && flag(args, 'replace') === false)
      )
        return newTable(state);
      const [expression] = args.expressions;
      const event = interp.fit(
        kind,
        subject,
        facts,
        expression === undefined ? '' : interp.label(expression),
        call,
      );
      return newTable({ ...state, fits: union(state.fits, [event]) });
    });
  const [first] = results;
  if (first === undefined) return unknownCall(interp, args, call);
  return results.length === 1 ? first : list(results, true);
}

/** Positions of the best: a choice where they are scores, the class of each row where they are predictions. */
export function chosen(interp: Interpreter, args: Arguments, call: Call): Value {
  const [first] = args.positional;
  if (first === undefined || factsOf(first).scores.length === 0) return unknownCall(interp, args, call);
  return choose(interp, first, call) ?? UNKNOWN;
}

/** Coefficients that bring predictions close to labels are chosen on the rows of these labels. */
export function curveFit(interp: Interpreter, args: Arguments, call: Call): Value {
  const facts = args.all.map((value) => interp.dataOf(value)).reduce(joinFacts, NO_FACTS);
  const [prediction] = facts.predictions;
  if (prediction === undefined) {
    const result = statistic(interp, 'statistics', args, call);
    // The weights of a linear model: `X_val @ w` is its prediction.
    return interp.text(call.callee).endsWith('lstsq')
      ? newTable(emptyTable({ ...factsOf(result), rows: facts.rows, certain: facts.certain }))
      : result;
  }
  const subject = `what \`${interp.label(call.callee)}\` finds`;
  const event = interp.fit('selection', subject, prediction, prediction.rowsText, call);
  return opaque({ ...NO_FACTS, fits: union(facts.fits, [event]) });
}

/** Runs the function to be optimized once: what it scores, the result was chosen on. */
export function optimized(interp: Interpreter, args: Arguments, call: Call): Value {
  let facts = NO_FACTS;
  for (const value of args.all) {
    const isCode = value.type === 'function' || value.type === 'instance' || value.type === 'class';
    if (isCode) facts = joinFacts(facts, factsOf(interp.callValue(value, candidate(args), call)));
  }
  const events = choiceEvents(interp, facts.scores, `what \`${interp.label(call.callee)}\` finds`, call);
  return opaque({ ...NO_FACTS, scores: facts.scores, fits: events });
}

/** The arguments of the function that is optimized: nobody knows the candidate; `args=(predicted, labels)` follow it. */
function candidate(args: Arguments): Arguments {
  const fixed = argument(args, 2, 'args');
  const isTuple = fixed?.type === 'sequence' && fixed.cell.value.tuple;
  return argumentsOf(isTuple ? [UNKNOWN, ...fixed.cell.value.items] : []);
}

/** Labels of groups, one for each: they are labels of the rows that were grouped. */
function groupedLabels(interp: Interpreter, value: Value): Facts {
  const facts = interp.dataOf(value);
  const [region] = facts.rows;
  if (facts.predictions.length > 0) return facts;
  if (region?.grouped !== undefined) return { ...facts, rows: region.grouped };
  if (facts.rows.length > 0) return facts;
  const grouped = facts.fits.filter(({ kind }) => kind === 'group-statistics').at(-1);
  return grouped === undefined ? facts : { ...facts, rows: grouped.rows, certain: grouped.certain };
}

/** The facts of one side of a metric; labels of groups where the other side are predictions for the rows themselves. */
function labelsFor(interp: Interpreter, value: Value, other: Value): Facts {
  const facts = interp.dataOf(value);
  const predicted = interp.dataOf(other).predictions;
  const fit = predicted.some(({ rows }) => overlapOf(rows, facts.rows) !== 'no');
  return fit ? facts : groupedLabels(interp, value);
}

function predicted(...values: readonly (Value | undefined)[]): boolean {
  return values.some((value) => value !== undefined && factsOf(value).predictions.length > 0);
}

/** `concordance_index_censored(event, time, risk)`, `cumulative_dynamic_auc(y_train, y_test, risk, times)`. */
const OF_SURVIVAL = /^sksurv\.metrics\./;

/** @param path the name of the metric with that of its module */
export function metric(interp: Interpreter, path: string, args: Arguments, call: Call): Value {
  const [first, second, third] = args.positional.length >= 2 ? args.positional : args.all;
  // The metrics of scikit-survival take two arrays of labels before the estimate: the second is that of the scored rows.
  const isEstimateThird = third !== undefined && OF_SURVIVAL.test(path) && !predicted(first, second);
  const [a, b] = isEstimateThird ? [second, third] : [first, second];
  if (a === undefined || b === undefined) return unknownCall(interp, args, call);
  const [left, right] = [labelsFor(interp, a, b), labelsFor(interp, b, a)];
  const scores = meetLabels(interp, left, right, call, true);
  if (isByClass(args, call)) interp.scoresOfParts.add(scores);
  const facts = joinFacts(left, right);
  return opaque({ ...facts, rows: [], predictions: [], scores: union(facts.scores, scores), certain: true });
}
