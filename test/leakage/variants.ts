/**
 * Parts of scripts that are put together in all ways: where the rows come from, what is fitted on them, how they
 * are divided, how the score is computed. Each fit has a leaky form (before the split) and a clean one.
 */
const IMPORTS = `import glob, os, pickle, sqlite3
import numpy as np
import pandas as pd
from sklearn import metrics
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, mean_squared_error, roc_auc_score
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
`;

export const SOURCES: Readonly<Record<string, string>> = {
  'a csv file': 'df = pd.read_csv("a.csv")\nX, y = df.drop(columns="t"), df["t"]\n',
  'a frame from another module':
    'from mylib import load_frame\ndf = load_frame("x")\nX, y = df.drop(columns="t"), df["t"]\n',
  'features and labels from another module': 'from mylib import load_xy\nX, y = load_xy()\n',
  'attributes of a bunch':
    'from sklearn.datasets import load_iris\ndata = load_iris()\nX = data.data\ny = data.target\n',
  'keys of a bunch':
    "from sklearn.datasets import load_iris\ndata = load_iris()\nX = data['data']\ny = data['target']\n",
  'the frame of a bunch':
    'from sklearn.datasets import load_iris\ndf = load_iris(as_frame=True).frame\ny = df.pop("target")\nX = df\n',
  'a frame made of a bunch':
    'from sklearn.datasets import load_iris\niris = load_iris()\ndf = pd.DataFrame(iris.data, columns=iris.feature_names)\ndf["t"] = iris.target\nX = df.drop("t", axis=1)\ny = df["t"]\n',
  'random numbers':
    'rng = np.random.default_rng(0)\nX = rng.normal(size=(100, 3))\ny = (X[:, 0] > 0).astype(int)\n',
  'an npz file': 'with np.load("a.npz") as d:\n    X, y = d["X"], d["y"]\n',
  'columns of an array': 'data = np.loadtxt("a.csv", delimiter=",")\nX, y = data[:, :-1], data[:, -1]\n',
  'columns by position': 'df = pd.read_csv("a.csv")\nX = df.iloc[:, 1:].values\ny = df.iloc[:, 0].values\n',
  'a chain of methods':
    'df = (pd.read_csv("a.csv").rename(columns=str.lower).dropna().reset_index(drop=True))\nX = df.loc[:, df.columns != "t"]\ny = df.t\n',
  'a data base':
    'con = sqlite3.connect("a.db")\ndf = pd.read_sql_query("select * from t", con)\nX, y = df.drop("t", axis=1), df["t"]\n',
  'a pickle': 'with open("a.pkl", "rb") as f:\n    X, y = pickle.load(f)\n',
  'a class':
    'class Loader:\n    def __init__(self, p):\n        self.p = p\n    def load(self):\n        df = pd.read_csv(self.p)\n        return df.drop(columns="t"), df["t"]\nX, y = Loader("a.csv").load()\n',
  'a function':
    'def load(path: str = "a.csv") -> tuple:\n    df = pd.read_csv(path)\n    y = df.pop("t")\n    return df, y\nX, y = load()\n',
  'many files at once':
    'df = pd.concat([pd.read_csv(f) for f in glob.glob("*.csv")])\nX, y = df.drop(columns="t"), df["t"]\n',
  'many files in a loop':
    'parts = []\nfor f in glob.glob("*.csv"):\n    d = pd.read_csv(f)\n    d["src"] = f\n    parts.append(d)\ndf = pd.concat(parts, ignore_index=True)\nX, y = df.drop(columns="t"), df["t"]\n',
  'one file or another':
    'try:\n    df = pd.read_csv("a.csv")\nexcept FileNotFoundError:\n    df = pd.read_csv("b.csv")\nX, y = df.drop(columns="t"), df["t"]\n',
  'pictures in a loop':
    'from PIL import Image\nX, y = [], []\nfor name in os.listdir("imgs"):\n    im = np.array(Image.open(os.path.join("imgs", name)).resize((32, 32)))\n    X.append(im.ravel())\n    y.append(name.split("_")[0])\nX = np.array(X)\ny = np.array(y)\n',
};

/** `{X}` is transformed on the whole; `{a}` is the training part and `{b}` the scored part. */
export interface FitForm {
  readonly leaky: string;
  readonly clean: string;
  /** Needs a frame or array that knows these methods whatever the source is. */
  readonly frame?: boolean;
}

export const FITS: Readonly<Record<string, FitForm>> = {
  'fit_transform of a new scaler': {
    leaky: 'X = StandardScaler().fit_transform(X)\n',
    clean: 'scaler = StandardScaler().fit(a)\na, b = scaler.transform(a), scaler.transform(b)\n',
  },
  'fit, then transform': {
    leaky: 'imp = SimpleImputer(strategy="mean")\nimp.fit(X)\nX = imp.transform(X)\n',
    clean: 'imp = SimpleImputer(strategy="mean")\nimp.fit(a)\na = imp.transform(a)\nb = imp.transform(b)\n',
  },
  'a helper function': {
    leaky: 'def scale(d):\n    s = MinMaxScaler()\n    return s.fit_transform(d)\nX = scale(X)\n',
    clean:
      'def scale(d, e):\n    s = MinMaxScaler()\n    return s.fit_transform(d), s.transform(e)\na, b = scale(a, b)\n',
  },
  'a pipeline of transformers': {
    leaky: 'pre = Pipeline([("i", SimpleImputer()), ("s", StandardScaler())])\nX = pre.fit_transform(X)\n',
    clean:
      'pre = Pipeline([("i", SimpleImputer()), ("s", StandardScaler())])\na = pre.fit_transform(a)\nb = pre.transform(b)\n',
  },
  'mean and deviation by hand': {
    leaky: 'mu, sd = X.mean(axis=0), X.std(axis=0)\nX = (X - mu) / sd\n',
    clean: 'mu, sd = a.mean(axis=0), a.std(axis=0)\na, b = (a - mu) / sd, (b - mu) / sd\n',
  },
  'numpy functions': {
    leaky: 'X = (X - np.min(X, axis=0)) / (np.max(X, axis=0) - np.min(X, axis=0))\n',
    clean:
      'lo, hi = np.min(a, axis=0), np.max(a, axis=0)\na = (a - lo) / (hi - lo)\nb = (b - lo) / (hi - lo)\n',
  },
  'an augmented assignment': {
    leaky: 'X -= X.mean(axis=0)\n',
    clean: 'mu = a.mean(axis=0)\na = a - mu\nb = b - mu\n',
  },
  'a projection kept in a variable': {
    leaky: 'pca = PCA(2)\nZ = pca.fit_transform(X)\nX = Z\n',
    clean: 'pca = PCA(2)\na = pca.fit_transform(a)\nb = pca.transform(b)\n',
  },
  "a class of one's own": {
    leaky:
      'class Center:\n    def fit(self, d):\n        self.m = d.mean(axis=0)\n        return self\n    def transform(self, d):\n        return d - self.m\nX = Center().fit(X).transform(X)\n',
    clean:
      'class Center:\n    def fit(self, d):\n        self.m = d.mean(axis=0)\n        return self\n    def transform(self, d):\n        return d - self.m\nc = Center().fit(a)\na, b = c.transform(a), c.transform(b)\n',
  },
  'a fill with the median': {
    leaky: 'X = pd.DataFrame(X)\nX = X.fillna(X.median())\n',
    clean: 'a, b = pd.DataFrame(a), pd.DataFrame(b)\nb = b.fillna(a.median())\na = a.fillna(a.median())\n',
  },
};

/** `{fit}` is where the leaky form goes, `{part}` where the clean one goes. */
export const SPLITS: Readonly<Record<string, string>> = {
  train_test_split:
    '{fit}a, b, ya, yb = train_test_split(X, y, test_size=0.2, random_state=0)\n{part}{score}',
  'split of positions':
    '{fit}X, y = np.asarray(X), np.asarray(y)\ni, j = train_test_split(np.arange(len(X)), test_size=0.2)\na, b, ya, yb = X[i], X[j], y[i], y[j]\n{part}{score}',
  'a permutation':
    '{fit}X, y = np.asarray(X), np.asarray(y)\norder = np.random.permutation(len(X))\nn = int(0.8 * len(order))\na, b, ya, yb = X[order[:n]], X[order[n:]], y[order[:n]], y[order[n:]]\n{part}{score}',
  slices: '{fit}n = int(len(X) * 0.8)\na, b = X[:n], X[n:]\nya, yb = y[:n], y[n:]\n{part}{score}',
  'a mask':
    '{fit}X, y = np.asarray(X), np.asarray(y)\nm = np.random.rand(len(X)) < 0.8\na, b, ya, yb = X[m], X[~m], y[m], y[~m]\n{part}{score}',
  'folds in a loop':
    '{fit}X, y = np.asarray(X), np.asarray(y)\nscores = []\nfor fold, (tr, te) in enumerate(StratifiedKFold(5, shuffle=True, random_state=1).split(X, y)):\n    a, b, ya, yb = X[tr], X[te], y[tr], y[te]\n{part|indent}{score|indent}    scores.append(s)\nprint(np.mean(scores), np.std(scores))\n',
  'the first of the folds':
    '{fit}X, y = np.asarray(X), np.asarray(y)\ntr, te = next(ShuffleSplit(1, test_size=0.2).split(X))\na, b, ya, yb = X[tr], X[te], y[tr], y[te]\n{part}{score}',
  'a list of folds':
    '{fit}X, y = np.asarray(X), np.asarray(y)\nfolds = list(TimeSeriesSplit(4).split(X))\ntr, te = folds[-1]\na, b, ya, yb = X[tr], X[te], y[tr], y[te]\n{part}{score}',
};

export const SCORES: Readonly<Record<string, string>> = {
  score: 'm = LogisticRegression().fit(a, ya)\ns = m.score(b, yb)\nprint("score", s)\n',
  'a metric':
    'm = RandomForestClassifier()\nm.fit(a, ya)\np = m.predict(b)\ns = accuracy_score(yb, p)\nprint(f"{s:.4f}")\n',
  'a metric by module':
    'm = RandomForestClassifier().fit(a, ya)\ns = metrics.roc_auc_score(yb, m.predict_proba(b)[:, 1])\nprint("%.4f" % s)\n',
  'equal labels': 'm = LogisticRegression().fit(a, ya)\ns = (m.predict(b) == yb).mean()\nprint(s)\n',
  'squares by hand':
    'm = LogisticRegression().fit(a, ya)\ns = np.sqrt(np.mean((m.predict(b) - yb) ** 2))\nprint("RMSE:", s)\n',
  "a function of one's own":
    'def rmse(t, p):\n    return mean_squared_error(t, p) ** 0.5\nm = LogisticRegression().fit(a, ya)\ns = rmse(yb, m.predict(b))\nprint(s)\n',
};

/** A script put together from one part of each kind. */
export function compose(source: string, fit: FitForm, split: string, score: string, leaky: boolean): string {
  const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '    ');
  const part = leaky ? '' : fit.clean;
  return (
    IMPORTS +
    source +
    split
      .replace('{fit}', () => (leaky ? fit.leaky : ''))
      .replace('{part}', () => part)
      .replace('{part|indent}', () => indent(part))
      .replace('{score}', () => score)
      .replace('{score|indent}', () => indent(score))
  );
}
