import { describe, expect, it } from 'vitest';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';

const IMPORTS = [
  'import json',
  'import numpy as np',
  'import pandas as pd',
  'from lightgbm import LGBMRegressor',
  'from sklearn.decomposition import TruncatedSVD',
  'from sklearn.feature_extraction.text import CountVectorizer',
  'from sklearn.model_selection import cross_val_predict, cross_val_score, train_test_split',
  'from sklearn.preprocessing import MinMaxScaler, PowerTransformer',
  'df = pd.read_csv("rides.csv")',
];
const RIDGE = 'from sklearn.linear_model import Ridge';
const DIVIDED = 'X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=4)';
const scored = (model = 'Ridge()'): string =>
  `print("Final Validation Performance:", ${model}.fit(X_tr, y_tr).score(X_va, y_va))`;

async function repairOf(...lines: string[]): Promise<string> {
  const source = [...IMPORTS, ...lines, ''].join('\n');
  const [finding] = (await analyzeLeakage(source)).findings;
  const repair = await repairLeak(source, finding?.codeBlock ?? '');
  return repair.ok ? repair.replacement : repair.reason;
}

describe('a correction reads what is there', () => {
  const encoded = [
    RIDGE,
    'for col in ["maker", "state"]:',
    '    means = df.groupby(col)["price"].mean()',
    '    df[col] = df[col].map(means)',
  ];

  it.each([
    ['dropped', 'X = df.drop(columns="price")', 'y = df["price"]'],
    ['popped', 'y = df.pop("price")', 'X = df'],
  ])('a label that is %s before the split is averaged by group before that', async (_, ...parts) => {
    const repaired = await repairOf(...encoded, ...parts, DIVIDED, scored());
    expect(repaired).not.toMatch(/X_tr\.groupby/);
    expect(repaired).toContain('means = df.iloc[fit_rows].groupby(col)["price"].mean()');
  });

  it('and a split without a seed, which cannot be made twice, is left', async () => {
    const split = 'X_tr, X_va, y_tr, y_va = train_test_split(X, y)';
    expect(
      await repairOf(...encoded, 'X = df.drop(columns="price")', 'y = df["price"]', split, scored()),
    ).toMatch(/^Not rewritten: column `price` would not be there any more/);
  });

  const scaled = [
    RIDGE,
    'X = df.drop(columns="price")',
    'y, names = df["price"], X.columns',
    'X = PowerTransformer().fit_transform(X)',
    'X = MinMaxScaler().fit_transform(X)',
    DIVIDED,
    scored(),
    'print(X.mean())',
  ];

  it('rows of an array that a transformer made are not taken by `iloc`', async () => {
    const repaired = await repairOf(...scaled);
    expect(repaired).toContain('X = PowerTransformer().fit(X.iloc[fit_rows]).transform(X)');
    expect(repaired).toContain('X = MinMaxScaler().fit(X[fit_rows]).transform(X)');
  });

  it('what transformers give is not guessed where the script sets it', async () => {
    const [first = '', ...others] = scaled;
    expect(
      await repairOf(first, 'import sklearn', 'sklearn.set_config(transform_output="pandas")', ...others),
    ).toMatch(/^Not rewritten/);
  });

  it.each([
    ['with another size', DIVIDED.replace('0.2', '0.3')],
    ['with another seed', DIVIDED.replace('state=4', 'state=5')],
    ['by folds', 'print(cross_val_score(Ridge(), X, y))'],
  ])('is declined where the table is divided again %s', async (_, again) => {
    expect(await repairOf(...scaled, again, scored())).toMatch(/^Not rewritten/);
  });

  it('but not where the same division is made again, or the training part is divided', async () => {
    expect(await repairOf(...scaled, DIVIDED, scored())).toContain('fit_rows');
    const nested = 'X_a, X_b, y_a, y_b = train_test_split(X_tr, y_tr, test_size=0.1, random_state=9)';
    expect(await repairOf(...scaled, nested)).toContain('fit_rows');
  });
});

describe('rows of a group that the training part lacks', () => {
  const parts = 'train, val = train_test_split(df, random_state=2)';
  const score = (model: string): string =>
    `print("Final Validation Performance:", ${model}.fit(train[["n"]], train["price"]).score(val[["n"]], val["price"]))`;

  it.each([
    ['count', 'fillna(0)'],
    ['size', 'fillna(0)'],
    ['sum', 'fillna(0)'],
    ['mean', 'fillna(n.mean())'],
  ])('get no value of other groups for a %s', async (statistic, fallback) => {
    const lines = [`n = df.groupby("user")["price"].${statistic}()`, 'df["n"] = df["user"].map(n)'];
    expect(await repairOf(RIDGE, ...lines, parts, score('Ridge()'))).toContain(`.map(n).${fallback}`);
  });

  it.each(['Ridge()', 'LGBMRegressor()'])('get a count of 0 whatever the model is (%s)', async (model) => {
    const line = 'df["n"] = df.groupby("user")["price"].transform("count")';
    const imports = model === 'Ridge()' ? [RIDGE] : [];
    expect(await repairOf(...imports, line, parts, score(model))).toMatch(
      /val\["n"\] = val\["user"\]\.map\(price_by_user\)\.fillna\(0\)/,
    );
    const later = ['X, y = df.drop(columns=["user", "price"]), df["price"]', DIVIDED, scored(model)];
    expect(await repairOf(...imports, line, ...later)).toContain('df["user"].map(price_count).fillna(0)');
  });

  it.each([
    ['df.loc[df["user"] == u, "price"].count()', 'fillna(0)'],
    ['df.loc[df["user"] == u, "price"].median()', 'fillna(pd.Series(n).mean())'],
  ])('get the same where a loop takes group by group (%s)', async (value, fallback) => {
    const lines = [
      'n = {}',
      'for u in df["user"].unique():',
      `    n[u] = ${value}`,
      'df["n"] = df["user"].map(n)',
    ];
    expect(await repairOf(RIDGE, ...lines, parts, score('Ridge()'))).toContain(`.map(n).${fallback}`);
    const later = ['X, y = df.drop(columns=["user", "price"]), df["price"]', DIVIDED, scored()];
    expect(await repairOf(RIDGE, ...lines, ...later)).toContain(`.map(n).${fallback}`);
  });

  it('get a mean and a count of a joined table, each of its own', async () => {
    const lines = [
      RIDGE,
      'groups = df.groupby("user").agg(m=("price", "mean"), n=("price", "count")).reset_index()',
      'df = df.merge(groups, on="user", how="left")',
    ];
    const repaired = await repairOf(...lines, parts, score('Ridge()'));
    expect(repaired).toMatch(/^Not rewritten|\.fillna\(\{"m": groups\["m"\]\.mean\(\), "n": 0\}\)/);
    expect(repaired).not.toContain('mean(numeric_only=True)');
  });
});

describe('rows without a key', () => {
  const mapped = ['m = df.groupby("shop")["price"].mean()', 'df["n"] = df["shop"].map(m)'];
  const later = ['X, y = df.drop(columns=["shop", "day", "price"]), df["price"]', DIVIDED];
  const KEPT = '.fillna(m.mean()).where(df["shop"].notna())';

  it('have no value of their group, as before, where the model takes gaps', async () => {
    expect(await repairOf(...mapped, ...later, scored('LGBMRegressor()'))).toContain(KEPT);
    const transform = 'df["n"] = df.groupby(["shop", "day"])["price"].transform("mean")';
    expect(await repairOf(transform, ...later, scored('LGBMRegressor()'))).toContain(
      '.where(df[["shop", "day"]].notna().all(axis=1))',
    );
  });

  it('are told apart where the gaps are filled later', async () => {
    expect(await repairOf(RIDGE, ...mapped, ...later, 'X_tr = X_tr.fillna(0)', scored())).toContain(KEPT);
  });

  it.each([
    ['the model would have stopped at them', [RIDGE], 'Ridge()'],
    ['the key is filled', ['df["shop"] = df["shop"].fillna("none")'], 'LGBMRegressor()'],
    ['rows with gaps are dropped', ['df = df.dropna()'], 'LGBMRegressor()'],
  ])('are not thought of where %s', async (_, before, model) => {
    const repaired = await repairOf(...before, ...mapped, ...later, scored(model));
    expect(repaired).toContain('.map(m).fillna(m.mean())');
    expect(repaired).not.toContain('.where(');
  });
});

describe('a vocabulary of texts in a list', () => {
  const texts = [
    'from sklearn.ensemble import ExtraTreesClassifier',
    'with open("tickets.jsonl") as file:',
    '    tickets = [json.loads(line) for line in file]',
    'corpus, queue = [t["body"] for t in tickets], np.array([t["queue"] for t in tickets])',
    'counts, svd, trees = CountVectorizer(), TruncatedSVD(9), ExtraTreesClassifier()',
  ];
  const validated = [
    'said = cross_val_predict(trees, topics, queue)',
    'print("Final Validation Performance:", (said == queue).mean())',
  ];

  it('is learned from all rows where those rows are cross-validated', async () => {
    const inline = 'said = cross_val_predict(trees, counts.fit_transform(corpus), queue)';
    const source = [...IMPORTS, ...texts, inline, validated[1], ''].join('\n');
    expect((await analyzeLeakage(source)).findings.map(({ kind }) => kind)).toEqual(['vocabulary']);
  });

  it.each([
    ['in one line', ['topics = svd.fit_transform(counts.fit_transform(corpus))']],
    ['in two lines', ['words = counts.fit_transform(corpus)', 'topics = svd.fit_transform(words)']],
  ])('goes into the folds with the steps after it, %s', async (_, lines) => {
    expect(await repairOf(...texts, ...lines, ...validated)).toContain(
      'cross_val_predict(make_pipeline(counts, svd, trees), corpus, queue)',
    );
  });
});

describe('a part of the training rows to stop on', () => {
  const HEAD = 'X, y = df.drop(columns="late"), df["late"]';
  const training = 'LGBMRegressor(n_estimators=900, early_stopping_rounds=9)';
  const trained = (eval_set: string): string => `m = ${training}.fit(X_tr, y_tr, eval_set=${eval_set})`;
  const tail = [trained('[(X_va, y_va)]'), 'print("Final Validation Performance:", m.score(X_va, y_va))'];
  const split = (options: string): string => `X_tr, X_va, y_tr, y_va = train_test_split(X, y${options})`;

  it.each([
    ['stratify and seed', ', random_state=7, stratify=y', 'random_state=7, stratify=y_tr)'],
    ['a seed alone', ', random_state=7', 'test_size=0.1, random_state=7)'],
    ['neither', '', 'test_size=0.1, random_state=0)'],
    ['no proportions', ', stratify=None', 'test_size=0.1, random_state=0)'],
    ['proportions of a column that is divided', ', stratify=X["zone"]', 'stratify=X_tr["zone"])'],
    ['proportions of what is not divided', ', stratify=df["zone"]', 'test_size=0.1, random_state=0)'],
  ])('is divided like the training rows were: %s', async (_, options, expected) => {
    expect(await repairOf(HEAD, split(options), ...tail)).toContain(expected);
  });

  it('is not stratified by labels that were changed since', async () => {
    const lines = [HEAD, split(', random_state=7, stratify=y'), 'y_tr = np.log1p(y_tr)', ...tail];
    expect(await repairOf(...lines)).toContain('test_size=0.1, random_state=7)');
  });
});

it('REQ-SF-019: the least value that is subtracted is that of the training part, as the range is', async () => {
  const text = await repairOf(
    RIDGE,
    'X, y = df[["km", "kg"]], df["price"]',
    'X = (X - np.min(X, axis=0)) / (np.max(X, axis=0) - np.min(X, axis=0))',
    DIVIDED,
    scored(),
  );
  expect(text).toContain('X_va = (X_va - train_min) / (train_max - train_min)');
  expect(text).not.toContain('np.min(X_va');
});

describe('numbers that a corrected statistic meets', () => {
  const fit = [
    'm = LGBMClassifier().fit(tr[["f", "b"]], tr["y"])',
    'print(m.score(te[["f", "b"]], te["y"]))',
  ];
  const head = [
    'import pandas as pd',
    'from lightgbm import LGBMClassifier',
    'from sklearn.model_selection import train_test_split',
    'df = pd.read_csv("a.csv")',
  ];
  const split = 'tr, te = train_test_split(df, random_state=0)';
  const correctedOf = async (...lines: string[]): Promise<string> => {
    const source = [...head, ...lines, ...fit, ''].join('\n');
    const [finding] = (await analyzeLeakage(source)).findings;
    const repair = await repairLeak(source, finding?.codeBlock ?? '');
    return repair.ok ? source.replace(repair.codeBlock, () => repair.replacement) : repair.reason;
  };

  it.each(['len(df)', 'df.shape[0]'])(
    'counts are divided by the rows that they are of (%s)',
    async (rows) => {
      const text = await correctedOf(`df["f"] = df["c"].map(df["c"].value_counts()) / ${rows}`, split);
      expect(text).toMatch(/te\["f"\] = te\["c"\].* \/ (len\(tr\)|tr\.shape\[0\])/);
    },
  );

  it('columns that are listed after the split are those of the training part', async () => {
    const text = await correctedOf(
      'df["f"] = df.groupby("c")["a"].transform("mean")',
      split,
      'cols = [c for c in df.columns if c != "y"]',
    );
    expect(text).toContain('for c in tr.columns');
  });

  it('several keys are looked up together, in groups with a name of their own too', async () => {
    const text = await correctedOf('g = df.groupby(["c", "d"]).a', 'df["f"] = g.transform("mean")', split);
    expect(text).toContain('te["f"] = te[["c", "d"]].join(f_by_group, on=["c", "d"])["f_by_group"]');
    expect(text).not.toContain('g = ');
  });

  it('but not of groups whose table has changed since', async () => {
    const text = await correctedOf(
      'g = df.groupby("c")["a"]',
      'df = df.sort_values("b")',
      'df["f"] = g.transform("mean")',
      split,
    );
    expect(text).toMatch(/^Not rewritten/);
  });

  it('a line that prints is printed once, of the training part', async () => {
    const text = await correctedOf(
      'from sklearn.feature_extraction.text import CountVectorizer',
      'words = CountVectorizer()',
      'X = words.fit_transform(df["text"])',
      'print("words", X.shape)',
      'a, b, c, d = train_test_split(X, df["y"], random_state=0)',
      'tr, te = pd.DataFrame({"f": a, "y": c}), pd.DataFrame({"f": b, "y": d})',
    );
    expect(text.match(/print\("words.*/g)).toEqual(['print("words", a.shape)']);
  });

  it('another table is filled with the same number, which gets a name', async () => {
    const text = await correctedOf(
      'other = pd.read_csv("b.csv")',
      'df = df.fillna(df.mean())',
      'other = other.fillna(df.mean())',
      'X = df.drop(columns=["y"]).copy()',
      'X["f"] = X["b"] * 2',
      'X, y = X.copy(), df["y"]',
      'tr, te, y_tr, y_te = train_test_split(X, y, random_state=0)',
      'tr["y"], te["y"] = y_tr, y_te',
    );
    expect(text).toContain('other = other.fillna(df_mean)');
  });
});
