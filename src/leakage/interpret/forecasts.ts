import type { Call } from '../syntax/ast.js';
import { type Facts, NO_FACTS, type Prediction } from '../values/facts.js';
import { emptyTable, newTable } from '../values/join.js';
import type { Estimator, Value } from '../values/value.js';
import { type Arguments, argument, argumentExpression } from './arguments.js';
import type { Interpreter } from './interpreter.js';
import { predictionOf, trainingOf } from './learning.js';
import { trainedModel } from './trained-model.js';

/**
 * Models of a series, which get it when they are made.
 * Source: statsmodels user guide, "Time series analysis"; pmdarima reference (`auto_arima`).
 */
const OF_SERIES =
  /^(statsmodels\.(.+\.)?(AR|AutoReg|ARMA|ARIMA|SARIMAX|VAR|VARMAX|ExponentialSmoothing|SimpleExpSmoothing|Holt|ETSModel|UnobservedComponents|ThetaModel)|(pmdarima|pyramid)\.(.+\.)?auto_arima)$/;

/** The same, for models that get the series when they are fitted. Source: Prophet documentation, "Quick start". */
const FITTED_TO_SERIES = /^(fb)?prophet\.(.+\.)?Prophet$/;

/** Methods that say how a series goes on. */
const FORECASTS = /^(forecast|predict|get_forecast|get_prediction|predict_in_sample)$/;

/** `ARIMA(series, order=…)`; nothing for any other path. */
export function seriesModel(
  interp: Interpreter,
  path: string,
  args: Arguments,
  call: Call,
): Value | undefined {
  if (!OF_SERIES.test(path)) return undefined;
  const series = argument(args, 0, 'endog', 'y');
  const facts = series === undefined ? NO_FACTS : historyOf(interp, series);
  if (facts.rows.length === 0) return undefined;
  const expression = argumentExpression(args, 0, 'endog', 'y');
  const rowsText = expression === undefined ? '' : interp.label(expression);
  const chosen = args.all.map((value) => interp.dataOf(value)).flatMap(({ fits }) => fits);
  const extra = chosen.filter(({ kind }) => kind === 'selection');
  const training = trainingOf(interp, `\`${interp.label(call.callee)}\``, facts, rowsText, extra, call);
  return trainedModel(path, args, training);
}

/** `history = list(train)`, to which a loop appends each row after its forecast: the rows that it begins with. */
function historyOf(interp: Interpreter, series: Value): Facts {
  const first = series.type === 'sequence' ? series.cell.value.rest : undefined;
  const facts = interp.dataOf(first ?? series);
  return first === undefined ? facts : { ...facts, certain: facts.rows.length === 1 };
}

/** What a model of a series forecasts, for rows that are known when it meets their labels; nothing for other models and methods. */
export function forecastOf(
  interp: Interpreter,
  { cell }: Estimator,
  name: string,
  args: Arguments,
  call: Call,
): Value | undefined {
  const { path } = cell.value;
  const isFrame = FITTED_TO_SERIES.test(path);
  if (!(isFrame || OF_SERIES.test(path)) || !FORECASTS.test(name)) return undefined;
  const fits = args.all.flatMap((value) => [...interp.dataOf(value).fits]);
  const prediction = predictionOf(cell, { ...NO_FACTS, fits }, '', call);
  const facts = { ...NO_FACTS, predictions: [{ ...prediction, isForecast: true }] };
  return newTable(emptyTable(facts, isFrame ? 'frame' : 'array'));
}

/** A forecast as one of the rows that its labels are of: the same for the same rows. */
export function forecastFor(interp: Interpreter, forecast: Prediction, labels: Facts): Prediction {
  const key = interp.rowsKey(labels.rows);
  const known = resolved.get(forecast) ?? new Map<string, Prediction>();
  resolved.set(forecast, known);
  const before = known.get(key);
  if (before !== undefined) return before;
  const { rows, certain } = labels;
  const name = rows.map((region) => region.name ?? region.label).join(', ');
  const made = { ...forecast, rows, certain, rowsText: name, forecast };
  known.set(key, made);
  return made;
}

const resolved = new WeakMap<Prediction, Map<string, Prediction>>();
