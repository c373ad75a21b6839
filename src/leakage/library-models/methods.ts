import type { LeakKind } from '../kinds.js';

/** Methods of frames, columns, arrays and tensors that reduce many rows to a few numbers. */
export const STATISTIC_METHODS: ReadonlyMap<string, LeakKind> = new Map<string, LeakKind>([
  ...(
    [
      'mean',
      'median',
      'std',
      'var',
      'sem',
      'min',
      'max',
      'sum',
      'prod',
      'quantile',
      'mode',
      'skew',
      'kurt',
      'kurtosis',
      'mad',
      'describe',
      'agg',
      'aggregate',
      'value_counts',
      'cov',
      'first',
      'last',
      'size',
      'count',
      'pivot_table',
    ] as const
  ).map((name): [string, LeakKind] => [name, 'statistics']),
  ['corr', 'feature-selection'],
  ['corrwith', 'feature-selection'],
]);

/** Row counts and the like: numbers over rows that say nothing about their values. */
export const HARMLESS_METHODS: ReadonlySet<string> = new Set([
  'nunique',
  'unique',
  'isna',
  'isnull',
  'any',
  'all',
  'info',
  'memory_usage',
  'tolist',
  'to_list',
  'keys',
  'get_feature_names_out',
  'select_dtypes_names',
]);

/** Methods that give the result for each row from the row itself and rows before it. */
export const WINDOW_METHODS: ReadonlySet<string> = new Set([
  'rolling',
  'expanding',
  'ewm',
  'rolling_mean',
  'rolling_sum',
  'rolling_std',
  'rolling_max',
  'rolling_min',
]);

/** Methods whose value at one row depends on its rank or position among all rows. */
export const RANKING_METHODS: ReadonlySet<string> = new Set(['rank']);

/** Methods that may change the object instead of returning a new one. */
export const INPLACE_METHODS: ReadonlySet<string> = new Set([
  'fillna',
  'replace',
  'drop',
  'dropna',
  'drop_duplicates',
  'rename',
  'reset_index',
  'set_index',
  'sort_values',
  'sort_index',
  'clip',
  'interpolate',
  'bfill',
  'ffill',
  'where',
  'mask',
  'update',
  'insert',
  'rename_axis',
  'eval',
]);

/** Methods of a fitted object that give predictions. */
export const PREDICT_METHODS: ReadonlySet<string> = new Set([
  'predict',
  'predict_proba',
  'predict_log_proba',
  'decision_function',
  'predict_on_batch',
  'predict_classes',
  'forward',
  'predict_step',
  'inplace_predict',
  'staged_predict',
  'staged_predict_proba',
  'predict_partial_hazard',
  'predict_log_partial_hazard',
  'predict_cumulative_hazard',
  'predict_cumulative_hazard_function',
  'predict_survival_function',
  'predict_median',
  'predict_expectation',
  'predict_percentile',
]);

/** Methods that compute many rows' values with what was learned from the rows of the fit. */
export const TRANSFORM_METHODS: ReadonlySet<string> = new Set([
  'transform',
  'inverse_transform',
  'texts_to_sequences',
  'texts_to_matrix',
  'apply',
  'score_samples',
  'kneighbors',
  'query',
  'query_radius',
  'query_ball_point',
]);

export const FIT_METHODS: ReadonlySet<string> = new Set([
  'fit',
  'partial_fit',
  'fit_transform',
  'fit_predict',
  'fit_resample',
  'fit_sample',
  'fit_on_texts',
  'fit_generator',
  'adapt',
  'train',
  'build_vocab',
]);

/**
 * Accessors, whose methods look at one element at a time, whatever they are called: pandas `Series.str`,
 * `Series.dt`, `Series.cat`, `Series.list`; polars `Expr.str`, `Expr.dt`, `Expr.list`, `Expr.arr`, `Expr.struct`,
 * `Expr.bin`.
 */
export const ACCESSORS: ReadonlySet<string> = new Set([
  'str',
  'dt',
  'cat',
  'list',
  'arr',
  'struct',
  'bin',
  'name',
  'sparse',
  'plot',
]);

/** Accessors whose elements are lists. */
export const ELEMENT_ACCESSORS: ReadonlySet<string> = new Set(['list', 'arr']);

/** Masks by method: a column of truth values that picks rows. */
export const MASK_METHODS: ReadonlySet<string> = new Set([
  'isin',
  'between',
  'notna',
  'notnull',
  'isna',
  'isnull',
  'duplicated',
  'startswith',
  'contains',
  'is_in',
  'is_null',
  'is_not_null',
  'is_between',
  'eq',
  'ne',
  'lt',
  'gt',
  'le',
  'ge',
]);
