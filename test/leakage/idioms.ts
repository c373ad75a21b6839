/** Idioms of preparing data, choosing and stopping, as they are written in competition notebooks. */
export const STEP_HEAD = `import numpy as np
import pandas as pd
from scipy import stats
from sklearn import preprocessing
from sklearn.preprocessing import *
from sklearn.impute import SimpleImputer
from sklearn.mixture import GaussianMixture
from sklearn.manifold import TSNE
from sklearn.model_selection import train_test_split
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
import category_encoders as ce
train = pd.read_csv("train.csv")
test = pd.read_csv("test.csv")
df = train
cols = ["a", "b"]
`;

export const STEP_TAIL = `
X = df.drop(columns=["y"])
y = df["y"]
X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0)
m = RandomForestClassifier().fit(X_train, y_train)
print("Final Validation Performance:", accuracy_score(y_val, m.predict(X_val)))
`;

/** Steps on `df` before the split, each of which takes something from all rows. */
export const LEAKY_STEPS: readonly string[] = [
  `for d in [train, test]:\n    d["a"].fillna(d["a"].median(), inplace=True)`,
  `combine = [train, test]\nfor dataset in combine:\n    dataset["a"] = dataset["a"].fillna(train["a"].median())`,
  `med = df.groupby("k")["a"].median()\ndf["a"] = df.apply(lambda r: med[r["k"]] if pd.isnull(r["a"]) else r["a"], axis=1)`,
  `df["a"] = df["a"].replace(np.nan, df["a"].mean())`,
  `df = df.apply(lambda x: x.fillna(x.mean()) if x.dtype != "O" else x.fillna(x.mode()[0]))`,
  `s = StandardScaler()\ns.fit(df[cols])\ndf[cols] = s.transform(df[cols])`,
  `df.update(df[cols].fillna(df[cols].mean()))`,
  `df["a"].fillna(value=df["a"].mean(), inplace=True)`,
  `df.fillna({"a": df.a.median(), "b": df.b.mode()[0]}, inplace=True)`,
  `df["a"] = df["a"].fillna(df.groupby("k")["a"].transform("median"))`,
  `df["a"] = SimpleImputer().fit_transform(df[["a"]]).ravel()`,
  `df["a"] = preprocessing.scale(df["a"])`,
  `df[cols] = df[cols] / df[cols].max()`,
  `df["z"] = stats.zscore(df["a"])`,
  `df["c"] = GaussianMixture(5).fit(df[cols]).predict(df[cols])`,
  `df["t"] = ce.TargetEncoder().fit_transform(df["k"], df["y"])`,
  `df["bin"] = KBinsDiscretizer(5, encode="ordinal").fit_transform(df[["a"]])`,
  `e = TSNE(2).fit_transform(df[cols])\ndf["e0"], df["e1"] = e[:, 0], e[:, 1]`,
  `df["kf"] = df.groupby("k")["k"].transform("count")`,
  `df["kf"] = df["k"].map(df["k"].value_counts(normalize=True))`,
  `df["kf"] = df["k"].map(df.groupby("k").size().to_dict())`,
  `df["km"] = df["k"].map(dict(df.groupby("k")["y"].mean()))`,
  `means = {}\nfor k, g in df.groupby("k"):\n    means[k] = g["a"].mean()\ndf["km"] = df["k"].map(means)`,
  `q = df["a"].quantile(0.99)\ndf.loc[df["a"] > q, "a"] = q`,
  `q1, q3 = np.percentile(df["a"], [25, 75])\ndf["a"] = np.where(df["a"] > q3 + 1.5 * (q3 - q1), q3, df["a"])`,
  `df["a_dev"] = df["a"] - df["a"].mean()`,
  `df["a_hi"] = (df["a"] > df["a"].median()).astype(int)`,
  `df = pd.DataFrame(MinMaxScaler().fit_transform(df), columns=df.columns)`,
  `num = df.select_dtypes("number").columns.drop("y")\nfor c in num:\n    m_, s_ = df[c].mean(), df[c].std()\n    df[c] = df[c].apply(lambda v: (v - m_) / s_)`,
  `def prep(d):\n    d = d.copy()\n    for c in cols:\n        d[c] = (d[c] - d[c].min()) / (d[c].max() - d[c].min())\n    return d\ndf = prep(df)`,
  `class P:\n    def __init__(self):\n        self.s = StandardScaler()\n    def run(self, d):\n        d[cols] = self.s.fit_transform(d[cols])\n        return d\ndf = P().run(df)`,
  `agg = df.groupby("k").agg({"a": "mean", "y": "mean"}).add_prefix("m_").reset_index()\ndf = df.merge(agg, on="k", how="left")`,
  `from functools import reduce\nf = lambda d, c: d.assign(**{c: (d[c] - d[c].mean())})\ndf = reduce(f, cols, df)`,
  `df = df.assign(a_s=lambda d: (d["a"] - d["a"].mean()) / d["a"].std())`,
  `df = df.pipe(lambda d: d.fillna(d.median(numeric_only=True)))`,
  `corr = df.corr()["y"].abs().sort_values(ascending=False)\ndf = df[list(corr.index[:10]) + ["y"]]`,
  `top = df.drop(columns="y").var().nlargest(20).index\ndf = df[[*top, "y"]]`,
  `df[cols] = df[cols].transform(lambda s: (s - s.mean()) / s.std())`,
  `all_ = pd.concat([train, test], sort=False)\nall_["a"] = all_["a"].fillna(all_["a"].mean())\ndf = all_[all_["y"].notnull()]`,
  `train["is_train"] = 1\ntest["is_train"] = 0\nall_ = pd.concat([train, test])\nall_["a"] = StandardScaler().fit_transform(all_[["a"]])\ndf = all_[all_.is_train == 1].drop(columns="is_train")`,
  `n = len(train)\nall_ = pd.concat([train, test])\nall_[cols] = all_[cols].fillna(all_[cols].median())\ndf = all_[:n].copy()`,
  `df.iloc[:, 1:3] = StandardScaler().fit_transform(df.iloc[:, 1:3])`,
  `df.loc[:, "a"] = df["a"].fillna(np.nanmedian(df["a"]))`,
  `imp = {c: df[c].median() for c in cols}\ndf = df.fillna(imp)`,
];
/** Steps before the split that look at each row by itself, or whose results go nowhere. */
export const CLEAN_STEPS: readonly string[] = [
  `df = df[(np.abs(stats.zscore(df[cols])) < 3).all(axis=1)]`,
  `le = LabelEncoder()\nle.fit(list(train["k"].values) + list(test["k"].values))\ndf["k"] = le.transform(df["k"])`,
  `df[cols] = normalize(df[cols])`,
  `test["a"] = test["a"].fillna(train["a"].median())`,
  `print(df["a"].mean(), df.describe())`,
  `df["a"] = df["a"].clip(0, 100).fillna(-1)\ndf = pd.get_dummies(df, columns=["k"])`,
  `df["n"] = df[cols].mean(axis=1)\ndf["nn"] = df[cols].isnull().sum(axis=1)`,
  `df["len"] = df["text"].apply(len)\ndf["w"] = df["text"].str.split().apply(lambda w: np.mean([len(x) for x in w]))`,
  `q = df["a"].quantile(0.99)\ndf = df[df["a"] <= q]`,
  `mean_a = df["a"].mean()\nassert mean_a > 0`,
  `df["age"] = 2024 - df["year"]\ndf["old"] = df["age"] > 30`,
  `mapping = {v: i for i, v in enumerate(sorted(df["k"].unique()))}\ndf["k"] = df["k"].map(mapping)`,
  `df = df.sort_values("d").drop_duplicates("id", keep="last")`,
  `df["cum"] = df.groupby("k").cumcount()\ndf["prev"] = df.groupby("k")["a"].shift(1)`,
  `import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.hist(df["a"] - df["a"].mean())\nplt.close(fig)`,
];

export const CHOICE_HEAD = `import copy
import numpy as np
import pandas as pd
import lightgbm as lgb
import xgboost as xgb
import torch
from catboost import CatBoostClassifier
from scipy.optimize import minimize, minimize_scalar, nnls
from sklearn.ensemble import RandomForestClassifier, ExtraTreesClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, log_loss, roc_curve, precision_recall_curve
from sklearn.model_selection import train_test_split
from tensorflow import keras
df = pd.read_csv("train.csv")
X_rest, X_test, y_rest, y_test = train_test_split(df.drop(columns="y"), df["y"], test_size=0.2, random_state=0)
X_train, X_val, y_train, y_val = train_test_split(X_rest, y_rest, test_size=0.2, random_state=0)
rf = RandomForestClassifier().fit(X_train, y_train)
et = ExtraTreesClassifier().fit(X_train, y_train)
p, q = rf.predict_proba(X_val)[:, 1], et.predict_proba(X_val)[:, 1]
ts = np.linspace(0.1, 0.9, 81)
`;

/** What is chosen, and the score that is printed; leaky as `print(…)` scores the rows of the choice. */
export const LEAKY_CHOICES: readonly string[] = [
  'results = {"rf": accuracy_score(y_val, p > 0.5), "et": accuracy_score(y_val, q > 0.5)}\nbest = sorted(results.items(), key=lambda kv: kv[1])[-1]\nprint("final", best[1])',
  'results = {"rf": accuracy_score(y_val, p > 0.5), "et": accuracy_score(y_val, q > 0.5)}\nname, score = max(results.items(), key=lambda t: t[1])\nprint("final", score)',
  'a, b = log_loss(y_val, p), log_loss(y_val, q)\nfinal = min(a, b)\nprint("final", final)',
  'if log_loss(y_val, p) < log_loss(y_val, q):\n    chosen = p\nelse:\n    chosen = q\nprint("final", log_loss(y_val, chosen))',
  'print("final", max([f1_score(y_val, p > t) for t in ts]))',
  'print("final", max(f1_score(y_val, p > t) for t in ts))',
  'scores = np.array([f1_score(y_val, p > t) for t in ts])\nprint("final", scores.max())',
  'scores = np.array([f1_score(y_val, p > t) for t in ts])\nt = ts[scores.argmax()]\nprint("final", f1_score(y_val, p > t))',
  'fpr, tpr, thr = roc_curve(y_val, p)\nt = thr[np.argmax(tpr - fpr)]\nprint("final", accuracy_score(y_val, p > t))',
  'pr, rc, thr = precision_recall_curve(y_val, p)\nf = 2 * pr * rc / (pr + rc)\nt = thr[np.argmax(f)]\nprint("final", f1_score(y_val, p >= t))',
  'rows = []\nfor t in ts:\n    rows.append({"t": t, "f1": f1_score(y_val, p > t)})\nbest = pd.DataFrame(rows).sort_values("f1", ascending=False).iloc[0]\nprint("final", best["f1"])',
  'P = np.column_stack([p, q])\nw, _ = nnls(P, y_val)\nprint("final", log_loss(y_val, P @ w))',
  'P = np.column_stack([p, q])\nblend = LinearRegression().fit(P, y_val)\nprint("final", log_loss(y_val, blend.predict(P)))',
  'r = minimize_scalar(lambda w: log_loss(y_val, w * p + (1 - w) * q), bounds=(0, 1))\nprint("final", log_loss(y_val, r.x * p + (1 - r.x) * q))',
  'w = np.array([1 / log_loss(y_val, p), 1 / log_loss(y_val, q)])\nw = w / w.sum()\nprint("final", log_loss(y_val, w[0] * p + w[1] * q))',
  'best_auc, best_model = 0, None\nfor c in (0.1, 1, 10):\n    m = LogisticRegression(C=c).fit(X_train, y_train)\n    s = m.score(X_val, y_val)\n    if s > best_auc:\n        best_auc, best_model = s, m\nprint("final", accuracy_score(y_val, best_model.predict(X_val)))',
  'm = xgb.XGBClassifier(n_estimators=999, callbacks=[xgb.callback.EarlyStopping(rounds=10)])\nm.fit(X_train, y_train, eval_set=[(X_val, y_val)])\nprint("final", m.score(X_val, y_val))',
  'm = lgb.train({"early_stopping_round": 20}, lgb.Dataset(X_train, y_train), valid_sets=[lgb.Dataset(X_val, y_val)])\nprint("final", log_loss(y_val, m.predict(X_val)))',
  'm = CatBoostClassifier(od_type="Iter", od_wait=30)\nm.fit(X_train, y_train, eval_set=(X_val, y_val))\nprint("final", m.score(X_val, y_val))',
  'cb = [keras.callbacks.EarlyStopping(patience=3)]\nm = keras.Sequential([keras.layers.Dense(1)])\nm.fit(X_train, y_train, epochs=99, validation_data=(X_val, y_val), callbacks=cb)\nprint("final", m.evaluate(X_val, y_val))',
  'net = torch.nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), 0.1)\nbest, state = 9e9, None\nfor e in range(50):\n    loss = torch.nn.functional.mse_loss(net(X_train), y_train)\n    loss.backward()\n    opt.step()\n    v = torch.nn.functional.mse_loss(net(X_val), y_val).item()\n    if v < best - 1e-4:\n        best = v\n        state = copy.deepcopy(net.state_dict())\nnet.load_state_dict(state)\nprint("final", torch.nn.functional.mse_loss(net(X_val), y_val).item())',
  'net = torch.nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), 0.1)\nbest = 9e9\nfor e in range(50):\n    loss = torch.nn.functional.mse_loss(net(X_train), y_train)\n    loss.backward()\n    opt.step()\n    v = torch.nn.functional.mse_loss(net(X_val), y_val).item()\n    if v < best:\n        best = v\n        torch.save(net.state_dict(), "best.pt")\nnet.load_state_dict(torch.load("best.pt"))\nprint("final", torch.nn.functional.mse_loss(net(X_val), y_val).item())',
];

/** The clean twin of a choice: what was chosen is scored on rows that took no part in it. */
export function scoredOnTestRows(choice: string): string {
  const lines = choice.split('\n');
  const last = lines.pop() ?? '';
  const scored = last
    .replaceAll('X_val', 'X_test')
    .replaceAll('y_val', 'y_test')
    .replaceAll(/\bp\b/g, 'p_test')
    .replaceAll(/\bq\b/g, 'q_test')
    .replaceAll(/\bP\b/g, 'P_test')
    .replaceAll(/\bchosen\b/g, 'p_test');
  const isScore = last.includes('y_val');
  const test = [
    'p_test, q_test = rf.predict_proba(X_test)[:, 1], et.predict_proba(X_test)[:, 1]',
    'P_test = np.column_stack([p_test, q_test])',
    isScore && !/max\(/.test(last) ? scored : 'print("final", accuracy_score(y_test, p_test > 0.5))',
  ];
  return [...lines, ...test].join('\n');
}
