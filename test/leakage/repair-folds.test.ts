import { describe, expect, it } from 'vitest';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';
import { labeledScripts } from './labeled-scripts.js';

const PREPARATION = [
  'import numpy as np',
  'import pandas as pd',
  'from sklearn.linear_model import Ridge',
  'from sklearn.model_selection import KFold',
  'from sklearn.preprocessing import StandardScaler',
  'data = pd.read_csv("train.csv")',
  'test = pd.read_csv("test.csv")',
  'y = data.pop("price")',
  'scaler = StandardScaler()',
  'X = pd.DataFrame(scaler.fit_transform(data), columns=data.columns)',
  'X["both"] = X["a"] * X["b"]',
];
const FOLDS = [
  'scores = []',
  'for tr, va in KFold(5, shuffle=True, random_state=0).split(X):',
  '    model = Ridge()',
  '    model.fit(X.iloc[tr], y.iloc[tr])',
  '    scores.append(model.score(X.iloc[va], y.iloc[va]))',
];
const SCORE = ['print("Final Validation Performance:", np.mean(scores))'];

async function repairOf(lines: readonly string[]) {
  const source = `${lines.join('\n')}\n`;
  const [finding] = (await analyzeLeakage(source)).findings;
  if (finding === undefined) throw new Error('nothing was found');
  const repair = await repairLeak(source, finding.codeBlock);
  return repair.ok ? source.replace(repair.codeBlock, () => repair.replacement) : repair.reason;
}

describe('what was learned from all rows before a loop over folds', () => {
  it('REQ-SF-019: is learned again in each fold, under names of the fold; the lines before stay', async () => {
    const text = await repairOf([...PREPARATION, ...FOLDS, ...SCORE]);
    expect(text).toContain(PREPARATION.slice(-2).join('\n'));
    expect(text).toContain(
      [
        'for tr, va in KFold(5, shuffle=True, random_state=0).split(X):',
        '    fold_scaler = clone(scaler)',
        '    fold_x = pd.DataFrame(fold_scaler.fit(data.iloc[tr]).transform(data), columns=data.columns)',
        '    fold_x["both"] = fold_x["a"] * fold_x["b"]',
        '    model = Ridge()',
        '    model.fit(fold_x.iloc[tr], y.iloc[tr])',
        '    scores.append(model.score(fold_x.iloc[va], y.iloc[va]))',
      ].join('\n'),
    );
    expect((await analyzeLeakage(text)).findings).toEqual([]);
  });

  it('REQ-SF-019: a table that the fold changes starts afresh in every fold', async () => {
    const [script] = labeledScripts('runnable-folds.txt').filter(({ id }) => id === 'F04');
    const text = await repairOf((script?.script ?? '').split('\n'));
    expect(text).toContain('test_before = test.copy()\nfor column in features:');
    expect(text).toContain('    fold_test = test_before.copy()\n');
    expect(text).toContain('    fold_features = features_before.copy()\n');
  });

  it.each([
    [
      'a model of the folds continues after them',
      [...PREPARATION, ...FOLDS, ...SCORE, 'print(model.predict(X))'],
    ],
    [
      'a table of all rows reaches the models of the folds in a list',
      [
        ...PREPARATION,
        'models = []',
        ...FOLDS,
        '    models.append(model)',
        ...SCORE,
        'print(np.mean([one.predict(X) for one in models], axis=0))',
      ],
    ],
    [
      'a function reads the table from outside',
      [
        ...PREPARATION.slice(0, 5),
        'def width():',
        '    return X.shape[1]',
        ...PREPARATION.slice(5),
        ...FOLDS.slice(0, 2),
        '    print(width())',
        ...FOLDS.slice(2),
        ...SCORE,
      ],
    ],
    [
      'rows are dropped on the way',
      [...PREPARATION, 'X = X[X["a"] < 3]', 'y = y.loc[X.index]', ...FOLDS, ...SCORE],
    ],
    [
      'the preparation draws at random',
      [...PREPARATION, 'X["noise"] = X["a"] + np.random.normal(size=len(X))', ...FOLDS, ...SCORE],
    ],
    [
      'what was learned is put together with what the folds give',
      [
        ...PREPARATION,
        ...FOLDS,
        '    last = model.predict(X.iloc[va])',
        ...SCORE,
        'print(scaler.inverse_transform(last))',
      ],
    ],
    [
      'the labels are scaled with the features, and compared with what the folds predict',
      [
        ...PREPARATION.slice(0, 7),
        'scaler = StandardScaler()',
        'data = pd.DataFrame(scaler.fit_transform(data), columns=data.columns)',
        'y = data["price"]',
        'X = data.drop(columns="price")',
        'oof = np.zeros(len(X))',
        ...FOLDS,
        '    oof[va] = model.predict(X.iloc[va])',
        'print("Final Validation Performance:", np.corrcoef(y, oof)[0, 1])',
      ],
    ],
    ['the folds change the table', [...PREPARATION, ...FOLDS, '    X["fold"] = 1', ...SCORE]],
  ])('REQ-SF-019: declines where %s', async (_, lines) => {
    expect(await repairOf(lines)).toMatch(/^Not rewritten: /);
  });

  it('REQ-SF-019: a model that is made and fitted after the folds may go on with all rows', async () => {
    const final = ['model = Ridge()', 'model.fit(X, y)', 'print(model.predict(X))'];
    expect(await repairOf([...PREPARATION, ...FOLDS, ...SCORE, ...final])).toContain('fold_scaler');
  });
});

describe('a network that goes on learning from fold to fold', () => {
  const head = (build: string) => `import numpy as np
import pandas as pd
from sklearn.model_selection import KFold
from tensorflow import keras

UNITS = 32
def build(width):
    model = keras.Sequential([keras.layers.Dense(UNITS), keras.layers.Dense(width)])
    model.compile(loss="mse")
    return model

d = pd.read_csv("d.csv")
y = d.pop("y").to_numpy()
X = d.to_numpy()
${build}
scores = []`;
  const folds = (inside = '') => `for tr, va in KFold(5, shuffle=True, random_state=0).split(X):
${inside}    net.fit(X[tr], y[tr], epochs=3)
    scores.append(np.mean((net.predict(X[va]) - y[va]) ** 2))
print("MSE", np.mean(scores))`;

  it('REQ-SF-019: is made again in each fold, by the statement that made it', async () => {
    for (const build of ['net = build(X.shape[1])', 'net = build(width=1)\nnet.summary()']) {
      const text = await repairOf([head(build), folds()]);
      const [made = ''] = build.split('\n');
      expect(text).toContain(`.split(X):\n    ${made}\n    net.fit(X[tr], y[tr], epochs=3)\n`);
      expect((await analyzeLeakage(text)).findings).toEqual([]);
    }
  });

  it.each([
    ['is used after the folds', [head('net = build(1)'), folds(), 'print(net.predict(X[:5]))']],
    ['is compiled by another statement', [head('net = build(1)\nnet.compile(loss="mae")'), folds()]],
    ['is made with what a fold changes', [head('UNITS = 8\nnet = build(1)'), folds('    UNITS = len(tr)\n')]],
    [
      'is made with an object that models share',
      [head('opt = keras.optimizers.Adam()\nnet = build(opt)'), folds()],
    ],
    [
      'is made with a width that a fold changes',
      [head('net = build(X.shape[1])'), folds('    X = X[:, :3]\n')],
    ],
    ['is made by two statements', [head('net = build(1)\nnet = build(2)'), folds()]],
  ])('is not rewritten if it %s', async (_name, lines) => {
    const found = (await analyzeLeakage(`${lines.join('\n')}\n`)).findings.map(({ kind }) => kind);
    expect(found).toContain('training-rows');
    expect(await repairOf(lines)).toMatch(/^Not rewritten/);
  });
});

describe('what was learned from all rows before a cross-validation', () => {
  const TABLES = [
    'import numpy as np',
    'import pandas as pd',
    'from sklearn.linear_model import Ridge',
    'from sklearn.model_selection import KFold, cross_val_score',
    'train = pd.read_csv("train.csv")',
    'test = pd.read_csv("test.csv")',
    'y = train["price"].values',
    'n = len(train)',
    'both = pd.concat([train.drop(columns="price"), test], ignore_index=True)',
    'both["km"] = both["km"].fillna(both["km"].median())',
    'both = pd.get_dummies(both, columns=["zone"])',
    'X, X_test = both[:n], both[n:]',
    'folds = KFold(5, shuffle=True, random_state=0)',
  ];
  const PREPARED = (indent: string): string[] =>
    [
      'fold_both = both_before.copy()',
      'fold_both["km"] = fold_both["km"].fillna(fold_both["km"].iloc[fit_rows].median())',
      'fold_both = pd.get_dummies(fold_both, columns=["zone"])',
      'fold_x, fold_x_test = fold_both[:n], fold_both[n:]',
      'fold_scores.append(cross_val_score(model, fold_x, y, cv=[(fit_rows, score_rows)], scoring="r2")[0])',
    ].map((line) => indent + line);
  const CALL = 'cross_val_score(model, X, y, cv=folds, scoring="r2")';
  const END = ['model.fit(X, y)', 'print(model.predict(X_test))'];

  it('REQ-SF-019: is learned in each fold, which is scored alone', async () => {
    const text = await repairOf([
      ...TABLES,
      'for model in [Ridge(), Ridge(alpha=9)]:',
      `    scores = ${CALL}`,
      '    print(scores.mean(), scores.std())',
      ...END,
    ]);
    expect(text).toContain(
      [
        '    fold_scores = []',
        '    for fit_rows, score_rows in folds.split(X, y):',
        ...PREPARED('        '),
        '    scores = np.array(fold_scores)',
        '    print(scores.mean(), scores.std())',
      ].join('\n'),
    );
    expect((await analyzeLeakage(text)).findings).toEqual([]);
  });

  it('REQ-SF-019: also in the function that cross-validates', async () => {
    const text = await repairOf([
      ...TABLES,
      'def rmse(model):',
      `    return np.sqrt(-${CALL})`,
      'for model in [Ridge(), Ridge(alpha=9)]:',
      '    print(rmse(model).mean())',
      ...END,
    ]);
    expect(text).toContain(
      [...PREPARED('        '), '    return np.sqrt(-np.array(fold_scores))'].join('\n'),
    );
    expect((await analyzeLeakage(text)).findings).toEqual([]);
  });

  it('REQ-SF-019: a function that reads the table outside of the folds is inlined if it is called once', async () => {
    const lines = ['def rate():', '    print(X.shape)', `    return ${CALL}`, 'print(rate().mean())'];
    const text = await repairOf([...TABLES, 'model = Ridge()', ...lines]);
    expect(text).toContain(
      ['print(X.shape)', 'fold_scores = []', 'for fit_rows, score_rows in folds.split(X, y):'].join('\n'),
    );
    expect(text).toContain('print(np.array(fold_scores).mean())');
  });

  it.each([
    ['the folds are a number', [`print(${CALL.replace('cv=folds', 'cv=5')}.mean())`]],
    ['two cross-validations take the table', [`print(${CALL})`, `print(${CALL}.mean())`]],
    ['rows change on the way', ['X = X.sort_values("km")', `print(${CALL}.mean())`]],
    [
      'the table changes between the function and its call',
      ['def rate():', `    return ${CALL}`, 'X = X + 1', 'print(rate().mean(), [rate])'],
    ],
    [
      'the function reads the table outside of the folds',
      ['def rate():', '    print(X.shape)', `    return ${CALL}`, 'print(rate().mean(), [rate])'],
    ],
    [
      'the function has another variable of this name',
      ['def rate(n):', `    return ${CALL}`, 'print(rate(3).mean(), [rate])'],
    ],
  ])('REQ-SF-019: is not rewritten if %s', async (_, lines) => {
    expect(await repairOf([...TABLES, 'model = Ridge()', ...lines])).toMatch(/^Not rewritten/);
  });

  it('REQ-SF-019: a statistic within the table of a fit is said for the same rows', async () => {
    const text = await repairOf([
      ...TABLES.slice(0, 9),
      'from sklearn.preprocessing import StandardScaler',
      'both["km"] = StandardScaler().fit_transform(both[["km"]].fillna(both["km"].median()))',
      ...TABLES.slice(11),
      'model = Ridge()',
      `print(${CALL}.mean())`,
    ]);
    expect(text).toContain(
      'StandardScaler().fit(fold_both[["km"]].iloc[fit_rows].fillna(fold_both["km"].iloc[fit_rows].median())).transform(fold_both[["km"]].fillna(fold_both["km"].iloc[fit_rows].median()))',
    );
  });
});

it('REQ-SF-019: rows without a key keep their count where they are counted', async () => {
  const text = await repairOf([
    'import pandas as pd',
    'from sklearn.ensemble import HistGradientBoostingRegressor',
    'from sklearn.model_selection import train_test_split',
    'data = pd.read_csv("train.csv")',
    'counts = data["zone"].value_counts(dropna=False)',
    'data["n"] = data["zone"].map(counts)',
    'X, y = data.drop(columns=["zone", "price"]), data["price"]',
    'X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0)',
    'model = HistGradientBoostingRegressor().fit(X_train, y_train)',
    'print("Final Validation Performance:", model.score(X_val, y_val))',
  ]);
  expect(text).toContain('data["n"] = data["zone"].map(counts).fillna(0)\n');
});
