import type { Attribute, Call, Expr } from '../syntax/ast.js';
import { type Facts, type FitEvent, NO_FACTS, type Training, union, withFits } from '../values/facts.js';
import { emptyTable, newEstimator, newMapping, newTable } from '../values/join.js';
import { type IgnoredGroups, partOf } from '../values/region.js';
import { type Estimator, factsOf, opaque, UNKNOWN, type Value } from '../values/value.js';
import type { Interpreter } from './interpreter.js';
import { predictionOf, predicts } from './learning.js';

/** Attributes of fitted objects. */
export function readSearchResult(
  interp: Interpreter,
  estimator: Estimator,
  name: string,
  expression: Attribute,
): Value | undefined {
  const state = estimator.cell.value;
  const { training } = state;
  if (name === 'history' || (WATCHED_SCORES.test(name) && state.role !== 'search')) {
    const history = historyOf(interp, estimator, expression);
    if (history !== undefined) return history;
  }
  if (/^best_(params|value|trial|values)$/.test(name)) {
    return opaque({ ...NO_FACTS, fits: state.fits, scores: state.argumentFacts.scores });
  }
  const [isWeights = WEIGHTS] = STATISTICAL_WEIGHTS.flatMap(([path, names]) =>
    path.test(state.path) ? [names] : [],
  );
  if (training !== undefined && isWeights.test(name) && predicts(state)) return weightsOf(interp, training);
  if (!name.endsWith('_') || training === undefined) {
    if (name === 'layers' || name === 'module') return estimator;
    return undefined;
  }
  if (name === 'best_estimator_') {
    return newEstimator({ ...state, role: 'model', fits: training.fits });
  }
  if (name === 'best_score_' && state.role === 'search') {
    const score = crossScore(interp, training, training.subject, training.rowsText, expression);
    const event = bestParameters(interp, training);
    event.isBestOfSearch = true;
    return newTable({ ...emptyTable(withFits(factsOf(score), [event])) });
  }
  if (name === 'best_params_') return opaque({ ...NO_FACTS, fits: [bestParameters(interp, training)] });
  if (name === 'labels_') {
    return newTable({
      ...emptyTable({ ...NO_FACTS, rows: training.rows, certain: training.certain }),
      fits: state.fits,
    });
  }
  return opaque({ ...NO_FACTS, fits: state.fits });
}

/** Attributes that tell how much a model makes of each feature. */
const WEIGHTS = /^(feature_importances_|coef_|ranking_|support_)$/;

/**
 * The same of statistical models, how well each of them fits included.
 * Source: statsmodels, `RegressionResults`; lifelines, `CoxPHFitter`.
 */
const STATISTICAL_WEIGHTS: readonly (readonly [path: RegExp, names: RegExp])[] = [
  [
    /^statsmodels\.(?!(\w+\.)?tsa\.)/,
    /^(pvalues|tvalues|params|bse|rsquared|rsquared_adj|prsquared|aic|bic|llf|f_pvalue)$/,
  ],
  [/^statsmodels\./, /^(pvalues|tvalues|params|bse)$/],
  [
    /^lifelines\./,
    /^(summary|params_|hazard_ratios_|standard_errors_|AIC_partial_|AIC_|log_likelihood_|concordance_index_)$/,
  ],
];

function weightsOf(interp: Interpreter, training: Training): Value {
  const { subject, rowsText, node, statement } = training;
  const weights = `the weights of ${subject}`;
  const event = interp.fit('feature-selection', weights, training, rowsText, node, statement);
  return opaque({ ...NO_FACTS, fits: union([event], training.fits) });
}

function bestParameters(
  interp: Interpreter,
  { subject, rowsText, node, statement, ...rows }: Training,
): FitEvent {
  return interp.fit('selection', `the best parameters of ${subject}`, rows, rowsText, node, statement);
}

/** Attributes of boosted models that hold scores of the rows that they were watched on. */
export const WATCHED_SCORES = /^(best_score_?|evals_result_?|best_loss|get_evals_result|get_best_score)$/;

/** What a library writes down while it trains: under the names that begin with `val_`, scores of the validation rows. */
export function historyOf(interp: Interpreter, estimator: Estimator, expression: Expr): Value | undefined {
  const validated = interp.validated.get(estimator.cell);
  if (validated === undefined || validated.facts.rows.length === 0) return undefined;
  const prediction = predictionOf(estimator.cell, validated.facts, validated.rowsText, expression);
  const score = interp.record.addScore(interp, [prediction], validated.facts, [], expression, 'watched');
  const first = validated.isOnly ? [] : ['validation_0', 'valid_0', 'learn'];
  const ofTraining = [
    ...first,
    'training',
    'train',
    'loss',
    'accuracy',
    'acc',
    'auc',
    'mae',
    'mse',
    'lr',
    'learning_rate',
  ];
  return newMapping({
    entries: new Map(ofTraining.map((key) => [key, UNKNOWN])),
    rest: opaque({ ...NO_FACTS, scores: [score] }),
  });
}

/** A score by cross-validation over rows: every row is scored by a model that did not see it. */
export function crossScore(
  interp: Interpreter,
  facts: Pick<Facts, 'rows' | 'certain' | 'fits' | 'predictions'>,
  subject: string,
  rowsText: string,
  node: Call | Attribute,
  options: {
    readonly labels?: readonly string[];
    readonly random?: boolean;
    readonly keepsGroups?: boolean;
    readonly dividesBy?: string | undefined;
    readonly groups?: IgnoredGroups;
    /** The predictions are handed out, not their score. */
    readonly predicts?: boolean;
  } = {},
): Value {
  const { labels = [] } = options;
  const partition = interp.partition(`folds:${interp.siteKey(node)}`, 'folds', node);
  if (options.random === true) partition.random = true;
  if (options.keepsGroups === true) partition.keepsGroups = true;
  if (options.dividesBy !== undefined) partition.dividesBy = options.dividesBy;
  if (options.groups !== undefined) partition.ignoredGroups = options.groups;
  const side = (name: 'train' | 'test') =>
    facts.rows.map((region) => partOf(region, partition, name, name, interp.statement));
  const training = {
    subject,
    rows: side('train'),
    certain: facts.certain,
    rowsText,
    fits: facts.fits,
    supervised: true,
    labels,
    predictions: facts.predictions,
    node,
    statement: interp.statement,
  };
  const prediction = {
    training,
    model: partition,
    rows: side('test'),
    certain: facts.certain,
    rowsText,
    fits: facts.fits,
    inputs: facts.predictions,
    crossValidated: true,
    node,
  };
  const score = interp.record.addScore(
    interp,
    [prediction],
    { ...NO_FACTS, rows: facts.rows },
    [],
    node,
    'folds',
  );
  return newTable({
    ...emptyTable({
      ...NO_FACTS,
      predictions: [prediction],
      scores: options.predicts === true ? [] : [score],
    }),
    rows: facts.rows,
  });
}
