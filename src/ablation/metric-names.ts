import type { Direction } from './ablation-reading.js';

interface MetricName {
  readonly name: string;
  readonly direction: Exclude<Direction, 'unknown'>;
  /** Also an ordinary word of component names, as in "focal loss": counts only where it is separate. */
  readonly ordinary: boolean;
}

const HIGHER = [
  'accuracy',
  'acc',
  'balanced accuracy',
  'top 1 accuracy',
  'top 5 accuracy',
  'exact match',
  'roc auc',
  'auc roc',
  'auroc',
  'auprc',
  'pr auc',
  'auc',
  'average precision',
  'f1',
  'f1 score',
  'f1 macro',
  'macro f1',
  'micro f1',
  'weighted f1',
  'f beta',
  'fbeta',
  'f2',
  'r2',
  'r²',
  'r^2',
  'r squared',
  'r2 score',
  'qwk',
  'quadratic weighted kappa',
  'kappa',
  'cohen kappa',
  "cohen's kappa",
  'mcc',
  'matthews',
  'matthews corrcoef',
  'ndcg',
  'mrr',
  'map@3',
  'map@5',
  'map@10',
  'map@12',
  'map@k',
  'map50',
  'mean average precision',
  'dice',
  'dice score',
  'iou',
  'miou',
  'mean iou',
  'jaccard',
  'pearson',
  'spearman',
  'pearson r',
  'pearsonr',
  'correlation',
  'c index',
  'concordance',
  'normalized gini',
  'bleu',
  'rouge',
  'rouge l',
  'psnr',
  'ssim',
  'explained variance',
  'specificity',
  'sensitivity',
  'hit rate',
  'log likelihood',
  'silhouette',
  'adjusted rand',
  'nmi',
  'exactitude',
  'genauigkeit',
  'treffergenauigkeit',
  'precisión',
  'exactitud',
  'acurácia',
  'accuratezza',
  'nauwkeurigheid',
  'точность',
  '准确率',
  '精度',
  '正解率',
  'nash sutcliffe',
  'nse',
  'kge',
  'amex',
  'neg root mean squared error',
  'neg mean squared error',
  'neg mean absolute error',
  'neg rmse',
  'neg mse',
  'neg mae',
  'neg log loss',
  'negative rmse',
  'negative mae',
  'negative mse',
];
const LOWER = [
  'rmse',
  'rmsle',
  'mae',
  'mse',
  'msle',
  'mape',
  'smape',
  'wape',
  'wmape',
  'mase',
  'mdae',
  'medae',
  'nrmse',
  'mcrmse',
  'rmspe',
  'crps',
  'root mean squared error',
  'root mean square error',
  'root mean squared log error',
  'mean squared error',
  'mean absolute error',
  'median absolute error',
  'mean absolute percentage error',
  'max error',
  'log loss',
  'logloss',
  'multi logloss',
  'binary logloss',
  'mlogloss',
  'cross entropy',
  'crossentropy',
  'cross entropy loss',
  'brier',
  'brier score',
  'nll',
  'negative log likelihood',
  'hamming loss',
  'hinge loss',
  'pinball',
  'pinball loss',
  'quantile loss',
  'huber loss',
  'zero one loss',
  'val loss',
  'validation loss',
  'test loss',
  'deviance',
  'poisson deviance',
  'gamma deviance',
  'perplexity',
  'ppl',
  'wer',
  'cer',
  'word error rate',
  'character error rate',
  'fid',
  'error rate',
  'misclassification rate',
  'val error',
  'validation error',
  'test error',
  'cv error',
  'ece',
  'eer',
  'equal error rate',
  'davies bouldin',
  'fehler',
  'fehlerrate',
  'erreur',
  'verlust',
  'perte',
  'fpr',
  'fnr',
  'false positive rate',
  'false negative rate',
  'levenshtein',
  'edit distance',
];
const HIGHER_ORDINARY = [
  'precision',
  'recall',
  'map',
  'gini',
  'lift',
  'return',
  'reward',
  'sharpe',
  'ap',
  'ks',
];
const LOWER_ORDINARY = ['loss', 'error', 'err', 'cost', 'distance', 'regret'];

function named(names: readonly string[], direction: 'higher' | 'lower', ordinary: boolean): MetricName[] {
  return names.map((name) => ({ name, direction, ordinary }));
}

const METRICS = [
  ...named(HIGHER, 'higher', false),
  ...named(LOWER, 'lower', false),
  ...named(HIGHER_ORDINARY, 'higher', true),
  ...named(LOWER_ORDINARY, 'lower', true),
];
const BY_NAME = new Map(METRICS.map((metric) => [metric.name, metric]));

function alternatives(names: readonly string[]): string {
  return [...names]
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '[ -]?'))
    .join('|');
}

const METRIC = alternatives(METRICS.map((metric) => metric.name));
const QUALIFIER =
  'validation|valid|val|test|testing|holdout|hold-out|held-out|oof|out-of-fold|cv|cross-validation|cross-validated|mean|avg|average|median|final|overall|macro|micro|weighted|\\d+-fold|k-fold|dev|public|private|eval|evaluation|train|training|best|moyenne|mittlere[rs]?|media|médio|média';
const GENERIC =
  'performance|scores?|results?|metric|value|puntuación|punteggio|pontuação|оценка|результат|得分|分数|スコア';
/** Spaces, underscores and hyphens are one thing in metric names. */
const GAP = '[ \\t]*';
const TAIL_UNIT = `(?:${GAP}\\((?:macro|micro|weighted|binary|higher is better|lower is better|mean|cv|\\d+-fold(?: cv)?|%|val|validation|test|oof|ovr|ovo|(${METRIC}))\\))?`;
const PHRASE = `(?:(?:${QUALIFIER})${GAP})*(?:(${METRIC})(?:${GAP}(?:${GENERIC}|mean|avg|\\(mean\\)))?|(?:${GENERIC}))${TAIL_UNIT}`;
const WHOLE = new RegExp(`^${PHRASE}$`, 'iu');
const TAIL = new RegExp(`(?<![\\p{L}\\p{N}])${PHRASE}$`, 'iu');
const HEAD = new RegExp(`^${PHRASE}(?![\\p{L}\\p{N}])`, 'iu');
const ONLY_QUALIFIERS = new RegExp(`^(?:(?:${QUALIFIER})${GAP})+$`, 'iu');

export interface MetricPhrase {
  /** The phrase as printed, trimmed; empty where the words name no metric (`score`). */
  readonly metric: string;
  readonly start: number;
  readonly end: number;
}

/** Same length as the text, so that offsets hold in both. */
function leveled(text: string): string {
  return text.replace(/_/g, ' ');
}

function phraseOf(text: string, match: RegExpExecArray | null): MetricPhrase | undefined {
  if (match === null) return undefined;
  const printed =
    match[1] === undefined && match[2] !== undefined
      ? match[2]
      : text.slice(match.index, match.index + match[0].length).trim();
  return {
    metric: (match[1] ?? match[2]) === undefined ? '' : printed,
    start: match.index,
    end: match.index + match[0].length,
  };
}

/** Longest phrase looked for at either end of a text. */
const WINDOW = 90;

/** A metric or score phrase at the end of a text, as in `No scaler, validation RMSE`. */
export function metricAtEnd(text: string): MetricPhrase | undefined {
  const from = Math.max(0, text.length - WINDOW);
  const window = leveled(text.slice(from));
  const match = TAIL.exec(window);
  if (match === null) return undefined;
  const ordinary = match[1] !== undefined && BY_NAME.get(canonical(match[1]))?.ordinary === true;
  if (ordinary && canonical(match[0]) === canonical(match[1] ?? '')) {
    // "No focal loss": the word belongs to the component unless something separates it.
    const before = window.slice(0, match.index);
    if (before.trim() !== '' && !/(?:[:)\]},|'"=]|\s-)\s*$|\s{2}$/.test(before)) return undefined;
  }
  const phrase = phraseOf(text.slice(from), match);
  if (phrase === undefined) return undefined;
  let start = phrase.start + from;
  // "no_rolling_mean mae": an underscore ties the word to the name before it.
  const gap = text.slice(start).search(/\s/);
  if (text[start - 1] === '_' && gap !== -1) start += gap + 1;
  const tied = start !== phrase.start + from && phrase.metric !== '';
  return { metric: tied ? text.slice(start).trim() : phrase.metric, start, end: phrase.end + from };
}

/** A metric or score phrase at the start of a text, as in `Accuracy without stop words`. */
export function metricAtStart(text: string): MetricPhrase | undefined {
  return phraseOf(text, HEAD.exec(leveled(text.slice(0, WINDOW))));
}

/** Whether the whole text is a metric or score phrase, or only words such as `mean`. */
export function isMetricPhrase(text: string): boolean {
  const trimmed = leveled(text).trim();
  return trimmed.length <= WINDOW && (WHOLE.test(trimmed) || ONLY_QUALIFIERS.test(trimmed));
}

function canonical(metric: string): string {
  return leveled(metric)
    .toLowerCase()
    .replace(/[\s-]+/g, ' ')
    .trim();
}

const ANYWHERE = new RegExp(`(?<![\\p{L}\\p{N}])(${METRIC})(?![\\p{L}\\p{N}²])`, 'giu');

/** The bare metric named in a phrase (`validation RMSE` → `rmse`), for comparison. */
export function metricIn(text: string): string | undefined {
  let found: string | undefined;
  for (const match of leveled(text.slice(0, 200)).matchAll(ANYWHERE)) {
    const name = bareName(match[1] ?? '');
    if (found === undefined || name.length > found.length) found = name;
  }
  return found;
}

/** `log-loss`, `logloss` and `log loss` are one name. */
function bareName(metric: string): string {
  const name = canonical(metric);
  if (BY_NAME.has(name)) return name;
  for (const known of BY_NAME.keys())
    if (known.replaceAll(' ', '') === name.replaceAll(' ', '')) return known;
  return name;
}

/** Whether a larger value of the named metric is the better one. */
export function directionOf(metric: string): Direction {
  const text = canonical(metric);
  const name = metricIn(text);
  if (name === undefined) return 'unknown';
  const direction = BY_NAME.get(name)?.direction ?? 'unknown';
  // scikit-learn's scorers: `neg_…` turns an error into a score.
  if (direction === 'lower' && /(?:^|\s)neg(?:ative|ated)?\s/.test(text)) return 'higher';
  return direction;
}

/** Scores on the training data, times and sizes never rank a component. */
export function isTrainingMetric(metric: string): boolean {
  return /(?:^|[\s_])(?:train|training|in-sample)(?:[\s_]|$)/i.test(metric);
}
