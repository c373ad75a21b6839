/** A kind of component of a machine-learning script: how it is named, how its code looks, what to do next. */
export interface ComponentKind {
  readonly id: string;
  /** Words of a summary that mean this kind. */
  readonly words: RegExp;
  /** Called functions, keyword arguments and names in the code that make it; asked by `isCodeOf`. */
  readonly code: RegExp;
  /** Two or three sentences of the plan, each ending with a full stop. */
  readonly advice: readonly string[];
}

const CONSTRAINTS =
  'Fit every learned step on the training part only and keep the running time close to that of today.';

/**
 * Synonyms as data. Of several kinds that fit, the one whose words are first in the summary wins, then the
 * earlier one here: the specific kinds are before the general ones.
 */
export const COMPONENT_KINDS: readonly ComponentKind[] = [
  {
    id: 'target encoding',
    words:
      /\b(?:target|mean|likelihood|m-estimate|leave-one-out|catboost) encod\w*|\btarget_?enc\w*|\bTargetEncoder\b/i,
    code: /^(?:TargetEncoder|MEstimateEncoder|LeaveOneOutEncoder|CatBoostEncoder|JamesSteinEncoder)$|target_?(?:enc|mean)|mean_?enc|te_map/i,
    advice: [
      'Compute the encoding out of fold, so that no row sees its own target.',
      'Smooth the mean of a category toward the global mean by a weight that grows with its count, and give unseen categories the global mean.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'class weights',
    words:
      /\b(?:class|sample|instance) ?_?weight\w*|\bimbalance\w*|\b(?:over|under|re)-?sampl\w*|\bSMOTE\b|\bscale_pos_weight\b/i,
    code: /^(?:class_weights?|sample_weights?|scale_pos_weight|is_unbalance|auto_class_weights|SMOTE\w*|ADASYN|Random(?:Over|Under)Sampler|compute_(?:class|sample)_weight|WeightedRandomSampler|resample|pos_weight)$|class_?weights?/i,
    advice: [
      'Derive the weights from the class counts of the training part and compare the plain inverse frequency with its square root by cross-validation within it.',
      'Keep the validation rows unweighted and untouched by resampling.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'label smoothing',
    words: /\blabel[ _-]?smooth\w*/i,
    code: /^(?:label_?smooth\w*)$|smooth/i,
    advice: [
      'Compare a smaller and a larger smoothing value with the present one on rows held out of the training part.',
      'Keep the loss of the validation part free of smoothing, so that scores stay comparable.',
    ],
  },
  {
    id: 'ensemble',
    words:
      /\b(?:ensembl\w*|blend\w*|stack(?:ing|ed)|voting|weighted average|model averaging|meta[- ]?(?:learner|model)|bagging)\b/i,
    code: /^(?:Voting\w+|Stacking\w+|Bagging\w+|average|weights?|w\d|(?!class|sample)\w+_weights?|final_(?:pred|preds|predictions))$|ensemble|blend|stack(?:ed|ing)?|meta_?(?:model|learner)/i,
    advice: [
      'Collect out-of-fold predictions of every member for the training part and choose the weights on them with a small non-negative least-squares fit or a coarse grid.',
      'Add a member only if its errors differ from those of the others, and compare with a simple mean of ranks.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'encoder',
    words:
      /\b(?:one[- _]?hot\w*|ordinal|label|frequency|count|categor\w+|hash(?:ing)?|binary) ?(?:encod\w*)?\b(?=.{0,20}encod|\W|$)|\bencod(?:er|ers|ing|ings|ed)\b|\bdumm(?:y|ies)\b|\b(?:OneHot|Ordinal|Label)Encoder\b|\bTableVectorizer\b/i,
    code: /^(?:OneHotEncoder|OrdinalEncoder|LabelEncoder|LabelBinarizer|get_dummies|factorize|FeatureHasher|TableVectorizer|GapEncoder|MinHashEncoder|CountEncoder|BinaryEncoder|cat_codes)$|encoder|encoded|ohe|one_?hot|freq_(?:enc|map)|cat(?:egorical)?_transformer/i,
    advice: [
      'Group rare categories of each column before encoding, and handle categories that appear only at prediction time.',
      'Give columns with many categories a frequency or out-of-fold target encoding next to the present one, and keep the present one for columns with few.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'imputer',
    words:
      /\bimput\w*|\bmissing[- ](?:values?|data|indicator)\w*|\bfill ?na\b|\b(?:median|mean|mode|knn|forward|backward)[- ](?:fill|imput)\w*|\bnull (?:values|handling)\b/i,
    code: /^(?:SimpleImputer|KNNImputer|IterativeImputer|MissingIndicator|fillna|ffill|bfill|interpolate|dropna|nan_to_num)$|imput|fill(?:ed)?_?(?:na|values?)/i,
    advice: [
      'Choose the filling by column: the median within a related group for numbers, a category of its own for text.',
      'Add an indicator column wherever a value was missing, since that it is missing may itself tell something.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'scaler',
    words:
      /\b(?:re)?scal(?:er|ers|ing|ed)\b|\bstandard(?:i[sz]\w*|scaler)|\bnormali[sz]\w*|\bmin-?max\w*|\bz-?scor\w*|\b(?:robust|quantile|power)[- ]?(?:scal\w*|transform\w*)|\bStandardScaler\b|\bbox-?cox\b|\byeo-?johnson\b/i,
    code: /^(?:StandardScaler|MinMaxScaler|RobustScaler|MaxAbsScaler|Normalizer|PowerTransformer|QuantileTransformer|normalize)$|scaler|scaled|scaling|normali[sz]|standardi[sz]/i,
    advice: [
      'Try a robust scaler for columns with heavy tails and a power transform for skewed ones, and leave binary columns as they are.',
      'Put the scaler into the same pipeline as the model, so that each fold fits its own.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'outliers',
    words:
      /\boutliers?\b|\bclip(?:ping|ped)?\b|\bwinsor\w*|\bfilter(?:ing)? of (?:extreme|aberrant)\w*|\banomal\w*/i,
    code: /^(?:clip|quantile|winsorize|IsolationForest|LocalOutlierFactor|zscore|iqr|\w*_iqr)$|outlier|clip(?:ped|ping)?/i,
    advice: [
      'Take the limits from quantiles of the training part, by column, and clip instead of dropping rows.',
      'Compare with a log transform of the same columns, which tames extremes without a limit, by cross-validation within the training part.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'dimension reduction',
    words:
      /\bPCA\b|\bprincipal component\w*|\b(?:truncated )?SVD\b|\bdimension\w* reduc\w*|\bUMAP\b|\bNMF\b|\bautoencoder\b|\bLDA\b/i,
    code: /^(?:PCA|KernelPCA|IncrementalPCA|TruncatedSVD|NMF|UMAP|FastICA|LinearDiscriminantAnalysis)$|pca|svd/i,
    advice: [
      'Set the number of components by a fraction of explained variance instead of a fixed count.',
      'Append the components to the original columns instead of replacing these, and keep the form that cross-validation within the training part favors.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'feature selection',
    words:
      /\bfeature[- ]selection\b|\bselect(?:ion|ed|ing)? (?:of )?features?\b|\bSelectKBest\b|\bRFE\b|\bvariance threshold\b|\bdrop(?:ping|ped)? (?:correlated|low)\w*/i,
    code: /^(?:SelectKBest|SelectPercentile|SelectFromModel|RFE|RFECV|VarianceThreshold|SequentialFeatureSelector|mutual_info_\w+)$|selector|selected_features|select_features/i,
    advice: [
      'Rank columns by permutation importance on rows held out of the training part and drop only those at or below zero.',
      'Do the selection inside each fold.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'text features',
    words:
      /\btf-?idf\b|\bn-?grams?\b|\bunigrams?\b|\bbigrams?\b|\bstop ?words?\b|\bstopword\w*|\bbag[- ]of[- ]words\b|\btext features?\b|\b(?:Tfidf|Count|Hashing)Vectorizer\b|\bmax_?df\b|\bmin_?df\b|\btokeni[sz]\w*|\blemmati[sz]\w*|\bstemm\w*/i,
    code: /^(?:TfidfVectorizer|CountVectorizer|HashingVectorizer|TfidfTransformer|stop_words|ngram_range|max_df|min_df|word_tokenize|WordNetLemmatizer|PorterStemmer)$|vectori[sz]er|tfidf|(?:preprocess|clean)_text/i,
    advice: [
      'Join word and character n-grams, with sublinear term frequency and a minimum document frequency of a few documents.',
      'Keep words such as negations that a general stop word list would remove, if the task depends on style.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'augmentation',
    words:
      /\baugment\w*|\bmix-?up\b|\bcut-?mix\b|\brandom (?:flip|crop|rotation|erasing)\w*|\bTTA\b|\btest[- ]time\b/i,
    code: /^(?:Compose|Random\w+|ColorJitter|mixup\w*|cutmix\w*|ImageDataGenerator|\w*transforms?)$|augment|tta/i,
    advice: [
      'Strengthen the transformations that leave the label intact and drop those that could change it.',
      'Apply none of them to the validation data except for an averaged prediction over a few views.',
      'Keep the number of epochs, so that the effect can be told from longer training.',
    ],
  },
  {
    id: 'pretrained weights',
    words: /\bpre-?train\w*|\btransfer learning\b|\bfine-?tun\w*|\bbackbone\b|\bimagenet\b/i,
    code: /^(?:from_pretrained|pretrained|weights|create_model|hub|load_model|resnet\w*|efficientnet\w*|AutoModel\w*)$|backbone|pretrained/i,
    advice: [
      'Train the new head alone for a first short phase and then the whole network with a smaller learning rate for the lower layers.',
      'Match the normalization and input size to those the weights were trained with.',
      'Stop early on rows held out of the training part, so that the running time stays bounded.',
    ],
  },
  {
    id: 'regularization',
    words:
      /\bdropout\b|\bweight[ _]decay\b|\bregulari[sz]\w*|\bearly[ _-]stopping\b|\bbatch ?norm\w*|\bl[12] penalt\w*/i,
    code: /^(?:Dropout\w*|dropout\w*|weight_decay|early_stopping\w*|EarlyStopping|reg_alpha|reg_lambda|l2_leaf_reg|BatchNorm\w*|BatchNormalization|LayerNorm\w*|kernel_regularizer)$/i,
    advice: [
      'Compare one weaker and one stronger setting with the present one by cross-validation within the training part.',
      'Look at the gap between the scores of fitted and of held-out rows of the training part, and change nothing else meanwhile.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'target transform',
    words:
      /\blog(?:1p)?[- ](?:transform\w*|target)\b|\btarget (?:log|transform\w*|scaling)\b|\blog (?:of (?:the )?)?target\b|\bexpm1\b|\bTransformedTarget\w*/i,
    code: /^(?:log1p|expm1|log|exp|TransformedTargetRegressor|y_log|\w*_log)$|log_target/i,
    advice: [
      'Fit on the logarithm of the shifted target and undo it for every prediction before scoring.',
      'Correct the bias that the back-transformation brings with a factor estimated on the training part.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'clustering features',
    words: /\bclusters?\b|\bclustering\b|\bk-?means\w*|\bDBSCAN\b/i,
    code: /^(?:KMeans|MiniBatchKMeans|DBSCAN|GaussianMixture)$|cluster|kmeans/i,
    advice: [
      'Scale the columns that are clustered and add the distance to each center as features, not only the number of the cluster.',
      'Fit the centers on training rows only.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'optimizer',
    words: /\boptimi[sz]er\b|\blearning[- ]rate\b|\bschedul\w*|\bwarm-?up\b|\bAdamW?\b|\bSGD\b|\bEMA\b/i,
    code: /^(?:Adam\w*|SGD|RMSprop|OneCycleLR|CosineAnnealing\w*|ReduceLROnPlateau|learning_rate|lr)$|[Ss]cheduler|optimizer|warmup|ema/i,
    advice: [
      'Use a short warm-up followed by a cosine decay over the epochs that are trained anyway.',
      'Try one rate three times smaller and one three times larger than today, and choose on rows held out of the training part.',
      'Keep the number of epochs.',
    ],
  },
  {
    id: 'feature engineering',
    words:
      /\b(?:interaction|polynomial|ratio|lag(?:ged)?|rolling|date|time|calendar|aggregat\w+|derived|engineered|group|cross(?:ed)?|geo\w*|spatial|statistic\w*) ?(?:terms?|features?|columns?|variables?|stat\w*)\b|\bfeature[- _]?(?:engineering|creation|extraction|generation)\b|\b\w+ features?\b|\bPolynomialFeatures\b/i,
    code: /^(?:PolynomialFeatures|SplineTransformer|rolling|shift|groupby|agg|transform|diff|cumsum|pct_change|to_datetime|dt|cut|qcut|assign)$|_(?:mean|sum|std|count|per)(?:_\w|$)|features?|feature_engineering|interaction|ratio|lag_?/i,
    advice: [
      'Add a few ratios, differences and group statistics of the columns that are strongest now, and keep each only if cross-validation within the training part improves.',
      'Build statistics over groups from training rows alone and join them to the validation rows.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'validation scheme',
    words:
      /\bcross[- ]?validat\w*|\b(?:Stratified|Group)?KFold\b|\bfolds?\b|\btrain[- ]test split\b|\bstratif\w*/i,
    code: /^(?:KFold|StratifiedKFold|GroupKFold|StratifiedGroupKFold|RepeatedKFold|TimeSeriesSplit|cross_val_\w+|train_test_split|n_splits)$/i,
    advice: [
      'Split so that the parts resemble the test data: by group or by time where rows belong together, stratified by the target otherwise.',
      'Average the predictions for the test data over the models of all folds.',
      CONSTRAINTS,
    ],
  },
  {
    id: 'model',
    words:
      /\bLightGBM\b|\bLGBM\w*|\bXGB\w*|\bCatBoost\w*|\brandom ?forest\w*|\bextra ?trees\w*|\bgradient boost\w*|\b(?:Hist)?GradientBoosting\w*|\blogistic ?regression\b|\blinear (?:model|regression)\b|\bridge\b|\blasso\b|\belastic ?net\b|\bSV[MRC]\b|\bKNN\b|\bk-?nearest\b|\bnaive ?bayes\b|\bMLP\w*|\bneural net\w*|\btransformer\b|\bLSTM\b|\bGRU\b|\bCNN\b|\bTabNet\b|\b(?:base )?(?:model|estimator|regressor|classifier|learner)s?\b|\bn_estimators\b|\bmax_depth\b|\bnum_leaves\b|\bhyper-?param\w*|\btree depth\b/i,
    code: /^(?:LGBM\w+|XGB\w+|CatBoost\w*|RandomForest\w+|ExtraTrees\w+|(?:Hist)?GradientBoosting\w+|AdaBoost\w+|DecisionTree\w+|Logistic\w+|LinearRegression|Ridge\w*|Lasso\w*|ElasticNet\w*|SGD\w+|(?:Linear|Nu)?SV[CR]|KNeighbors\w+|\w+NB|MLP\w+|TabNet\w+|Sequential|Linear|Dense|LSTM|GRU|Conv\w+|n_estimators|max_depth|num_leaves|train)$|model|clf|regressor|classifier|lgbm|xgb|rf/i,
    advice: [
      'Lower the learning rate with more trees and early stopping on rows held out of the training part, or for other models adjust the one setting that limits capacity.',
      'Compare two or three settings of depth and regularization by cross-validation within the training part instead of searching a large space.',
      'Keep the seed and the split, so that the scores stay comparable.',
    ],
  },
];

export function kindById(id: string): ComponentKind | undefined {
  return COMPONENT_KINDS.find((kind) => kind.id === id);
}

/**
 * Whether a name in the code makes this kind. The expressions are for names alone: they look for a part of one
 * anywhere in it, which in other text would say nothing.
 */
export function isCodeOf(kind: ComponentKind, name: string): boolean {
  return /^\w+$/.test(name) && kind.code.test(name);
}
