import { AnalysisLimitError } from '../errors.js';
import { parsePython, type SyntaxTree } from '../solution/python-syntax.js';
import type { Direction } from './ablation-reading.js';
import { directionOf, metricIn } from './metric-names.js';
import { calledName, nodesOf } from './syntax-nodes.js';

/** What the source of an ablation script tells about its output. */
export interface ScriptFacts {
  /** The metric as the script calls it, as in `mean_squared_error`. */
  readonly metric?: string;
  readonly direction: Direction;
  /** Comments and texts such as `Ablation 2: no scaler`, by `ablation 2`. */
  readonly namesByNumber: ReadonlyMap<string, string>;
  /** Model families that the script builds, as in `LightGBM`. */
  readonly models: readonly string[];
}

/** Functions of scikit-learn and its kin whose result is the better the smaller it is. */
const ERROR_FUNCTIONS =
  /^(?:root_)?mean_(?:squared|absolute|pinball|poisson|gamma|tweedie)(?:_log)?(?:_percentage)?_?(?:error|deviance|loss)$|^(?:median_absolute_error|max_error|log_loss|hinge_loss|hamming_loss|zero_one_loss|brier_score_loss|rmse|rmsle|mae|mse|mape|smape|mse_loss|l1_loss|cross_entropy|binary_cross_entropy|nll_loss|rmspe|wer|cer|perplexity)(?:_score)?$/;
const SCORE_FUNCTIONS =
  /^(?:\w*accuracy(?:_score)?|roc_auc_score|average_precision_score|f1_score|fbeta_score|precision_score|recall_score|r2_score|explained_variance_score|cohen_kappa_score|quadratic_weighted_kappa|qwk|matthews_corrcoef|jaccard_score|ndcg_score|auc|auroc|mapk|silhouette_score|adjusted_rand_score|pearsonr|spearmanr|d2_\w+)$/;
const SCORING = /(?:^|\b)scoring\s*=\s*['"](\w+)['"]/;

/** Model families, by the classes and modules that make them. */
const MODEL_FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^(?:LGBM\w*|lgb|lightgbm)$/, 'LightGBM'],
  [/^(?:XGB\w*|xgb|xgboost)$/, 'XGBoost'],
  [/^(?:CatBoost\w*|catboost)$/, 'CatBoost'],
  [/^RandomForest\w+$/, 'RandomForest'],
  [/^ExtraTrees\w+$/, 'ExtraTrees'],
  [/^(?:Hist)?GradientBoosting\w+$/, 'GradientBoosting'],
  [/^LogisticRegression\w*$/, 'LogisticRegression'],
  [/^Ridge\w*$/, 'Ridge'],
  [/^Lasso\w*$/, 'Lasso'],
  [/^ElasticNet\w*$/, 'ElasticNet'],
  [/^(?:Linear)?SV[CR]$/, 'SVM'],
  [/^KNeighbors\w+$/, 'KNN'],
  [/^\w+NB$/, 'NaiveBayes'],
  [/^MLP\w+$/, 'MLP'],
  [/^TabNet\w+$/, 'TabNet'],
];

const NUMBERED =
  /(?:ablation|experiment|variant|scenario|exp|config)\s*#?(\d{1,3})\s*[:.)(–—-]+\s*([^\n"'{}]{3,120})/i;
const MAX_SCRIPT_LENGTH = 1024 * 1024;

/** The output can be summarized without what the script would add to it. */
function nothingInTime(thrown: unknown): Promise<SyntaxTree> {
  if (thrown instanceof AnalysisLimitError) return parsePython('');
  throw thrown;
}

/**
 * Reads metric, names and models from an ablation script's syntax tree; works on what parses of a
 * script that does not, and finds nothing in one that takes too long.
 */
export async function readScript(ablationCode: string): Promise<ScriptFacts> {
  const namesByNumber = new Map<string, string>();
  const models = new Set<string>();
  const calls = new Map<string, number>();
  const names = new Map<string, number>();
  let scoring: string | undefined;
  const tree = await parsePython(ablationCode.slice(0, MAX_SCRIPT_LENGTH), 'all').catch(nothingInTime);
  try {
    for (const node of nodesOf(tree.rootNode)) {
      if (node.type === 'comment' || node.type === 'string_content') {
        const named = NUMBERED.exec(node.text.slice(0, 300));
        const key = `ablation ${named?.[1] ?? ''}`;
        if (named?.[2] !== undefined && !namesByNumber.has(key))
          namesByNumber.set(key, named[2].trim().replace(/(?:(?<!\s)\s+|(?<![\s=-]))[-=]{2,}$/, ''));
      } else if (node.type === 'call') {
        const name = calledName(node);
        if (ERROR_FUNCTIONS.test(name) || SCORE_FUNCTIONS.test(name))
          calls.set(name, (calls.get(name) ?? 0) + 1);
        const family = MODEL_FAMILIES.find(([pattern]) => pattern.test(name))?.[1];
        if (family !== undefined) models.add(family);
      } else if (node.type === 'keyword_argument') {
        scoring ??= SCORING.exec(node.text)?.[1];
      } else if (node.type === 'identifier') {
        const name = node.text;
        if (name.length <= 60) names.set(name, (names.get(name) ?? 0) + 1);
      } else if (node.type === 'attribute') {
        const owner = node.childForFieldName('object')?.text ?? '';
        const trains = /^(?:train|cv|Dataset)$/.test(node.childForFieldName('attribute')?.text ?? '');
        const family = trains ? MODEL_FAMILIES.find(([pattern]) => pattern.test(owner))?.[1] : undefined;
        if (family !== undefined) models.add(family);
      }
    }
  } finally {
    tree.delete();
  }
  const [most] = [...calls].sort((a, b) => b[1] - a[1]);
  const shared = { namesByNumber, models: [...models] };
  if (scoring !== undefined) return { ...shared, metric: scoring, direction: scoringDirection(scoring) };
  if (most === undefined) return { ...shared, ...metricOfNames(names) };
  return { ...shared, metric: most[0], direction: ERROR_FUNCTIONS.test(most[0]) ? 'lower' : 'higher' };
}

/** Identifiers that are asked for a metric's name. */
const MAX_NAMES = 2000;

/** A script that computes its metric by hand still calls it something: `def rmse`, `baseline_mae`. */
function metricOfNames(
  names: ReadonlyMap<string, number>,
): Pick<ScriptFacts, 'direction'> & { metric?: string } {
  const counts = new Map<string, number>();
  for (const [name, count] of [...names].slice(0, MAX_NAMES)) {
    const metric = metricIn(name);
    // `loss` and `error` are in every training loop, whatever is printed in the end.
    if (metric === undefined || /^(?:loss|error|err|cost|distance|return|map|ap|lift)$/.test(metric))
      continue;
    counts.set(metric, (counts.get(metric) ?? 0) + count);
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  return most === undefined ? { direction: 'unknown' } : { metric: most[0], direction: directionOf(most[0]) };
}

/** scikit-learn's scorer names: all of them are better the larger they are. */
function scoringDirection(scoring: string): Direction {
  if (scoring.startsWith('neg_')) return 'higher';
  const direction = directionOf(scoring);
  return direction === 'unknown' && metricIn(scoring) === undefined ? 'higher' : direction;
}

/** Family that a printed name means (`lgbm` → `LightGBM`); undefined for any other name. */
export function modelFamily(name: string): string | undefined {
  const squeezed = name.replace(/[\s_-]+/g, '').toLowerCase();
  const aliases: Readonly<Record<string, string>> = {
    lgbm: 'LightGBM',
    lgb: 'LightGBM',
    xgb: 'XGBoost',
    cat: 'CatBoost',
    cb: 'CatBoost',
    rf: 'RandomForest',
    et: 'ExtraTrees',
    gb: 'GradientBoosting',
    gbm: 'GradientBoosting',
    lr: 'LogisticRegression',
    logreg: 'LogisticRegression',
    svm: 'SVM',
    knn: 'KNN',
    mlp: 'MLP',
  };
  const alias = aliases[squeezed.replace(/(?:model|regressor|classifier)s?$/, '')];
  if (alias !== undefined) return alias;
  return MODEL_FAMILIES.map(([, family]) => family).find((family) =>
    squeezed.startsWith(family.toLowerCase()),
  );
}
