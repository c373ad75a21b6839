import { describe, expect, it } from 'vitest';
import { analyzeLeakage } from '../../src/leakage/index.js';

const HEAD = `import numpy as np
import pandas as pd
import torch
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, mean_absolute_error
from sklearn.model_selection import KFold, TimeSeriesSplit, train_test_split
from sklearn.utils import shuffle
`;

async function kinds(script: string): Promise<string[]> {
  const { findings, parsed } = await analyzeLeakage(HEAD + script);
  expect(parsed).toBe(true);
  return [...new Set(findings.map(({ kind }) => kind))];
}

describe('a label of later rows that is joined to the features under a name', () => {
  const flow = `flow = pd.read_csv("flow.csv")
feat = pd.DataFrame(index=flow.index)
for k in range(5):
    feat[f"lag_{k}"] = flow["q"].shift(k)
`;
  const scored = `for tr, va in TimeSeriesSplit(5, gap=3).split(X):
    m = Ridge().fit(X.iloc[tr], y.iloc[tr])
    print("MAE", mean_absolute_error(y.iloc[va], m.predict(X.iloc[va])))
`;
  it.each([
    ['rename', '.rename("future")', 'feat.join(target)', 'table.drop(columns="future")'],
    ['rename by its argument', '.rename(name="future")', 'feat.join(target)', 'table.drop("future", axis=1)'],
    ['to_frame', '.to_frame("future")', 'feat.join(target)', 'table.drop(columns=["future"])'],
    [
      'to_frame by its argument',
      '.to_frame(name="future")',
      'feat.merge(target, left_index=True, right_index=True)',
      'table.drop(columns=["future"])',
    ],
    ['concat', '.rename("future")', 'pd.concat([feat, target], axis=1)', 'table.drop(columns="future")'],
  ])('is no feature once it is dropped: %s', async (_name, called, joined, features) => {
    const target = `target = flow["q"].shift(-3)${called}\ntable = ${joined}.dropna()\n`;
    expect(await kinds(`${flow}${target}X, y = ${features}, table["future"]\n${scored}`)).toEqual([]);
    expect(await kinds(`${flow}${target}X, y = table, flow["q"]\n${scored}`)).toEqual(['future-values']);
  });
});

describe('slices of shuffled rows', () => {
  const scored = 'print(accuracy_score(y_va, Ridge().fit(X_tr, y_tr).predict(X_va)))\n';
  const cases: [name: string, rows: string, parts: (start: number) => string][] = [
    [
      'sample(frac=1)',
      'd = pd.read_csv("d.csv").sample(frac=1, random_state=0).reset_index(drop=True)\nX, y = d.drop(columns="y").to_numpy(), d["y"].to_numpy()\n',
      (start) => `X_tr, y_tr = X[:8500], y[:8500]\nX_va, y_va = X[${start}:9900], y[${start}:9900]\n`,
    ],
    [
      'shuffle',
      'd = shuffle(pd.read_csv("d.csv"), random_state=0)\nX, y = d.drop(columns="y"), d["y"]\n',
      (start) =>
        `X_tr, y_tr = X.iloc[:8500], y.iloc[:8500]\nX_va, y_va = X.iloc[${start}:], y.iloc[${start}:]\n`,
    ],
    [
      'positions in random order',
      'd = pd.read_csv("d.csv")\nX, y = d.drop(columns="y").values, d["y"].values\nat = np.random.default_rng(0).permutation(len(X))\n',
      (start) =>
        `tr, va = at[:8500], at[${start}:9900]\nX_tr, y_tr, X_va, y_va = X[tr], y[tr], X[va], y[va]\n`,
    ],
    [
      'constants with names',
      'END, START, LAST = 8500, 8000, 9900\nd = pd.read_csv("d.csv").sample(frac=1.0)\nX, y = d.drop(columns="y"), d["y"]\n',
      (start) =>
        start < 8500
          ? 'X_tr, y_tr, X_va, y_va = X[:END], y[:END], X[START:LAST], y[START:LAST]\n'
          : 'X_tr, y_tr, X_va, y_va = X[:END], y[:END], X[END:LAST], y[END:LAST]\n',
    ],
  ];
  it.each(cases)('have rows in common where the numbers say so: %s', async (_name, rows, parts) => {
    expect(await kinds(rows + parts(8000) + scored)).toEqual(['training-rows']);
    expect(await kinds(rows + parts(8500) + scored)).toEqual([]);
    expect(await kinds(rows + parts(8600) + scored)).toEqual([]);
  });

  it('are no leak where rows keep their order, and a part begins with the history of its first row', async () => {
    const rows = 'd = pd.read_csv("d.csv")\nX, y = d.drop(columns="y"), d["y"]\n';
    expect(
      await kinds(`${rows}X_tr, y_tr = X[:8500], y[:8500]\nX_va, y_va = X[8440:], y[8440:]\n${scored}`),
    ).toEqual([]);
  });
});

describe('values that a dict gets by setdefault', () => {
  const prepared = `d = pd.read_csv("d.csv")
y = d.pop("y").to_numpy()
`;
  const folds = (key: string) => `oof = {}
for tr, va in KFold(5, shuffle=True, random_state=0).split(X):
    for name, m in {"a": Ridge(), "b": Ridge(2.0)}.items():
        m.fit(X.iloc[tr], y[tr])
        oof.setdefault(${key}, np.zeros(len(y)))[va] = m.predict(X.iloc[va])
for name, p in oof.items():
    print(name, mean_absolute_error(y, p))
`;
  it.each(['name', '"all"', 'str(name)'])('are those that are scored: key %s', async (key) => {
    const filled = 'X = d.fillna(d.median())\n';
    expect(await kinds(prepared + filled + folds(key))).toEqual(['statistics']);
    expect(await kinds(`${prepared}X = d.fillna(0)\n${folds(key)}`)).toEqual([]);
  });

  it('are run by methods in a tuple as well', async () => {
    const steps = (fill: string) => `class Steps:
    def _a(self, df):
        df["a"] = df["a"].fillna(${fill})
        return df
    def _b(self, df):
        df["s"] = df["a"] + df["b"]
        return df
    def build(self, df):
        for step in (self._a, self._b):
            df = step(df)
        return df
${prepared}X = Steps().build(d)
`;
    expect(await kinds(steps('df["a"].median()') + folds('name'))).toEqual(['statistics']);
    expect(await kinds(steps('0') + folds('name'))).toEqual([]);
  });
});

describe('the score of the training part, printed as that of the validation part', () => {
  const split = `d = pd.read_csv("d.csv")
X_train, X_val, y_train, y_val = train_test_split(d.drop(columns="y"), d["y"], random_state=0)
model = Ridge()
model.fit(X_train, y_train)
`;
  const score = `def error(m, X, y):
    return mean_absolute_error(y, m.predict(X))

`;
  it.each([
    ['a function', `${split}${score}print(f"Validation MAE: {error(model, X_train, y_train):.3f}")\n`, 1],
    ['a method', `${split}print("Held-out R2:", model.score(X_train, y_train))\n`, 1],
    ['a variable', `${split}val = model.score(X_train, y_train)\nprint("test R2", val)\n`, 1],
    [
      'the validation part',
      `${split}${score}print(f"Validation MAE: {error(model, X_val, y_val):.3f}")\n`,
      0,
    ],
    ['the training part, as such', `${split}print("Train R2:", model.score(X_train, y_train))\n`, 0],
    [
      'both',
      `${split}${score}print("validation:", external(model, X_val), error(model, X_train, y_train))\n`,
      0,
    ],
  ])('is found: %s', async (_name, script, found) => {
    expect(await kinds(script)).toEqual(found === 1 ? ['training-rows'] : []);
  });

  it('is named by the line that asks for it', async () => {
    const network = (loader: string) => `from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split
blob = torch.load("s.pt")
ds = TensorDataset(blob["x"], blob["y"])
train_ds, val_ds = random_split(ds, [800, 200])
train_dl, val_dl = DataLoader(train_ds, batch_size=8), DataLoader(val_ds, batch_size=8)
model = nn.Linear(4, 2)
opt = torch.optim.Adam(model.parameters())
crit = nn.CrossEntropyLoss()

def accuracy(loader):
    hit = 0
    for xb, yb in loader:
        hit += (model(xb).argmax(1) == yb).sum().item()
    return hit

for epoch in range(5):
    for xb, yb in train_dl:
        opt.zero_grad()
        crit(model(xb), yb).backward()
        opt.step()
print(f"Validation accuracy: {accuracy(${loader})}")
`;
    const { findings } = await analyzeLeakage(HEAD + network('train_dl'));
    expect(findings.map(({ codeBlock }) => codeBlock)).toEqual([
      'print(f"Validation accuracy: {accuracy(train_dl)}")',
    ]);
    expect(await kinds(network('val_dl'))).toEqual([]);
  });
});

describe('a label that is in its own feature', () => {
  const scored = `feats = ["lag", "ma"]
tr, va = d[d["day"] < "2022-01-01"], d[d["day"] >= "2022-01-01"]
print(mean_absolute_error(va["ret"], Ridge().fit(tr[feats], tr["ret"]).predict(va[feats])))
`;
  const rows = 'd = pd.read_csv("d.csv")\nd["lag"] = d["ret"].shift(1)\n';
  it.each([
    ['d["ret"].rolling(3).mean()', 1],
    ['d.groupby("k")["ret"].transform(lambda s: s.rolling(3).mean())', 1],
    ['d["ret"].expanding().max()', 1],
    ['d["ret"].ewm(span=5).mean()', 1],
    ['d["ret"].shift(1).rolling(3).mean()', 0],
    ['d["ret"].rolling(3).mean().shift(1)', 0],
    ['d["ret"].rolling(3, closed="left").mean()', 0],
    ['d.groupby("k")["ret"].transform(lambda s: s.shift(1).rolling(3).mean())', 0],
    ['d["volume"].rolling(3).mean()', 0],
  ])('by a window that ends with its row: %s', async (window, found) => {
    expect(await kinds(`${rows}d["ma"] = ${window}\n${scored}`)).toEqual(
      found === 1 ? ['label-in-features'] : [],
    );
  });

  it('is none where the label is a later value', async () => {
    const later = 'd["ma"] = d["ret"].rolling(3).mean()\nd["ret"] = d["ret"].shift(-1)\n';
    expect(await kinds(rows + later + scored)).toEqual([]);
    const next = 'd["ma"] = d["ret"].rolling(3).mean()\nd["next"] = d["ret"].shift(-1)\n';
    expect(await kinds(rows + next + scored.replaceAll('["ret"]', '["next"]'))).toEqual([]);
  });
});

describe('rows of persons that loops collect', () => {
  const collect = (counted: string) => `import glob
X, y, patients = [], [], []
for folder in sorted(glob.glob("scans/*")):
    volume = np.load(folder + "/volume.npy")
    for z in range(10, 90, 2):
        X.append(volume[z].mean(axis=0))
        y.append(len(folder))
        patients.append(folder)
X, y, patients = np.array(X), np.array(y), np.array(patients)
${counted}
`;
  const counted = 'print(len(X), "slices of", len(np.unique(patients)), "patients")';
  const split = 'a, b, ya, yb = train_test_split(X, y, random_state=0)\n';
  const score = 'print(Ridge().fit(a, ya).score(b, yb))\n';
  it.each([
    ['counted beside the rows', collect(counted) + split + score, 1],
    ['not counted', collect('') + split + score, 0],
    ['that are the labels', collect(counted) + split.replace('y, random', 'patients, random') + score, 0],
    [
      'kept together',
      `${collect(counted)}from sklearn.model_selection import GroupShuffleSplit
tr, va = next(GroupShuffleSplit(1, random_state=0).split(X, y, patients))
a, b, ya, yb = X[tr], X[va], y[tr], y[va]
${score}`,
      0,
    ],
  ])('%s', async (_name, script, found) => {
    expect(await kinds(script)).toEqual(found === 1 ? ['group-overlap'] : []);
  });
});

describe('vectors of texts that are looked up word by word', () => {
  const script = (learned: string) => `from gensim.models import Word2Vec
d = pd.read_csv("d.csv")
tokens = [t.split() for t in d["text"]]
y = d["y"].values
tr, va = train_test_split(np.arange(len(d)), random_state=0)
w2v = Word2Vec(${learned}, vector_size=50)
def vector(words):
    found = []
    for w in words:
        if w in w2v.wv:
            found.append(w2v.wv[w])
    return np.mean(found, axis=0) if found else np.zeros(50)
D = np.vstack([vector(t) for t in tokens])
print(accuracy_score(y[va], Ridge().fit(D[tr], y[tr]).predict(D[va])))
`;
  it('are made with what was learned from all texts', async () => {
    expect(await kinds(script('tokens'))).toEqual(['vocabulary']);
    expect(await kinds(script('[tokens[i] for i in tr]'))).toEqual([]);
    expect(await kinds(script('[tokens[i] for i in va]'))).toEqual(['vocabulary']);
  });
});

describe('a leak in a helper function', () => {
  it('is explained with the line that calls it', async () => {
    const { findings } = await analyzeLeakage(`${HEAD}def grow(frame):
    extra = frame.sample(100, replace=True)
    return pd.concat([frame, extra])

def main():
    d = grow(pd.read_csv("d.csv"))
    tr, va = train_test_split(d)
    print(mean_absolute_error(va["y"], Ridge().fit(tr[["a"]], tr["y"]).predict(va[["a"]])))

main()
`);
    expect(findings.map(({ explanation }) => /line \d+, called at line \d+/.exec(explanation)?.[0])).toEqual([
      'line 9, called at line 13',
      'line 10, called at line 13',
    ]);
  });
});

describe('a function that a pool or an executor runs', () => {
  const script = (call: string): string => `from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from sklearn.preprocessing import StandardScaler
def scale(table, columns=("a", "b")):
    return StandardScaler().fit_transform(table[list(columns)])
df = pd.read_csv("d.csv")
ex, pool, results = ThreadPoolExecutor(), ThreadPool(2), []
X = ${call}
X_tr, X_va, y_tr, y_va = train_test_split(X, df["y"], random_state=0)
print(accuracy_score(y_va, Ridge().fit(X_tr, y_tr).predict(X_va)))
`;
  it.each([
    'ex.submit(scale, table=df).result()',
    'ex.submit(scale, df, columns=["a"]).result()',
    'pool.apply(scale, kwds={"table": df})',
    'pool.apply(scale, (), {"table": df})',
    'pool.apply(func=scale, args=[df], kwds=dict(columns=["a"]))',
    'pool.apply_async(scale, args=(df,)).get()',
    'pool.map(func=scale, iterable=[df])[0]',
    'pool.map(scale, [df], 1)[0]',
    'pool.map_async(scale, [df]).get()[0]',
    'pool.starmap(func=scale, iterable=[(df, ["a"])])[0]',
    'pool.starmap_async(scale, [(df, ["a"])]).get()[0]',
    '[pool.apply_async(scale, (df,), callback=results.append).get(), results[0]][1]',
  ])('gets its arguments by position and by name: %s', async (call) => {
    expect(await kinds(script(call))).toEqual(['scaling']);
  });

  it('is not known to learn nothing where its arguments are not known', async () => {
    const unknown = 'pool.apply(scale, kwds=read_options())';
    expect((await analyzeLeakage(HEAD + script(unknown))).coverage).toBe('partial');
  });
});
