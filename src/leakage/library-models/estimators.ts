import type { LeakKind } from '../kinds.js';
import type { EstimatorRole } from '../values/value.js';

/** One family of library classes: what fitting them does. */
export interface EstimatorFamily {
  readonly role: EstimatorRole;
  /** The kind of leak that a fit over scored rows is; only for what is fitted as a transformer. */
  readonly kind?: LeakKind;
  readonly names: readonly string[];
  /** Where it is documented. */
  readonly source: string;
}

const families: readonly EstimatorFamily[] = [
  {
    role: 'transformer',
    kind: 'scaling',
    names: [
      'StandardScaler',
      'MinMaxScaler',
      'MaxAbsScaler',
      'RobustScaler',
      'QuantileTransformer',
      'PowerTransformer',
      'KernelCenterer',
      'Normalization',
      'YeoJohnsonTransformer',
      'BoxCoxTransformer',
      'GaussRankScaler',
    ],
    source: 'scikit-learn user guide 7.3 (preprocessing); keras.layers.Normalization.adapt',
  },
  {
    role: 'transformer',
    kind: 'imputation',
    names: ['SimpleImputer', 'KNNImputer', 'IterativeImputer', 'Imputer', 'MissForest', 'MeanMedianImputer'],
    source: 'scikit-learn user guide 7.4 (imputation)',
  },
  {
    role: 'transformer',
    kind: 'encoding',
    names: [
      'OneHotEncoder',
      'OrdinalEncoder',
      'DictVectorizer',
      'CountEncoder',
      'CountFrequencyEncoder',
      'RareLabelEncoder',
      'BaseNEncoder',
      'BinaryEncoder',
      'StringLookup',
    ],
    source: 'scikit-learn user guide 7.3.4; category_encoders reference (unsupervised)',
  },
  {
    role: 'transformer',
    kind: 'target-encoding',
    names: [
      'TargetEncoder',
      'LeaveOneOutEncoder',
      'CatBoostEncoder',
      'JamesSteinEncoder',
      'MEstimateEncoder',
      'WOEEncoder',
      'GLMMEncoder',
      'QuantileEncoder',
      'MeanEncoder',
    ],
    source: 'category_encoders reference (supervised); scikit-learn TargetEncoder',
  },
  {
    role: 'transformer',
    kind: 'projection',
    names: [
      'PCA',
      'IncrementalPCA',
      'KernelPCA',
      'SparsePCA',
      'MiniBatchSparsePCA',
      'TruncatedSVD',
      'NMF',
      'FastICA',
      'FactorAnalysis',
      'LatentDirichletAllocation',
      'DictionaryLearning',
      'UMAP',
      'TSNE',
      'Isomap',
      'LocallyLinearEmbedding',
      'SpectralEmbedding',
      'MDS',
      'PLSSVD',
      'NeighborhoodComponentsAnalysis',
      'RandomTreesEmbedding',
      'Nystroem',
      'LdaModel',
    ],
    source: 'scikit-learn user guide 2.5 (matrix factorization), 2.2 (manifolds); umap-learn',
  },
  {
    role: 'transformer',
    kind: 'feature-selection',
    names: [
      'SelectKBest',
      'SelectPercentile',
      'SelectFpr',
      'SelectFdr',
      'SelectFwe',
      'GenericUnivariateSelect',
      'SelectFromModel',
      'RFE',
      'RFECV',
      'SequentialFeatureSelector',
      'VarianceThreshold',
      'BorutaPy',
      'DropCorrelatedFeatures',
      'SmartCorrelatedSelection',
      'ExhaustiveFeatureSelector',
    ],
    source: 'scikit-learn user guide 1.13 (feature selection); boruta_py; mlxtend',
  },
  {
    role: 'transformer',
    kind: 'clustering',
    names: [
      'KMeans',
      'MiniBatchKMeans',
      'BisectingKMeans',
      'DBSCAN',
      'HDBSCAN',
      'OPTICS',
      'MeanShift',
      'GaussianMixture',
      'BayesianGaussianMixture',
      'AgglomerativeClustering',
      'FeatureAgglomeration',
      'Birch',
      'SpectralClustering',
      'AffinityPropagation',
    ],
    source: 'scikit-learn user guide 2.3 (clustering), 2.1 (mixtures)',
  },
  {
    role: 'transformer',
    kind: 'vocabulary',
    names: [
      'CountVectorizer',
      'TfidfVectorizer',
      'TfidfTransformer',
      'Tokenizer',
      'TextVectorization',
      'Word2Vec',
      'Doc2Vec',
      'FastText',
      'BM25Transformer',
    ],
    source: 'scikit-learn user guide 7.2.3 (text); keras TextVectorization.adapt; gensim Word2Vec',
  },
  {
    role: 'transformer',
    kind: 'binning',
    names: [
      'KBinsDiscretizer',
      'SplineTransformer',
      'EqualFrequencyDiscretiser',
      'EqualWidthDiscretiser',
      'DecisionTreeDiscretiser',
      'Discretization',
    ],
    source: 'scikit-learn user guide 7.3.5 (discretization)',
  },
  {
    role: 'transformer',
    kind: 'group-statistics',
    names: [
      'NearestNeighbors',
      'KNeighborsTransformer',
      'RadiusNeighborsTransformer',
      'BallTree',
      'KDTree',
      'cKDTree',
    ],
    source: 'scikit-learn user guide 1.6.1 (unsupervised nearest neighbors); scipy.spatial',
  },
  {
    role: 'transformer',
    kind: 'statistics',
    names: ['Winsorizer', 'IsolationForest', 'LocalOutlierFactor', 'EllipticEnvelope', 'OneClassSVM'],
    source: 'scikit-learn user guide 2.7 (outlier detection); feature_engine.outliers',
  },
  {
    role: 'stateless',
    names: [
      'Normalizer',
      'HashingVectorizer',
      'FeatureHasher',
      'HashingEncoder',
      'FunctionTransformer',
      'PolynomialFeatures',
      'Binarizer',
      'RBFSampler',
      'AdditiveChi2Sampler',
      'SkewedChi2Sampler',
      'PolynomialCountSketch',
      'GaussianRandomProjection',
      'SparseRandomProjection',
      'PatchExtractor',
    ],
    source: 'scikit-learn user guide: "stateless" transformers (fit only validates or only uses the width)',
  },
  {
    role: 'label-coder',
    names: ['LabelEncoder', 'LabelBinarizer', 'MultiLabelBinarizer'],
    source: 'scikit-learn user guide 7.9 (transforming the target): a renaming of classes',
  },
  {
    role: 'sampler',
    kind: 'over-sampling',
    names: [
      'SMOTE',
      'SMOTENC',
      'SMOTEN',
      'ADASYN',
      'BorderlineSMOTE',
      'KMeansSMOTE',
      'SVMSMOTE',
      'RandomOverSampler',
      'SMOTEENN',
      'SMOTETomek',
    ],
    source: 'imbalanced-learn user guide 2 (over-sampling), 4 (combination)',
  },
  {
    role: 'splitter',
    names: [
      'KFold',
      'StratifiedKFold',
      'GroupKFold',
      'StratifiedGroupKFold',
      'RepeatedKFold',
      'RepeatedStratifiedKFold',
      'LeaveOneOut',
      'LeavePOut',
      'LeaveOneGroupOut',
      'LeavePGroupsOut',
      'ShuffleSplit',
      'StratifiedShuffleSplit',
      'GroupShuffleSplit',
      'TimeSeriesSplit',
      'PredefinedSplit',
      'MultilabelStratifiedKFold',
      'IterativeStratification',
      'PurgedGroupTimeSeriesSplit',
    ],
    source: 'scikit-learn user guide 3.1.2 (cross-validation iterators); iterative-stratification',
  },
  {
    role: 'pipeline',
    names: [
      'Pipeline',
      'make_pipeline',
      'ColumnTransformer',
      'make_column_transformer',
      'FeatureUnion',
      'make_union',
      'TransformedTargetRegressor',
      'DataFrameMapper',
    ],
    source: 'scikit-learn user guide 7.1 (pipelines and composite estimators)',
  },
  {
    role: 'search',
    names: [
      'GridSearchCV',
      'RandomizedSearchCV',
      'HalvingGridSearchCV',
      'HalvingRandomSearchCV',
      'BayesSearchCV',
      'OptunaSearchCV',
      'TuneSearchCV',
    ],
    source: 'scikit-learn user guide 3.2 (tuning)',
  },
  {
    role: 'network',
    names: [
      'Sequential',
      'Linear',
      'Model',
      'Module',
      'LightningModule',
      'AutoModelForSequenceClassification',
    ],
    source: 'torch.nn.Module; keras.Model training API',
  },
];

const byName = new Map<string, EstimatorFamily>();
for (const family of families) for (const name of family.names) byName.set(name, family);

/** Packages whose classes are looked up by name. */
const PACKAGES = new Set([
  'sklearn',
  'imblearn',
  'category_encoders',
  'feature_engine',
  'sktime',
  'cuml',
  'umap',
  'boruta',
  'mlxtend',
  'keras',
  'tensorflow',
  'torch',
  'torchvision',
  'pytorch_lightning',
  'lightning',
  'transformers',
  'gensim',
  'hdbscan',
  'iterstrat',
  'skmultilearn',
  'missingpy',
  'missforest',
  'skopt',
  'optuna',
  'sklearn_pandas',
  'kmodes',
]);

/** Modules of scikit-learn whose classes predict. */
const MODEL_MODULES =
  /^(sklearn|cuml)\.(ensemble|linear_model|svm|neighbors|tree|naive_bayes|neural_network|gaussian_process|discriminant_analysis|kernel_ridge|dummy|multiclass|multioutput|calibration|semi_supervised|cross_decomposition|isotonic)\b/;
/** Source: scikit-survival API reference; lifelines, survival regression. */
const SURVIVAL_MODELS =
  /^(sksurv\.(ensemble|linear_model|svm|tree|meta)\.|lifelines\.(fitters\.\w+\.)?(CoxPH|CoxTimeVarying|AalenAdditive|\w*AFT|\w*Regression)Fitter$)/;
const MODEL_NAMES =
  /^(LGBM|XGB|CatBoost|NGB|TabNet|Explainable|Gradient|RandomForest|ExtraTrees|.*(Classifier|Regressor|Regression)$)/;

/**
 * Models that are also projections: `transform` gives axes that were learned with the labels.
 * Source: scikit-learn user guide 1.2.1 (dimensionality reduction by linear discriminant analysis), 1.8 (cross decomposition).
 */
const PROJECTING_MODELS = /(^|\.)(LinearDiscriminantAnalysis|PLSRegression|PLSCanonical|CCA)$/;

const COMPOSED = new Set(['make_pipeline', 'make_column_transformer', 'make_union']);

/** What is known about a library class; `undefined` for a function or a class that nobody described. */
export function estimatorFamily(path: string): EstimatorFamily | undefined {
  const parts = path.split('.');
  const name = parts.at(-1) ?? '';
  if (!/^[A-Z]/.test(name) && !COMPOSED.has(name)) return undefined;
  if (PACKAGES.has(parts[0] ?? '')) {
    const family = byName.get(name);
    if (family !== undefined) return family;
  }
  if (MODEL_MODULES.test(path) || SURVIVAL_MODELS.test(path) || MODEL_NAMES.test(name)) {
    return { role: 'model', names: [name], source: 'fit(X, y) and predict(X): scikit-learn developer API' };
  }
  return undefined;
}

/** Whether a class says which rows are outliers. Source: scikit-learn user guide 2.7 (novelty and outlier detection). */
export function isOutlierDetector(path: string): boolean {
  return /\.(IsolationForest|LocalOutlierFactor|EllipticEnvelope|OneClassSVM|SGDOneClassSVM)$/.test(path);
}

/** Whether a model also projects rows on axes that it learned. */
export function isProjectingModel(path: string): boolean {
  return PROJECTING_MODELS.test(path);
}
