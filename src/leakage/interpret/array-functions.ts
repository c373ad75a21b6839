import type { Call } from '../syntax/ast.js';
import { joinFacts, NO_FACTS, union } from '../values/facts.js';
import { emptyTable, list, newTable } from '../values/join.js';
import { factsOf, isElement, opaque, UNKNOWN, type Value } from '../values/value.js';
import { ANY_LABEL } from './any-label.js';
import { type Arguments, argument } from './arguments.js';
import type { Interpreter } from './interpreter.js';
import { asTable } from './table-calls.js';
import { unknownCall } from './unknown-calls.js';

/** Filters and decompositions of a series in which each value depends on the ones after it. */
const BOTH_SIDES =
  /^statsmodels\.(.*\.)?(seasonal_decompose|STL|MSTL|hpfilter|bkfilter|lowess)$|^scipy\.(signal\.(savgol_filter|filtfilt|sosfiltfilt|hilbert|detrend|wiener)|ndimage\.(gaussian|uniform|median)_filter(1d)?)$/;

/** Functions of arrays that put values of other rows into a row, or learn something from all rows. */
export function arrayFunction(
  interp: Interpreter,
  path: string,
  args: Arguments,
  call: Call,
): Value | undefined {
  const [first] = args.positional;
  if (first === undefined) return undefined;
  if (/^(numpy|torch)\.roll$/.test(path)) return rolled(interp, first, args, call);
  if (BOTH_SIDES.test(path)) return smoothed(interp, first, args, call);
  if (path.endsWith('.sliding_window_view')) return windowView(interp, first, call);
  if (/(^|\.)linalg\.svd$|\.(randomized_svd|pca_lowrank|svds)$/.test(path)) return axes(interp, first, call);
  if (path === 'numpy.where' && args.all.length > 2) return chosenByRow(interp, first, args, call);
  if (path === 'pandas.Categorical') return categorical(first, args);
  if (/^numpy\.(add|subtract|maximum|minimum)\.at$/.test(path)) return gathered(interp, first, args, call);
  if (path === 'pandas.factorize' && first.type === 'table') return list([first, UNKNOWN], true);
  if (/^scipy\.stats\.(chi2_contingency|fisher_exact|barnard_exact)$/.test(path))
    return testOfCounts(interp, first, call);
  return /^(pandas\.crosstab|numpy\.bincount)$/.test(path) ? countsOf(interp, args, call) : undefined;
}

/** `np.where(ids.isin(later), 0, 1)`: it says of each row whether it was found, as the condition does. */
function chosenByRow(interp: Interpreter, condition: Value, args: Arguments, call: Call): Value | undefined {
  const among = condition.type === 'table' ? condition.cell.value.among : undefined;
  if (among === undefined) return undefined;
  const result = unknownCall(interp, args, call);
  return result.type === 'table' ? newTable({ ...result.cell.value, among }) : result;
}

/** `pd.Categorical(series, categories=levels)`: the rows are those of the series, wherever the levels come from. */
function categorical(series: Value, args: Arguments): Value | undefined {
  if (series.type !== 'table') return undefined;
  const state = series.cell.value;
  const learned = args.all.reduce((fits, value) => union(fits, factsOf(value).fits), state.fits);
  return newTable({ ...state, fits: learned });
}

function rowsTextOf(interp: Interpreter, { args }: Call): string {
  const [first] = args;
  return first === undefined ? '' : interp.label(first.value);
}

/** `np.roll(series, -1)`: the value of the next row. */
function rolled(interp: Interpreter, value: Value, args: Arguments, call: Call): Value | undefined {
  const by = argument(args, 1, 'shift', 'shifts');
  const isBack = by?.type === 'constant' && typeof by.value === 'number' && by.value < 0;
  return isBack ? laterValues(interp, value, call) : undefined;
}

/** A series in which each row has got values of later rows. Only the columns of a table are known to be series. */
function laterValues(interp: Interpreter, value: Value, call: Call): Value | undefined {
  if (value.type !== 'table' || value.cell.value.shape !== 'column') return undefined;
  const state = value.cell.value;
  const event = interp.fit(
    'future-values',
    `\`${interp.label(call)}\``,
    state,
    rowsTextOf(interp, call),
    call,
  );
  return newTable({ ...state, from: [], fits: union(state.fits, [event]) });
}

/** `seasonal_decompose(series)`: the trend of a row is a mean of the rows before and after it. */
function smoothed(interp: Interpreter, value: Value, args: Arguments, call: Call): Value | undefined {
  const bothSides = argument(args, 4, 'two_sided');
  if (bothSides?.type === 'constant' && bothSides.value === false) return undefined;
  return laterValues(interp, value, call);
}

/** `sliding_window_view(series, 24)`: a window for each row, which shares its values with those beside it. */
function windowView(interp: Interpreter, value: Value, call: Call): Value | undefined {
  const state = asTable(interp, value);
  if (state.rows.length === 0 || isElement(value)) return undefined;
  const text = `\`${interp.label(call)}\``;
  const event = interp.fit('shuffled-time', `the window ${text}`, state, text, call, undefined, [ANY_LABEL]);
  return newTable({ ...state, shape: 'array', from: [], fits: union(state.fits, [event]) });
}

/** `np.linalg.svd(X)`: the rows on the axes, and what was learned of all rows. */
function axes(interp: Interpreter, value: Value, call: Call): Value | undefined {
  const facts = interp.dataOf(value);
  if (facts.rows.length === 0 || facts.predictions.length > 0 || isElement(value) || facts.single === true)
    return undefined;
  const event = interp.fit('projection', `\`${interp.label(call)}\``, facts, rowsTextOf(interp, call), call);
  const fits = union(facts.fits, [event]);
  const learned = opaque({ ...NO_FACTS, fits });
  return list([newTable({ ...emptyTable(facts), fits }), learned, learned], true);
}

/** `np.add.at(sums, codes, labels)`: an array that has no rows of its own gets sums over those of another one. */
function gathered(interp: Interpreter, target: Value, args: Arguments, call: Call): Value | undefined {
  if (target.type !== 'table' || target.cell.value.rows.length > 0) return undefined;
  const others = args.positional.slice(1);
  const facts = others.map((value) => interp.dataOf(value)).reduce(joinFacts, NO_FACTS);
  if (facts.rows.length === 0 || facts.predictions.length > 0 || facts.single === true) return undefined;
  const columns = others.flatMap((value) => (value.type === 'table' ? [...value.cell.value.from] : []));
  const rowsText = args.expressions.at(-1) === undefined ? '' : interp.label(args.expressions.at(-1) ?? call);
  const event = interp.fit(
    'group-statistics',
    `\`${interp.label(call)}\``,
    facts,
    rowsText,
    call,
    undefined,
    columns,
  );
  const state = target.cell.value;
  interp.store.write(target.cell, { ...state, fits: union(state.fits, union(facts.fits, [event])) });
  return UNKNOWN;
}

/** `pd.crosstab(frame["city"], frame["y"])`, `np.bincount(codes, weights=labels)`: numbers and sums by group; not of predictions. */
function countsOf(interp: Interpreter, args: Arguments, call: Call): Value | undefined {
  const facts = args.all.map((value) => interp.dataOf(value)).reduce(joinFacts, NO_FACTS);
  if (facts.rows.length === 0 || facts.predictions.length > 0 || facts.single === true) return undefined;
  const columns = args.all.flatMap((value) => (value.type === 'table' ? [...value.cell.value.from] : []));
  const event = interp.fit(
    'group-statistics',
    `\`${interp.label(call)}\``,
    facts,
    rowsTextOf(interp, call),
    call,
    undefined,
    columns,
  );
  return opaque({ ...NO_FACTS, fits: union(facts.fits, [event]) });
}

/** `chi2_contingency(pd.crosstab(frame["city"], frame["y"]))`: whether a column goes with the label. */
function testOfCounts(interp: Interpreter, counts: Value, call: Call): Value | undefined {
  const facts = interp.dataOf(counts);
  const counted = facts.fits.filter(({ kind }) => kind === 'group-statistics');
  if (counted.length === 0 || facts.rows.length > 0) return undefined;
  const events = counted.map((fit) =>
    interp.fit('feature-selection', `\`${interp.label(call)}\``, fit, fit.rowsText, call),
  );
  return opaque({ ...NO_FACTS, fits: union(facts.fits, events) });
}
