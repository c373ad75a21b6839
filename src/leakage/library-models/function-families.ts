import type { LeakKind } from '../kinds.js';

/** What a library function does with the rows that are passed to it. */
type FunctionEffect =
  | 'source'
  | 'directory'
  | 'holdout-split'
  | 'random-split'
  | 'array-split'
  | 'positions'
  | 'blank'
  | 'concatenate'
  | 'side-by-side'
  | 'container'
  | 'windows'
  | 'statistic'
  | 'bins'
  | 'metric'
  | 'cross-validation'
  | 'cross-prediction'
  | 'booster-training'
  | 'copy'
  | 'same-table'
  | 'with-replacement'
  | 'learned-transform'
  | 'choice'
  | 'optimizer'
  | 'curve-fit'
  | 'row-wise'
  | 'plain';

export interface FunctionFamily {
  readonly effect: FunctionEffect;
  readonly kind?: LeakKind;
  /** Full dotted paths; `*` at the end stands for any rest. */
  readonly paths: readonly string[];
  readonly source: string;
}

/** What library functions do with rows, one entry for each family that does the same. */
export const FUNCTION_FAMILIES: readonly FunctionFamily[] = [
  {
    effect: 'holdout-split',
    paths: [
      'sklearn.model_selection.train_test_split',
      'sklearn.cross_validation.train_test_split',
      'cuml.model_selection.train_test_split',
      'skmultilearn.model_selection.iterative_train_test_split',
    ],
    source: 'sklearn.model_selection.train_test_split',
  },
  {
    effect: 'random-split',
    paths: ['torch.utils.data.random_split'],
    source: 'torch.utils.data.random_split',
  },
  {
    effect: 'directory',
    paths: ['image', 'text', 'audio'].flatMap((content) => [
      `keras.utils.${content}_dataset_from_directory`,
      `keras.preprocessing.${content}_dataset_from_directory`,
      `keras.preprocessing.image.${content}_dataset_from_directory`,
      `tensorflow.keras.utils.${content}_dataset_from_directory`,
      `tensorflow.keras.preprocessing.${content}_dataset_from_directory`,
      `tensorflow.keras.preprocessing.image.${content}_dataset_from_directory`,
    ]),
    source: 'keras.utils.image_dataset_from_directory: the seed decides which files `subset` holds',
  },
  { effect: 'array-split', paths: ['numpy.split', 'numpy.array_split'], source: 'numpy.split' },
  {
    effect: 'positions',
    paths: [
      'numpy.arange',
      'numpy.random.permutation',
      'torch.randperm',
      'torch.arange',
      'builtins.range',
      'numpy.random.choice',
      'random.sample',
    ],
    source: 'numpy.random.permutation; torch.randperm',
  },
  {
    effect: 'blank',
    paths: [
      'numpy.zeros',
      'numpy.empty',
      'numpy.ones',
      'numpy.full',
      'numpy.zeros_like',
      'numpy.empty_like',
      'numpy.full_like',
      'numpy.ones_like',
      'torch.zeros',
      'torch.zeros_like',
      'torch.ones',
    ],
    source: 'numpy array creation routines',
  },
  {
    effect: 'concatenate',
    paths: [
      'pandas.concat',
      'polars.concat',
      'numpy.concatenate',
      'numpy.vstack',
      'numpy.row_stack',
      'numpy.r_',
      'numpy.append',
      'torch.cat',
      'torch.vstack',
      'scipy.sparse.vstack',
      'torch.utils.data.ConcatDataset',
      'itertools.chain',
      'tensorflow.concat',
      'cudf.concat',
    ],
    source: 'pandas merging guide; numpy joining arrays',
  },
  {
    effect: 'side-by-side',
    paths: [
      'numpy.hstack',
      'numpy.column_stack',
      'numpy.c_',
      'numpy.dstack',
      'numpy.stack',
      'scipy.sparse.hstack',
      'torch.hstack',
      'torch.stack',
      'pandas.merge',
      'pandas.merge_asof',
    ],
    source: 'numpy joining arrays',
  },
  {
    effect: 'container',
    paths: [
      'pandas.DataFrame',
      'pandas.Series',
      'polars.DataFrame',
      'polars.Series',
      'polars.from_pandas',
      'numpy.array',
      'numpy.asarray',
      'torch.tensor',
      'torch.Tensor',
      'torch.FloatTensor',
      'torch.LongTensor',
      'torch.from_numpy',
      'torch.as_tensor',
      'torch.utils.data.TensorDataset',
      'torch.utils.data.DataLoader',
      'lightgbm.Dataset',
      'xgboost.DMatrix',
      'xgboost.QuantileDMatrix',
      'catboost.Pool',
      'scipy.sparse.csr_matrix',
      'tensorflow.data.Dataset.from_tensor_slices',
      'tensorflow.constant',
      'tensorflow.convert_to_tensor',
      'datasets.Dataset.from_pandas',
      'datasets.Dataset.from_dict',
      'torch_geometric.loader.DataLoader',
    ],
    source: 'constructors of pandas, numpy, torch.utils.data, lightgbm, xgboost, catboost',
  },
  {
    effect: 'windows',
    paths: ['keras', 'tensorflow.keras'].flatMap((keras) => [
      `${keras}.utils.timeseries_dataset_from_array`,
      `${keras}.preprocessing.timeseries_dataset_from_array`,
      `${keras}.preprocessing.sequence.TimeseriesGenerator`,
    ]),
    source: 'keras.utils.timeseries_dataset_from_array: `start_index`, `end_index`',
  },
  {
    effect: 'statistic',
    kind: 'statistics',
    paths: [
      ...[
        'mean',
        'median',
        'std',
        'var',
        'min',
        'max',
        'amin',
        'amax',
        'nanmean',
        'nanmedian',
        'nanstd',
        'nanvar',
        'nanmin',
        'nanmax',
        'ptp',
        'average',
        'percentile',
        'quantile',
        'nanpercentile',
        'nanquantile',
        'cov',
        'histogram',
        'sum',
        'nansum',
      ].map((name) => `numpy.${name}`),
      ...['mean', 'median', 'std', 'var', 'quantile', 'amin', 'amax'].map((name) => `torch.${name}`),
      'collections.Counter',
      'scipy.stats.iqr',
      'scipy.stats.mode',
      'statistics.*',
    ],
    source: 'numpy statistics reference; torch reductions',
  },
  {
    effect: 'statistic',
    kind: 'feature-selection',
    paths: [
      'numpy.corrcoef',
      'sklearn.feature_selection.mutual_info_classif',
      'sklearn.feature_selection.mutual_info_regression',
      'sklearn.feature_selection.f_classif',
      'sklearn.feature_selection.f_regression',
      'sklearn.feature_selection.chi2',
      'scipy.stats.pearsonr',
      'scipy.stats.spearmanr',
      ...[
        'ttest_ind',
        'mannwhitneyu',
        'ranksums',
        'kruskal',
        'ks_2samp',
        'f_oneway',
        'kendalltau',
        'pointbiserialr',
        'linregress',
      ].map((name) => `scipy.stats.${name}`),
      'lifelines.statistics.logrank_test',
      'lifelines.statistics.multivariate_logrank_test',
      'pingouin.corr',
      'pingouin.ttest',
      'sklearn.inspection.permutation_importance',
    ],
    source:
      'scikit-learn user guide 1.13.2 (univariate selection); scipy.stats, hypothesis tests; lifelines.statistics',
  },
  {
    effect: 'bins',
    kind: 'binning',
    paths: ['pandas.qcut', 'pandas.cut', 'scipy.stats.rankdata'],
    source: 'pandas.qcut; pandas.cut with a number of bins',
  },
  {
    effect: 'learned-transform',
    kind: 'scaling',
    paths: [
      'sklearn.preprocessing.scale',
      'sklearn.preprocessing.minmax_scale',
      'sklearn.preprocessing.robust_scale',
      'sklearn.preprocessing.maxabs_scale',
      'sklearn.preprocessing.quantile_transform',
      'sklearn.preprocessing.power_transform',
      'scipy.stats.zscore',
      'scipy.stats.mstats.winsorize',
      'scipy.stats.boxcox',
      'scipy.stats.yeojohnson',
    ],
    source: 'sklearn.preprocessing functions ("warning: risk of data leak"); scipy.stats.zscore',
  },
  {
    effect: 'metric',
    paths: [
      'sklearn.metrics.*',
      'torchmetrics.*',
      'torch.nn.functional.*loss*',
      'torch.nn.functional.cross_entropy',
      'torch.nn.functional.binary_cross_entropy*',
      'keras.losses.*',
      'tensorflow.keras.losses.*',
      'tensorflow.keras.metrics.*',
      'scipy.stats.kendalltau',
      'lifelines.utils.concordance_index',
      'sksurv.metrics.*',
    ],
    source:
      'scikit-learn user guide 3.4 (metrics); torch.nn.functional losses; lifelines.utils; sksurv.metrics',
  },
  {
    effect: 'cross-validation',
    paths: [
      'sklearn.model_selection.cross_val_score',
      'sklearn.model_selection.cross_validate',
      'sklearn.cross_validation.cross_val_score',
      'sklearn.model_selection.learning_curve',
      'sklearn.model_selection.validation_curve',
      'lightgbm.cv',
      'xgboost.cv',
      'catboost.cv',
    ],
    source: 'scikit-learn user guide 3.1.1; lightgbm.cv; xgboost.cv; catboost.cv',
  },
  {
    effect: 'cross-prediction',
    paths: ['sklearn.model_selection.cross_val_predict'],
    source: 'scikit-learn user guide 3.1.1.2',
  },
  {
    effect: 'booster-training',
    paths: ['lightgbm.train', 'xgboost.train', 'catboost.train'],
    source: 'lightgbm.train; xgboost.train',
  },
  {
    effect: 'same-table',
    paths: ['pandas.get_dummies', 'pandas.to_numeric', 'pandas.to_datetime'],
    source: 'pandas.get_dummies: one column per category, each row by itself',
  },
  {
    effect: 'copy',
    paths: [
      'copy.copy',
      'copy.deepcopy',
      'sklearn.base.clone',
      'sklearn.utils.shuffle',
      'builtins.list',
      'builtins.tuple',
      'builtins.iter',
      'builtins.reversed',
      'tqdm.tqdm',
      'tqdm.auto.tqdm',
      'tqdm.notebook.tqdm',
    ],
    source: 'Python library reference (copy); sklearn.base.clone; sklearn.utils.shuffle',
  },
  {
    effect: 'with-replacement',
    kind: 'duplicated-rows',
    paths: ['sklearn.utils.resample', 'numpy.repeat', 'numpy.tile'],
    source: 'sklearn.utils.resample (replace=True by default); numpy.repeat',
  },
  {
    effect: 'choice',
    paths: [
      'numpy.argmax',
      'numpy.argmin',
      'numpy.nanargmax',
      'numpy.nanargmin',
      'numpy.argsort',
      'heapq.nlargest',
      'heapq.nsmallest',
    ],
    source: 'numpy sorting, searching and counting; heapq',
  },
  {
    effect: 'optimizer',
    paths: [
      'scipy.optimize.*',
      'skopt.gp_minimize',
      'skopt.forest_minimize',
      'skopt.gbrt_minimize',
      'hyperopt.fmin',
      'bayes_opt.BayesianOptimization',
    ],
    source:
      'scipy.optimize; scikit-optimize; hyperopt: the function is called with many candidates, the best is kept',
  },
  {
    effect: 'curve-fit',
    kind: 'selection',
    paths: [
      'numpy.polyfit',
      'numpy.linalg.lstsq',
      'scipy.stats.linregress',
      'scipy.linalg.lstsq',
      'scipy.optimize.curve_fit',
      'scipy.optimize.nnls',
      'scipy.optimize.lsq_linear',
    ],
    source: 'numpy.polyfit; scipy.optimize.nnls: coefficients that fit one table to another',
  },
  {
    effect: 'plain',
    paths: [
      'builtins.isinstance',
      'builtins.type',
      'builtins.hasattr',
      'os.*',
      'warnings.*',
      'random.*',
      'time.*',
      'gc.*',
      'logging.*',
      'json.*',
      'pathlib.*',
      'numpy.random.seed',
      'torch.manual_seed',
      'numpy.linspace',
      'numpy.logspace',
      'itertools.product',
      'sklearn.utils.class_weight.*',
      'matplotlib.*',
      'seaborn.*',
      'plotly.*',
    ],
    source: 'no rows come out of these',
  },
];
