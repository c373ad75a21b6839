import { describe, expect, it } from 'vitest';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';

/** The script after the correction of its first leak, or the reason for none. */
async function repairOf(lines: readonly string[]): Promise<string> {
  const source = `${lines.join('\n')}\n`;
  const [finding] = (await analyzeLeakage(source)).findings;
  if (finding === undefined) throw new Error('nothing was found');
  const repair = await repairLeak(source, finding.codeBlock);
  return repair.ok ? source.replace(repair.codeBlock, () => repair.replacement) : repair.reason;
}

async function leaksOf(text: string): Promise<unknown> {
  return (await analyzeLeakage(text)).findings;
}

const IMPORTS = [
  'import numpy as np',
  'import pandas as pd',
  'from sklearn.decomposition import PCA, TruncatedSVD',
  'from sklearn.feature_extraction.text import TfidfVectorizer',
  'from sklearn.linear_model import LogisticRegression, Ridge',
  'from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score',
  'from sklearn.preprocessing import StandardScaler',
];
const TEXTS = [
  ...IMPORTS,
  'train = pd.read_csv("train.csv")',
  'test = pd.read_csv("test.csv")',
  'y = train["target"].values',
];
const TEXT_FOLDS = [
  'scores = []',
  'for tr, va in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):',
  '    model = LogisticRegression()',
  '    model.fit(X[tr], y[tr])',
  '    scores.append(model.score(X[va], y[va]))',
];
const SCORE = 'print("Final Validation Performance:", np.mean(scores))';

describe('several steps that learn before a loop over folds', () => {
  it('REQ-SF-019: a second fit on what the first gives is made in each fold as well', async () => {
    const text = await repairOf([
      ...TEXTS,
      'corpus = pd.concat([train["text"], test["text"]])',
      'vec = TfidfVectorizer()',
      'svd = TruncatedSVD(20, random_state=0)',
      'counts = vec.fit_transform(corpus)',
      'parts = svd.fit_transform(counts)',
      'X = parts[: len(train)]',
      ...TEXT_FOLDS,
      SCORE,
    ]);
    expect(text).toContain(
      [
        '    fold_counts = fold_vec.fit(corpus.iloc[tr]).transform(corpus)',
        '    fold_parts = fold_svd.fit(fold_counts[tr]).transform(fold_counts)',
        '    fold_x = fold_parts[: len(train)]',
      ].join('\n'),
    );
    expect(await leaksOf(text)).toEqual([]);
  });

  it('REQ-SF-019: a fit within another one gets a name, so that it is made once', async () => {
    const text = await repairOf([
      ...IMPORTS,
      'data = pd.read_csv("train.csv")',
      'y = data.pop("price")',
      'X = PCA(2).fit_transform(StandardScaler().fit_transform(data[["a", "b", "c"]]))',
      'scores = []',
      'for tr, va in KFold(5).split(data):',
      '    model = Ridge().fit(X[tr], y.iloc[tr])',
      '    scores.append(model.score(X[va], y.iloc[va]))',
      SCORE,
    ]);
    expect(text).toContain(
      [
        '    scaled = StandardScaler().fit(data[["a", "b", "c"]].iloc[tr]).transform(data[["a", "b", "c"]])',
        '    fold_x = PCA(2).fit(scaled[tr]).transform(scaled)',
      ].join('\n'),
    );
    expect(await leaksOf(text)).toEqual([]);
  });

  it('REQ-SF-019: groups by the variable of a loop over columns are looked up by it', async () => {
    const text = await repairOf([
      ...IMPORTS,
      'data = pd.read_csv("train.csv")',
      'KEYS = ["zone", "kind"]',
      'for key in KEYS:',
      '    data[key + "_price"] = data.groupby(key)["price"].transform("mean")',
      'y = data["price"]',
      'X = data.drop(columns=["price", "zone", "kind"])',
      'scores = []',
      'for tr, va in KFold(5).split(X):',
      '    model = Ridge().fit(X.iloc[tr], y.iloc[tr])',
      '    scores.append(model.score(X.iloc[va], y.iloc[va]))',
      SCORE,
    ]);
    expect(text).toContain(
      [
        '    for fold_key in KEYS:',
        '        price_mean = fold_data.iloc[tr].groupby(fold_key)["price"].mean()',
        '        fold_data[fold_key + "_price"] = fold_data[fold_key].map(price_mean).fillna(fold_data["price"].iloc[tr].mean())',
      ].join('\n'),
    );
    expect(await leaksOf(text)).toEqual([]);
  });

  it('REQ-SF-019: groups by a list that grows have no one column to look up', async () => {
    const text = await repairOf([
      ...IMPORTS,
      'data = pd.read_csv("train.csv")',
      'KEYS = ["zone", "kind"]',
      'KEYS.append(["zone", "kind"])',
      'for key in KEYS:',
      '    data[f"{key}_price"] = data.groupby(key)["price"].transform("mean")',
      'y = data["price"]',
      'X = data.drop(columns=["price", "zone", "kind"])',
      'scores = []',
      'for tr, va in KFold(5).split(X):',
      '    model = Ridge().fit(X.iloc[tr], y.iloc[tr])',
      '    scores.append(model.score(X.iloc[va], y.iloc[va]))',
      SCORE,
    ]);
    expect(text).toMatch(/^Not rewritten/);
  });

  it('REQ-SF-019: later lines that learn as well are not replayed on all rows', async () => {
    const lines = [
      ...IMPORTS,
      'train = pd.read_csv("train.csv")',
      'test = pd.read_csv("test.csv")',
      'y = train.pop("price")',
      'n = len(train)',
      'both = pd.concat([train, test], ignore_index=True)',
      'both["area"] = both.groupby("zone")["area"].transform(lambda s: s.fillna(s.median()))',
      'columns = ["area", "age"]',
      'print(both.shape)',
      'scaler = StandardScaler()',
      'both[columns] = scaler.fit_transform(both[columns])',
      'X = both[columns][:n]',
      'def rate(model):',
      '    scores = []',
      '    for tr, va in KFold(5).split(X):',
      '        A, B = X.iloc[tr].copy(), X.iloc[va].copy()',
      '        model.fit(A, y.iloc[tr])',
      '        scores.append(model.score(B, y.iloc[va]))',
      '    return np.array(scores)',
      'print("Final Validation Performance:", rate(Ridge()).mean())',
    ];
    const text = await repairOf(lines);
    expect(text).toContain('fold_scaler.fit(fold_both[fold_columns].iloc[tr]).transform(');
    expect(text).toContain('area_median = fold_both.iloc[tr].groupby("zone")["area"].median()');
    expect(await leaksOf(text)).toEqual([]);
  });

  it('REQ-SF-019: the function of the folds may ask how many rows there are', async () => {
    const text = await repairOf([
      ...IMPORTS,
      'data = pd.read_csv("train.csv")',
      'y = data.pop("price")',
      'scaler = StandardScaler()',
      'X = scaler.fit_transform(data)',
      'def rate(model):',
      '    oof = np.zeros(len(X))',
      '    for tr, va in KFold(5).split(X):',
      '        model.fit(X[tr], y.iloc[tr])',
      '        oof[va] = model.predict(X[va])',
      '    return np.mean((y - oof) ** 2)',
      'print("Final Validation Performance:", rate(Ridge()))',
    ]);
    expect(text).toContain('        fold_x = fold_scaler.fit(data.iloc[tr]).transform(data)\n');
    expect(await leaksOf(text)).toEqual([]);
  });
});

describe('a fit on two tables put below each other', () => {
  const FIT = ['vec = TfidfVectorizer()', 'vec.fit(pd.concat([train["text"], test["text"]]))'];

  it.each(['X', 'np.zeros(len(y))', 'np.arange(X.shape[0])'])(
    'REQ-SF-019: learns from the training rows of the folds of %s',
    async (rows) => {
      const folds = TEXT_FOLDS.map((line) => line.replace('.split(X, y)', () => `.split(${rows}, y)`));
      const text = await repairOf([...TEXTS, ...FIT, 'X = vec.transform(train["text"])', ...folds, SCORE]);
      expect(text).toContain(
        ['    fold_vec.fit(train["text"].iloc[tr])', '    fold_x = fold_vec.transform(train["text"])'].join(
          '\n',
        ),
      );
      expect(await leaksOf(text)).toEqual([]);
    },
  );

  it('REQ-SF-019: learns from the training rows in a cross-validation', async () => {
    const text = await repairOf([
      ...TEXTS,
      ...FIT,
      'X = vec.transform(train["text"])',
      'cv = StratifiedKFold(5, shuffle=True, random_state=0)',
      'scores = cross_val_score(LogisticRegression(), X, y, cv=cv)',
      SCORE,
    ]);
    expect(text).toContain('    fold_vec.fit(train["text"].iloc[fit_rows])\n');
    expect(await leaksOf(text)).toEqual([]);
  });
});

describe('the rows of a later split', () => {
  const SPLIT =
    'X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=1, stratify=y)';
  const MODEL = [
    'model = Ridge().fit(X_train, y_train)',
    'print("Final Validation Performance:", model.score(X_test, y_test))',
  ];
  const DATA = ['import pandas as pd', 'data = pd.read_csv("train.csv")'];
  const LATE = [
    'from sklearn.linear_model import Ridge',
    'from sklearn.model_selection import train_test_split',
    'from sklearn.preprocessing import StandardScaler',
  ];

  it('REQ-SF-019: are known before a loop that changes other columns than the labels, and before its import', async () => {
    const text = await repairOf([
      ...DATA,
      'data["fee"] = data["fee"].fillna(data["fee"].median())',
      'print(data.filter(regex="_id$").shape)',
      'data["left"] = data["left"].map({"Yes": 1, "No": 0})',
      'flags = ["phone", "letter"]',
      'for flag in flags:',
      '    data[flag] = data[flag].map({"Yes": 1, "No": 0})',
      'data = pd.get_dummies(data)',
      'data["services"] = data.filter(regex="_Yes$").sum(axis=1)',
      ...LATE,
      'X = data.drop(columns="left")',
      'y = data["left"]',
      'X[["fee", "months"]] = StandardScaler().fit_transform(X[["fee", "months"]])',
      SPLIT,
      ...MODEL,
    ]);
    expect(text).toContain(
      'train_test_split(range(len(data)), test_size=0.2, random_state=1, stratify=data["left"].map({"Yes": 1, "No": 0}))',
    );
    expect(text).toContain('data["fee"].fillna(data["fee"].iloc[fit_rows].median())');
    expect(text).toContain(
      'StandardScaler().fit(X[["fee", "months"]].iloc[fit_rows]).transform(X[["fee", "months"]])',
    );
    expect(text.indexOf('import train_test_split')).toBeLessThan(text.indexOf('fit_rows'));
    expect(await leaksOf(text)).toEqual([]);
  });

  const TWO = [
    ...DATA,
    ...LATE,
    'from sklearn.feature_extraction.text import TfidfVectorizer',
    'test = pd.read_csv("test.csv")',
  ];

  it('REQ-SF-019: are the first ones of two tables below each other', async () => {
    const text = await repairOf([
      ...TWO,
      'both = pd.concat([data, test], ignore_index=True)',
      'both["fee"] = both["fee"].fillna(both["fee"].median())',
      'n = len(data)',
      'X = both[:n].drop(columns="left")',
      'y = data["left"]',
      SPLIT,
      ...MODEL,
    ]);
    expect(text).toContain('both["fee"].fillna(both["fee"].iloc[:len(data)].iloc[fit_rows].median())');
    expect(await leaksOf(text)).toEqual([]);
  });

  const TEXTS_BELOW = [
    'corpus = pd.concat([data["text"], test["text"]])',
    'vec = TfidfVectorizer()',
    'vec.fit(corpus)',
    'train, valid = train_test_split(data, test_size=0.2, random_state=1)',
    'model = Ridge().fit(vec.transform(train["text"]), train["left"])',
    'print("Final Validation Performance:", model.score(vec.transform(valid["text"]), valid["left"]))',
  ];

  it('REQ-SF-019: are the first ones of two columns below each other, where the split divides the first table', async () => {
    const text = await repairOf([...TWO, ...TEXTS_BELOW]);
    expect(text).toContain('vec.fit(corpus.iloc[:len(data)].iloc[fit_rows])');
    expect(await leaksOf(text)).toEqual([]);
  });

  it.each([
    ['comes second', TEXTS_BELOW[0]?.replace('data["text"], test["text"]', 'test["text"], data["text"]')],
    ['is put in another order afterward', `${TEXTS_BELOW[0]}\ndata = data.sort_values("left")`],
  ])('REQ-SF-019: are not known if the divided table %s', async (_, first = '') => {
    expect(await repairOf([...TWO, first, ...TEXTS_BELOW.slice(1)])).toMatch(/^Not rewritten/);
  });

  const ENCODED = (encoder: string, imported: string): readonly string[] => [
    ...DATA,
    ...LATE,
    imported,
    `enc = ${encoder}`,
    'data["zone"] = enc.fit_transform(data[["zone"]], data["price"])',
    'X, y = data.drop(columns="price"), data["price"]',
    SPLIT.replace(', stratify=y', ''),
    ...MODEL,
  ];

  it.each([
    ['ce.TargetEncoder(smoothing=10)', 'import category_encoders as ce'],
    ['MEstimateEncoder()', 'from category_encoders import MEstimateEncoder'],
  ])(
    'REQ-SF-019: %s learns from them: it gives its own rows what it gives others',
    async (encoder, imported) => {
      const text = await repairOf(ENCODED(encoder, imported));
      expect(text).toContain(
        'enc.fit(data[["zone"]].iloc[fit_rows], data["price"].iloc[fit_rows]).transform(data[["zone"]])',
      );
      expect(await leaksOf(text)).toEqual([]);
    },
  );

  it.each([
    ['TargetEncoder()', 'from sklearn.preprocessing import TargetEncoder'],
    ['ce.LeaveOneOutEncoder()', 'import category_encoders as ce'],
    ['ce.MEstimateEncoder(randomized=True)', 'import category_encoders as ce'],
  ])(
    'REQ-SF-019: %s is not applied to all rows: it treats its own rows in another way',
    async (encoder, imported) => {
      const text = await repairOf(ENCODED(encoder, imported));
      expect(text).not.toContain('iloc[fit_rows]).transform(data[["zone"]])');
    },
  );
});
