/** Answers that models give to the correction prompt, each for one block of one script. */
export interface ModelCorrections {
  readonly name: string;
  readonly script: string;
  /** The reported block. */
  readonly block: string;
  /** Other reported blocks, each a leak of its own. */
  readonly right: Readonly<Record<string, string>>;
  readonly wrong: Readonly<Record<string, string>>;
}

const IMPORTS = `import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score, accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from imblearn.over_sampling import SMOTE
`;

function within(before: string, block: string, after: string): { script: string; block: string } {
  return { script: `${IMPORTS}${before}\n${block}\n${after}\n`, block };
}

const SPLIT =
  'X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.2, random_state=42, stratify=y)';
const MODEL = `model = LogisticRegression(max_iter=500)
model.fit(X_train, y_train)
print("Final Validation Performance:", roc_auc_score(y_val, model.predict_proba(X_val)[:, 1]))`;
const SCALED = `scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)
X_val = scaler.transform(X_val)`;

const scaler: ModelCorrections = {
  name: 'a scaler before the split',
  ...within(
    'df = pd.read_csv("train.csv")\nX = df.drop(columns=["label"])\ny = df["label"]',
    `scaler = StandardScaler()\nX = scaler.fit_transform(X)\n${SPLIT}`,
    MODEL,
  ),
  right: {
    'the usual one': `${SPLIT}\n${SCALED}`,
    'fit and transform apart': `${SPLIT}\nscaler = StandardScaler().fit(X_train)\nX_train, X_val = scaler.transform(X_train), scaler.transform(X_val)`,
    'a pipeline with the scaler alone': `${SPLIT}\nprep = make_pipeline(StandardScaler())\nX_train = prep.fit_transform(X_train)\nX_val = prep.transform(X_val)`,
    'a helper function': `def scaled(fit_on, rows):\n    s = StandardScaler().fit(fit_on)\n    return s.transform(rows)\n${SPLIT}\nX_train, X_val = scaled(X_train, X_train), scaled(X_train, X_val)`,
    'tables keep their column names': `${SPLIT}\nscaler = StandardScaler()\nX_train = pd.DataFrame(scaler.fit_transform(X_train), columns=X_train.columns, index=X_train.index)\nX_val = pd.DataFrame(scaler.transform(X_val), columns=X_val.columns, index=X_val.index)`,
    'rows are divided by index': `train_idx, val_idx = train_test_split(df.index, test_size=0.2, random_state=42, stratify=y)\nscaler = StandardScaler()\nX_train = scaler.fit_transform(X.loc[train_idx])\nX_val = scaler.transform(X.loc[val_idx])\ny_train, y_val = y.loc[train_idx], y.loc[val_idx]`,
    'in a loop over the parts': `${SPLIT}\nscaler = StandardScaler().fit(X_train)\nX_train, X_val = [scaler.transform(part) for part in (X_train, X_val)]`,
    'copies of the parts': `${SPLIT}\nX_train = X_train.copy()\nX_val = X_val.copy()\nscaler = StandardScaler()\nX_train[X_train.columns] = scaler.fit_transform(X_train)\nX_val[X_val.columns] = scaler.transform(X_val)`,
  },
  wrong: {
    'the step is gone': SPLIT,
    'the rest is a comment': `scaler = StandardScaler()\n# ... rest of the code unchanged\n${SPLIT}`,
    'only the training part is scaled': `${SPLIT}\nscaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)`,
    'only the validation part is scaled': `${SPLIT}\nscaler = StandardScaler().fit(X_train)\nX_val = scaler.transform(X_val)`,
    'the validation part is the training part': `${SPLIT}\nscaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)\nX_val = scaler.transform(X_train)`,
    'fitted again on the validation part': `${SPLIT}\nscaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)\nX_val = scaler.fit_transform(X_val)`,
    'another scaler for the validation part': `${SPLIT}\nX_train = StandardScaler().fit_transform(X_train)\nX_val = StandardScaler().fit_transform(X_val)`,
    'another seed': `${SPLIT.replace('42', '0')}\n${SCALED}`,
    'another size': `${SPLIT.replace('0.2', '0.3')}\n${SCALED}`,
    'strata are lost': `${SPLIT.replace(', stratify=y', '')}\n${SCALED}`,
    'another scaler': `${SPLIT}\n${SCALED.replaceAll('Standard', 'MinMax')}`,
    'a step more': `${SPLIT}\nX_train, X_val = np.log1p(X_train), np.log1p(X_val)\n${SCALED}`,
    'a projection more': `${SPLIT}\n${SCALED}\npca = PCA(2)\nX_train = pca.fit_transform(X_train)\nX_val = pca.transform(X_val)`,
    'labels of all rows': `${SPLIT}\n${SCALED}\ny_train = y`,
    'labels of the other part': `X_train, X_val, y_val, y_train = train_test_split(X, y, test_size=0.2, random_state=42, stratify=y)\n${SCALED}`,
    'the parts change places': `X_val, X_train, y_val, y_train = train_test_split(X, y, test_size=0.2, random_state=42, stratify=y)\n${SCALED}`,
    'fitted on a part of the training rows': `${SPLIT}\nscaler = StandardScaler().fit(X_train[:100])\nX_train = scaler.transform(X_train)\nX_val = scaler.transform(X_val)`,
    'the result has another name': `${SPLIT}\nscaler = StandardScaler()\nX_train_scaled = scaler.fit_transform(X_train)\nX_val_scaled = scaler.transform(X_val)`,
    'some columns are lost': `${SPLIT}\nX_train, X_val = X_train[["age", "fare"]], X_val[["age", "fare"]]\n${SCALED}`,
    'rows with gaps are dropped': `X = X.dropna()\ny = y.loc[X.index]\n${SPLIT}\n${SCALED}`,
    'scaled twice': `${SPLIT}\n${SCALED}\nX_train = scaler.transform(X_train)\nX_val = scaler.transform(X_val)`,
    'a new split': `${SPLIT}\nX_train, X_extra, y_train, y_extra = train_test_split(X_train, y_train, test_size=0.5, random_state=1)\n${SCALED}`,
  },
};

const median: ModelCorrections = {
  name: 'a median before the split',
  ...within(
    'df = pd.read_csv("train.csv")',
    `df["age"] = df["age"].fillna(df["age"].median())\ndf["rate"] = df["fare"] / df["age"]\ntrain, val = train_test_split(df, test_size=0.25, random_state=3)`,
    `features = ["age", "fare", "rate"]
model = LogisticRegression()
model.fit(train[features], train["label"])
print("Final Validation Performance:", accuracy_score(val["label"], model.predict(val[features])))`,
  ),
  right: {
    'the usual one': `train, val = train_test_split(df, test_size=0.25, random_state=3)
train, val = train.copy(), val.copy()
middle = train["age"].median()
train["age"] = train["age"].fillna(middle)
val["age"] = val["age"].fillna(middle)
train["rate"] = train["fare"] / train["age"]
val["rate"] = val["fare"] / val["age"]`,
    'a loop over the parts': `train, val = train_test_split(df, test_size=0.25, random_state=3)
middle = train["age"].median()
for part in (train, val):
    part["age"] = part["age"].fillna(middle)
    part["rate"] = part["fare"] / part["age"]`,
    'an imputer': `train, val = train_test_split(df, test_size=0.25, random_state=3)
imputer = SimpleImputer(strategy="median")
train["age"] = imputer.fit_transform(train[["age"]])
val["age"] = imputer.transform(val[["age"]])
train["rate"] = train["fare"] / train["age"]
val["rate"] = val["fare"] / val["age"]`,
    assign: `train, val = train_test_split(df, test_size=0.25, random_state=3)
middle = train["age"].median()
train = train.assign(age=train["age"].fillna(middle))
val = val.assign(age=val["age"].fillna(middle))
train["rate"] = train["fare"] / train["age"]
val["rate"] = val["fare"] / val["age"]`,
    'a fill by dictionary': `train, val = train_test_split(df, test_size=0.25, random_state=3)
fills = {"age": train["age"].median()}
train, val = train.fillna(fills), val.fillna(fills)
train["rate"] = train["fare"] / train["age"]
val["rate"] = val["fare"] / val["age"]`,
    'a condition': `train, val = train_test_split(df, test_size=0.25, random_state=3)
middle = train["age"].median()
for part in [train, val]:
    part.loc[part["age"].isna(), "age"] = middle
    part["rate"] = part["fare"] / part["age"]`,
    'in place': `train, val = train_test_split(df, test_size=0.25, random_state=3)
middle = train["age"].median()
train["age"].fillna(middle, inplace=True)
val["age"].fillna(middle, inplace=True)
train["rate"] = train["fare"] / train["age"]
val["rate"] = val["fare"] / val["age"]`,
    where: `train, val = train_test_split(df, test_size=0.25, random_state=3)
middle = train["age"].median()
train["age"] = np.where(train["age"].isna(), middle, train["age"])
val["age"] = np.where(val["age"].isna(), middle, val["age"])
train["rate"] = train["fare"] / train["age"]
val["rate"] = val["fare"] / val["age"]`,
    'a function': `def prepare(part, middle):
    part = part.copy()
    part["age"] = part["age"].fillna(middle)
    part["rate"] = part["fare"] / part["age"]
    return part
train, val = train_test_split(df, test_size=0.25, random_state=3)
middle = train["age"].median()
train, val = prepare(train, middle), prepare(val, middle)`,
    'the rows of the training in the whole table': `fit_rows, _ = train_test_split(df.index, test_size=0.25, random_state=3)
df["age"] = df["age"].fillna(df.loc[fit_rows, "age"].median())
df["rate"] = df["fare"] / df["age"]
train, val = train_test_split(df, test_size=0.25, random_state=3)`,
  },
  wrong: {
    'the fill is gone': `df["rate"] = df["fare"] / df["age"]\ntrain, val = train_test_split(df, test_size=0.25, random_state=3)`,
    'the rate is made before the fill': `df["rate"] = df["fare"] / df["age"]
train, val = train_test_split(df, test_size=0.25, random_state=3)
middle = train["age"].median()
train["age"] = train["age"].fillna(middle)
val["age"] = val["age"].fillna(middle)`,
    'another statistic': `train, val = train_test_split(df, test_size=0.25, random_state=3)
middle = train["age"].mean()
for part in (train, val):
    part["age"] = part["age"].fillna(middle)
    part["rate"] = part["fare"] / part["age"]`,
    'a constant': `df["age"] = df["age"].fillna(0)\ndf["rate"] = df["fare"] / df["age"]\ntrain, val = train_test_split(df, test_size=0.25, random_state=3)`,
    'the statistic of another column': `train, val = train_test_split(df, test_size=0.25, random_state=3)
middle = train["fare"].median()
for part in (train, val):
    part["age"] = part["age"].fillna(middle)
    part["rate"] = part["fare"] / part["age"]`,
    'the fill of one part alone': `train, val = train_test_split(df, test_size=0.25, random_state=3)
train["age"] = train["age"].fillna(train["age"].median())
for part in (train, val):
    part["rate"] = part["fare"] / part["age"]`,
    'rows with gaps are dropped': `df = df.dropna(subset=["age"])\ndf["rate"] = df["fare"] / df["age"]\ntrain, val = train_test_split(df, test_size=0.25, random_state=3)`,
    'another column is filled': `train, val = train_test_split(df, test_size=0.25, random_state=3)
middle = train["age"].median()
for part in (train, val):
    part["fare"] = part["fare"].fillna(middle)
    part["rate"] = part["fare"] / part["age"]`,
    'another formula': `train, val = train_test_split(df, test_size=0.25, random_state=3)
middle = train["age"].median()
for part in (train, val):
    part["age"] = part["age"].fillna(middle)
    part["rate"] = part["age"] / part["fare"]`,
    'values of the other part': `train, val = train_test_split(df, test_size=0.25, random_state=3)
middle = train["age"].median()
train["age"] = train["age"].fillna(middle)
val["age"] = train["age"].fillna(middle)
train["rate"] = train["fare"] / train["age"]
val["rate"] = val["fare"] / val["age"]`,
    'each part by its own median': `train, val = train_test_split(df, test_size=0.25, random_state=3)
for part in (train, val):
    part["age"] = part["age"].fillna(part["age"].median())
    part["rate"] = part["fare"] / part["age"]`,
    'rows in another order': `df = df.sample(frac=1, random_state=0)
train, val = train_test_split(df, test_size=0.25, random_state=3)
middle = train["age"].median()
for part in (train, val):
    part["age"] = part["age"].fillna(middle)
    part["rate"] = part["fare"] / part["age"]`,
  },
};

const encoder: ModelCorrections = {
  name: 'some columns are scaled before the split',
  ...within(
    'df = pd.read_csv("train.csv")\nX = df[["age", "fare", "rooms", "year"]]\ny = df["price"]\nnum = ["age", "fare"]',
    `scaler = MinMaxScaler()\nX[num] = scaler.fit_transform(X[num])\nX_train, X_val, y_train, y_val = train_test_split(X, y, random_state=1)`,
    `model = Ridge(alpha=2.0)
model.fit(X_train, y_train)
print("Final Validation Performance:", model.score(X_val, y_val))`,
  ),
  right: {
    'the usual one': `X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=1)
scaler = MinMaxScaler()
X_train[num] = scaler.fit_transform(X_train[num])
X_val[num] = scaler.transform(X_val[num])`,
    loc: `X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=1)
X_train, X_val = X_train.copy(), X_val.copy()
scaler = MinMaxScaler().fit(X_train[num])
X_train.loc[:, num] = scaler.transform(X_train[num])
X_val.loc[:, num] = scaler.transform(X_val[num])`,
    'a column transformer': `X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=1)
prep = ColumnTransformer([("num", MinMaxScaler(), num)], remainder="passthrough")
X_train = prep.fit_transform(X_train)
X_val = prep.transform(X_val)`,
    'the list written out': `X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=1)
scaler = MinMaxScaler()
X_train[["age", "fare"]] = scaler.fit_transform(X_train[["age", "fare"]])
X_val[["age", "fare"]] = scaler.transform(X_val[["age", "fare"]])`,
  },
  wrong: {
    'a column transformer that drops the others': `X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=1)
prep = ColumnTransformer([("num", MinMaxScaler(), num)])
X_train = prep.fit_transform(X_train)
X_val = prep.transform(X_val)`,
    'only the scaled columns remain': `X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=1)
scaler = MinMaxScaler()
X_train = scaler.fit_transform(X_train[num])
X_val = scaler.transform(X_val[num])`,
    'all columns are scaled': `X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=1)
scaler = MinMaxScaler()
X_train = scaler.fit_transform(X_train)
X_val = scaler.transform(X_val)`,
    'one column is forgotten': `X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=1)
scaler = MinMaxScaler()
X_train[["age"]] = scaler.fit_transform(X_train[["age"]])
X_val[["age"]] = scaler.transform(X_val[["age"]])`,
    'the table before the division': `scaler = MinMaxScaler()
X_train, X_val, y_train, y_val = train_test_split(df[["age", "fare", "rooms", "year", "zip"]], y, random_state=1)
X_train[num] = scaler.fit_transform(X_train[num])
X_val[num] = scaler.transform(X_val[num])`,
  },
};

const sampling: ModelCorrections = {
  name: 'over-sampling before the split',
  ...within(
    'df = pd.read_csv("wards.csv")\nX = df.drop(columns=["health"])\ny = df["health"]',
    `X, y = SMOTE(random_state=5).fit_resample(X, y)\nX = np.log1p(X)\nx_train, x_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)`,
    `model = LogisticRegression().fit(x_train, y_train)
print("Final Validation Performance:", model.score(x_test, y_test))`,
  ),
  right: {
    'the usual one': `x_train, x_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)
x_train, y_train = SMOTE(random_state=5).fit_resample(x_train, y_train)
x_train = np.log1p(x_train)
x_test = np.log1p(x_test)`,
    'a variable for the sampler': `x_train, x_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)
smote = SMOTE(random_state=5)
x_train, y_train = smote.fit_resample(x_train, y_train)
x_train, x_test = np.log1p(x_train), np.log1p(x_test)`,
  },
  wrong: {
    'the logarithm is cut off': `x_train, x_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)
x_train, y_train = SMOTE(random_state=5).fit_resample(x_train, y_train)
X = np.log1p(X)`,
    'the test rows are sampled too': `x_train, x_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)
x_train, y_train = SMOTE(random_state=5).fit_resample(x_train, y_train)
x_test, y_test = SMOTE(random_state=5).fit_resample(x_test, y_test)
x_train, x_test = np.log1p(x_train), np.log1p(x_test)`,
    'nothing is sampled': `X = np.log1p(X)\nx_train, x_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)`,
    'the logarithm of one part alone': `x_train, x_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)
x_train, y_train = SMOTE(random_state=5).fit_resample(x_train, y_train)
x_train = np.log1p(x_train)`,
    'labels as they were': `x_train, x_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)
x_train, _ = SMOTE(random_state=5).fit_resample(x_train, y_train)
x_train, x_test = np.log1p(x_train), np.log1p(x_test)`,
  },
};

const duplicates: ModelCorrections = {
  name: 'a statistic before rows are dropped',
  ...within(
    'df = pd.read_csv("train.csv")',
    `df["z"] = (df["x"] - df["x"].mean()) / df["x"].std()\ndf = df.drop_duplicates()\ntrain_df, valid_df = train_test_split(df, test_size=0.2, random_state=0)\nfeats = [c for c in df.columns if c != "clicked"]`,
    `m = Ridge().fit(train_df[feats], train_df["clicked"])
print("score", m.score(valid_df[feats], valid_df["clicked"]))`,
  ),
  right: {
    'the usual one': `df = df.drop_duplicates()
train_df, valid_df = train_test_split(df, test_size=0.2, random_state=0)
mean, std = train_df["x"].mean(), train_df["x"].std()
train_df["z"] = (train_df["x"] - mean) / std
valid_df["z"] = (valid_df["x"] - mean) / std
feats = [c for c in train_df.columns if c != "clicked"]`,
    'in a loop': `df = df.drop_duplicates()
train_df, valid_df = train_test_split(df, test_size=0.2, random_state=0)
mean, std = train_df["x"].mean(), train_df["x"].std()
for part in (train_df, valid_df):
    part["z"] = (part["x"] - mean) / std
feats = [c for c in train_df.columns if c != "clicked"]`,
  },
  wrong: {
    'rows are dropped in each part': `train_df, valid_df = train_test_split(df, test_size=0.2, random_state=0)
mean, std = train_df["x"].mean(), train_df["x"].std()
train_df["z"] = (train_df["x"] - mean) / std
valid_df["z"] = (valid_df["x"] - mean) / std
train_df, valid_df = train_df.drop_duplicates(), valid_df.drop_duplicates()
feats = [c for c in train_df.columns if c != "clicked"]`,
    'the feature is lost': `df = df.drop_duplicates()
train_df, valid_df = train_test_split(df, test_size=0.2, random_state=0)
mean, std = train_df["x"].mean(), train_df["x"].std()
train_df["z"] = (train_df["x"] - mean) / std
valid_df["z"] = (valid_df["x"] - mean) / std
feats = [c for c in df.columns if c != "clicked"]`,
    'equal rows stay': `train_df, valid_df = train_test_split(df, test_size=0.2, random_state=0)
mean, std = train_df["x"].mean(), train_df["x"].std()
for part in (train_df, valid_df):
    part["z"] = (part["x"] - mean) / std
feats = [c for c in train_df.columns if c != "clicked"]`,
  },
};

const folds: ModelCorrections = {
  name: 'a scaler before cross-validation',
  ...within(
    'df = pd.read_csv("train.csv")\nX = df.drop(columns=["label"])\ny = df["label"]',
    `X = StandardScaler().fit_transform(X)\nmodel = LogisticRegression(C=0.5)\nscores = cross_val_score(model, X, y, cv=5, scoring="roc_auc")`,
    'print("Final Validation Performance:", scores.mean())',
  ),
  right: {
    'a pipeline': `model = make_pipeline(StandardScaler(), LogisticRegression(C=0.5))\nscores = cross_val_score(model, X, y, cv=5, scoring="roc_auc")`,
    'named steps': `model = Pipeline([("scale", StandardScaler()), ("clf", LogisticRegression(C=0.5))])\nscores = cross_val_score(model, X, y, cv=5, scoring="roc_auc")`,
    'the model apart': `model = LogisticRegression(C=0.5)\nscores = cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=5, scoring="roc_auc")`,
  },
  wrong: {
    'the scaler is gone': `model = LogisticRegression(C=0.5)\nscores = cross_val_score(model, X, y, cv=5, scoring="roc_auc")`,
    'the scaler is not in the pipeline': `model = make_pipeline(LogisticRegression(C=0.5))\nscores = cross_val_score(model, X, y, cv=5, scoring="roc_auc")`,
    'another number of folds': `model = make_pipeline(StandardScaler(), LogisticRegression(C=0.5))\nscores = cross_val_score(model, X, y, cv=10, scoring="roc_auc")`,
    'another parameter': `model = make_pipeline(StandardScaler(), LogisticRegression())\nscores = cross_val_score(model, X, y, cv=5, scoring="roc_auc")`,
    'another metric': `model = make_pipeline(StandardScaler(), LogisticRegression(C=0.5))\nscores = cross_val_score(model, X, y, cv=5, scoring="accuracy")`,
  },
};

const position: ModelCorrections = {
  name: 'a table is scaled with its label in it and divided by position',
  ...within(
    'rows = np.loadtxt("prices.csv", delimiter=",")',
    `rows = MinMaxScaler().fit_transform(rows)\ninputs = rows[:, 0:-1]\nprices = rows[:, [-1]]\ncut = int(len(inputs) * 0.7)\na_in, b_in = inputs[:cut], inputs[cut:]\na_out, b_out = prices[:cut], prices[cut:]`,
    `net = Ridge().fit(a_in, a_out)
print("Final Validation Performance:", net.score(b_in, b_out))`,
  ),
  right: {
    'fitted on the first rows': `cut = int(len(rows) * 0.7)\nrows = MinMaxScaler().fit(rows[:cut]).transform(rows)\ninputs = rows[:, 0:-1]\nprices = rows[:, [-1]]\na_in, b_in = inputs[:cut], inputs[cut:]\na_out, b_out = prices[:cut], prices[cut:]`,
  },
  wrong: {
    'the inputs are scaled alone': `inputs = rows[:, 0:-1]\nprices = rows[:, [-1]]\ncut = int(len(inputs) * 0.7)\nscaler = MinMaxScaler()\na_in, b_in = scaler.fit_transform(inputs[:cut]), scaler.transform(inputs[cut:])\na_out, b_out = prices[:cut], prices[cut:]`,
    'the inputs are the labels': `cut = int(len(rows) * 0.7)\nrows = MinMaxScaler().fit(rows[:cut]).transform(rows)\ninputs = rows[:, 0:-1]\nprices = rows[:, [-1]]\na_in, b_in = inputs[:cut], inputs[cut:]\na_out, b_out = a_in, prices[cut:]`,
    'labels of all rows': `cut = int(len(rows) * 0.7)\nrows = MinMaxScaler().fit(rows[:cut]).transform(rows)\ninputs = rows[:, 0:-1]\nprices = rows[:, [-1]]\na_in, b_in = inputs[:cut], inputs[cut:]\na_out, b_out = prices, prices[cut:]`,
    'another cut': `cut = int(len(rows) * 0.8)\nrows = MinMaxScaler().fit(rows[:cut]).transform(rows)\ninputs = rows[:, 0:-1]\nprices = rows[:, [-1]]\na_in, b_in = inputs[:cut], inputs[cut:]\na_out, b_out = prices[:cut], prices[cut:]`,
  },
};

const groups: ModelCorrections = {
  name: 'a mean by group before the split',
  ...within(
    'df = pd.read_csv("trips.csv")',
    `df["city_fare"] = df.groupby("city")["km"].transform("mean")\ntrain, val = train_test_split(df, test_size=0.2, random_state=9)`,
    `cols = ["km", "city_fare"]
model = Ridge().fit(train[cols], train["fare"])
print("Final Validation Performance:", model.score(val[cols], val["fare"]))`,
  ),
  right: {
    'a lookup': `train, val = train_test_split(df, test_size=0.2, random_state=9)
means = train.groupby("city")["km"].mean()
train["city_fare"] = train["city"].map(means)
val["city_fare"] = val["city"].map(means).fillna(train["km"].mean())`,
    'a loop': `train, val = train_test_split(df, test_size=0.2, random_state=9)
means = train.groupby("city")["km"].mean()
for part in (train, val):
    part["city_fare"] = part["city"].map(means).fillna(means.mean())`,
  },
  wrong: {
    'each part by its own means': `train, val = train_test_split(df, test_size=0.2, random_state=9)
train["city_fare"] = train.groupby("city")["km"].transform("mean")
val["city_fare"] = val.groupby("city")["km"].transform("mean")`,
    'the means of another column': `train, val = train_test_split(df, test_size=0.2, random_state=9)
means = train.groupby("city")["fare"].mean()
for part in (train, val):
    part["city_fare"] = part["city"].map(means).fillna(means.mean())`,
    'another statistic': `train, val = train_test_split(df, test_size=0.2, random_state=9)
means = train.groupby("city")["km"].max()
for part in (train, val):
    part["city_fare"] = part["city"].map(means).fillna(means.mean())`,
    'another column': `train, val = train_test_split(df, test_size=0.2, random_state=9)
train["city_fare"] = train["km"]
val["city_fare"] = val["km"]`,
  },
};

export const MODEL_CORRECTIONS: readonly ModelCorrections[] = [
  scaler,
  median,
  encoder,
  sampling,
  duplicates,
  folds,
  position,
  groups,
];
