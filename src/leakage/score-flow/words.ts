/** Classes that transform rows. */
export const TRANSFORMER =
  /(Scaler|Encoder|Imputer|Transformer|Vectorizer|PCA|SVD|Normalizer|Binarizer|Discretizer|Selector|NMF|ICA|Isomap|TSNE|UMAP|Hasher|VarianceThreshold|PolynomialFeatures|RFE|RFECV|SelectKBest|SelectPercentile|SelectFromModel|SelectFpr|SelectFdr)$/;
export const SAMPLER = /SMOTE|^(ADASYN|Random(Over|Under)Sampler|TomekLinks|NearMiss)$/;
/** Classes that wrap another estimator and choose its parameters. */
export const SEARCH = /(SearchCV|Search)$/;
/** Gives the same values in the same rows. */
export const SAME =
  /^(copy|reset_index|to_numpy|to_frame|toarray|todense|tolist|flatten|ravel|squeeze|reshape|values|compute|array|asarray|DataFrame|Series|set_axis|astype|infer_objects|convert_dtypes|csr_matrix|from_numpy|tensor|float|T|str|dt|cat|set_index|rename|list|columns_)$/;
/** Numbers about a table. */
export const ABOUT = /^(shape|size|ndim|dtypes|dtype|empty|nunique|info|describe|head_|corr)$/;
/** Leaves rows out, or puts them in another order. */
export const PICKS =
  /^(dropna|drop_duplicates|sample|head|tail|query|sort_values|sort_index|explode|nlargest|nsmallest|delete|shuffle|truncate|repeat|permutation)$/;
/** Statistics of all rows. */
export const STATISTIC =
  /^(nan)?(mean|median|std|var|min|max|percentile|quantile|sum|average|mode|count|sem|skew|kurt|value_counts|unique|agg|aggregate|size|first|last|idxmax|idxmin)$/;
/** Computes across the order of the rows. */
export const ACROSS_ROWS =
  /^(shift|diff|rolling|expanding|ewm|cumsum|cumprod|cummax|cummin|rank|pct_change|interpolate|ffill|bfill|cumcount)$/;
export const MASK =
  /^(isna|isnull|notna|notnull|isin|between|duplicated|eq|ne|gt|ge|lt|le|startswith|endswith|contains)$/;
export const METRIC = /(_score|_error|_loss|_curve|_report|_matrix|^accuracy|^auc|^rmse|^mae|^mse)$/;
export const CROSS_VALIDATION = /^(cross_val_score|cross_validate)$/;
export const READS =
  /^(read_\w+|load\w*|fetch_\w+|make_(classification|regression|blobs|moons|circles)|genfromtxt|loadtxt)$/;
export const NO_TABLE =
  /^(int|float|str|bool|round|sorted|zip|print|open|Path|join|getLogger|seed|default_rng|RandomState|format|dict|set|isinstance|filterwarnings|simplefilter|time|getenv|exists|type|set_option|manual_seed)$/;
export const SHOWS = /^(print|display|info|log|write|warning)$/;

/**
 * Steps of which the meaning is known, by what they do: two with the same word may be two ways to write the same. A step that is not
 * listed may be anything.
 */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/^(StandardScaler|-\(\.,~mean\)|\/\(\.,~std\)|scale\b|zscore)/, 'standardize'],
  [/^(MinMaxScaler|-\(\.,~min\)|\/\(\.,|minmax_scale)/, 'range'],
  [/^(MaxAbsScaler|RobustScaler|PowerTransformer|QuantileTransformer|Normalizer)/, 'scaler'],
  [/^(fillna|where\(isna\)|KNNImputer|IterativeImputer)/, 'fill'],
  [/^(get_dummies|OneHotEncoder|LabelBinarizer)/, 'dummies'],
  [/^(LabelEncoder|OrdinalEncoder|factorize|codes)/, 'codes'],
  [/^(log1p|log|log2|log10|sqrt|square|exp|expm1|abs|cbrt|clip|power)\b/, 'formula'],
  [/^(PCA|TruncatedSVD|NMF|FastICA|IncrementalPCA|KernelPCA)/, 'projection'],
  [
    /^(SelectKBest|SelectPercentile|SelectFromModel|RFE|RFECV|VarianceThreshold|SelectFpr)/,
    'choice of features',
  ],
  [/^(TfidfVectorizer|CountVectorizer|TfidfTransformer)/, 'vectors'],
  [/^(PolynomialFeatures|SplineTransformer|KBinsDiscretizer|cut|qcut|digitize)/, 'basis'],
  [/^(group\[|TargetEncoder)/, 'group'],
  [/^(shift|diff|rolling|cumsum|rank|pct_change)\b/, 'across rows'],
  [/^rows of another part \(split/, 'other rows'],
  [/^(astype|int|str)\b/, 'type'],
  [/^([-+*/%]|\*\*|\/\/)\(/, 'arithmetic'],
];

/** What a step does; undefined if that is not known. */
export function meaningOf(label: string): string | undefined {
  return MEANINGS.find(([pattern]) => pattern.test(label))?.[1];
}

/** Scalers by hand and by class are the same choice; of two classes one is another. */
export function isSameMeaning(one: string, other: string): boolean {
  const [first, second] = [meaningOf(one), meaningOf(other)];
  if (first === undefined || second === undefined) return true;
  if (isFillOfGroups(first, second)) return true;
  if (first !== second) return false;
  // Written in the same way, they differ in what they do.
  const [a, b] = [wordOf(one), wordOf(other)];
  return a !== b;
}

/** A gap that is filled by group may be written as a lookup or as a fill. */
function isFillOfGroups(one: string, other: string): boolean {
  return /^(group|fill)$/.test(one) && /^(group|fill)$/.test(other) && one !== other;
}

function wordOf(label: string): string {
  return /^[\w.[]*/.exec(label)?.[0] ?? label;
}

/** Steps that a correction may add so that the columns or groups of the parts agree. */
export const HARMLESS =
  /^(reindex|align|clip|fillna\(0|fillna\(-1|fillna\("|set_output|map$|replace\(|where\(isna\))/;
