import { describe, expect, it } from 'vitest';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';

const HEAD = [
  'import numpy as np',
  'import pandas as pd',
  'from imblearn.over_sampling import SMOTE',
  'from sklearn.ensemble import RandomForestClassifier',
  'from sklearn.model_selection import KFold, train_test_split',
  'from sklearn.utils import resample, shuffle',
  'from sklearn.metrics import f1_score',
  'def balance(frame, label):',
  '    big = frame[frame[label] == 0]',
  '    small = frame[frame[label] == 1]',
  '    up = resample(small, replace=True, n_samples=len(big), random_state=0)',
  '    return pd.concat([big, up]).sample(frac=1, random_state=0)',
  'def flip(images, labels):',
  '    return np.concatenate([images, images[:, ::-1]]), np.concatenate([labels, labels])',
  'df = pd.read_csv("train.csv")',
];
const SPLIT = 'tr, va = train_test_split(df, test_size=0.2, random_state=1, stratify=df["y"])';
const FIT = [
  'model = RandomForestClassifier(random_state=0)',
  'model.fit(tr.drop(columns="y"), tr["y"])',
  'print("Final Validation Performance:", f1_score(va["y"], model.predict(va.drop(columns="y"))))',
];

/** The script after the repair of its only leak, without the lines that are the same; or why there is none. */
async function repairOf(lines: readonly string[]): Promise<string> {
  const source = `${[...HEAD, ...lines].join('\n')}\n`;
  const [finding] = (await analyzeLeakage(source)).findings;
  if (finding === undefined) throw new Error('nothing was found');
  const repair = await repairLeak(source, finding.codeBlock);
  if (!repair.ok) return repair.reason;
  const text = source.replace(repair.codeBlock, () => repair.replacement);
  expect((await analyzeLeakage(text)).findings).toEqual([]);
  const known = new Set([...HEAD, ...FIT]);
  return text
    .split('\n')
    .filter((line) => line !== '' && !known.has(line))
    .join('\n');
}

describe('rows that are copied before the split', () => {
  it.each([
    [
      'by a helper: only the training part goes through it',
      ['df = balance(df, "y")', 'print(len(df))', SPLIT, ...FIT],
      [SPLIT, 'tr = balance(tr, "y")', 'print(len(tr))'],
    ],
    [
      'in lines that pick some of them first: all of these work on the training part',
      [
        'big = df[df["y"] == 0]',
        'small = df[df["y"] == 1]',
        'up = resample(small, replace=True, n_samples=len(big), random_state=0)',
        'both = pd.concat([big, up])',
        'both["y"].value_counts()',
        'tr, va = train_test_split(both, test_size=0.2, random_state=1)',
        ...FIT,
      ],
      [
        'tr, va = train_test_split(df, test_size=0.2, random_state=1)',
        'big = tr[tr["y"] == 0]',
        'small = tr[tr["y"] == 1]',
        'up = resample(small, replace=True, n_samples=len(big), random_state=0)',
        'tr = pd.concat([big, up])',
        'tr["y"].value_counts()',
      ],
    ],
    [
      'before features and labels are taken: the table is divided, and both parts give theirs',
      [
        'df = balance(df, "y")',
        'X, y = df.drop(columns="y"), df["y"]',
        'a, b, ya, yb = train_test_split(X, y, test_size=0.2, random_state=1, stratify=y)',
        'm = RandomForestClassifier(random_state=0).fit(a, ya)',
        'print("Final Validation Performance:", f1_score(yb, m.predict(b)))',
      ],
      [
        'df_train, df_test = train_test_split(df, test_size=0.2, random_state=1, stratify=df["y"])',
        'df_train = balance(df_train, "y")',
        'a, ya = df_train.drop(columns="y"), df_train["y"]',
        'b, yb = df_test.drop(columns="y"), df_test["y"]',
        'm = RandomForestClassifier(random_state=0).fit(a, ya)',
        'print("Final Validation Performance:", f1_score(yb, m.predict(b)))',
      ],
    ],
    [
      'features and labels together, and scaled row by row afterward',
      [
        'X, y = df.drop(columns="y").to_numpy(), df["y"].to_numpy()',
        'X, y = flip(X, y)',
        'X = X / 255.0',
        'a, b, ya, yb = train_test_split(X, y, random_state=1)',
        'm = RandomForestClassifier(random_state=0).fit(a, ya)',
        'print("Final Validation Performance:", f1_score(yb, m.predict(b)))',
      ],
      [
        'X, y = df.drop(columns="y").to_numpy(), df["y"].to_numpy()',
        'a, b, ya, yb = train_test_split(X, y, random_state=1)',
        'a, ya = flip(a, ya)',
        'a = a / 255.0',
        'b = b / 255.0',
        'm = RandomForestClassifier(random_state=0).fit(a, ya)',
        'print("Final Validation Performance:", f1_score(yb, m.predict(b)))',
      ],
    ],
    [
      'by a sampler in a function that returns the parts',
      [
        'def parts(frame):',
        '    X, y = frame.drop(columns="y"), frame["y"]',
        '    X, y = SMOTE(random_state=0).fit_resample(X, y)',
        '    return train_test_split(X, y, random_state=1, stratify=y)',
        'a, b, ya, yb = parts(df)',
        'm = RandomForestClassifier(random_state=0).fit(a, ya)',
        'print("Final Validation Performance:", f1_score(yb, m.predict(b)))',
      ],
      [
        'def parts(frame):',
        '    X, y = frame.drop(columns="y"), frame["y"]',
        '    x_train, x_test, y_train, y_test = train_test_split(X, y, random_state=1, stratify=y)',
        '    x_train, y_train = SMOTE(random_state=0).fit_resample(x_train, y_train)',
        '    return x_train, x_test, y_train, y_test',
        'a, b, ya, yb = parts(df)',
        'm = RandomForestClassifier(random_state=0).fit(a, ya)',
        'print("Final Validation Performance:", f1_score(yb, m.predict(b)))',
      ],
    ],
    [
      'before a loop over folds: in each fold, the training rows are copied',
      [
        'df = balance(df, "y")',
        'cols = [c for c in df.columns if c != "y"]',
        'for a, b in KFold(5).split(df):',
        '    tr, va = df.iloc[a], df.iloc[b]',
        '    m = RandomForestClassifier(random_state=0).fit(tr[cols], tr["y"])',
        '    print("Final Validation Performance:", f1_score(va["y"], m.predict(va[cols])))',
      ],
      [
        'cols = [c for c in df.columns if c != "y"]',
        'for a, b in KFold(5).split(df):',
        '    tr, va = df.iloc[a], df.iloc[b]',
        '    tr = balance(tr, "y")',
        '    m = RandomForestClassifier(random_state=0).fit(tr[cols], tr["y"])',
        '    print("Final Validation Performance:", f1_score(va["y"], m.predict(va[cols])))',
      ],
    ],
  ])('REQ-SF-019: %s', async (_, lines, wanted) => {
    expect(await repairOf(lines)).toBe(wanted.join('\n'));
  });

  it('REQ-SF-019: a helper that is called once and changes the table too is inlined', async () => {
    const text = await repairOf([
      'def more(frame):',
      '    frame["ratio"] = frame["a"] / frame["b"]',
      '    return pd.concat([frame, frame.sample(frac=0.5, random_state=0)])',
      'df = more(df)',
      SPLIT,
      ...FIT,
    ]);
    expect(text.split('\n')).toEqual([
      'df["ratio"] = df["a"] / df["b"]',
      SPLIT,
      'tr = pd.concat([tr, tr.sample(frac=0.5, random_state=0)])',
    ]);
  });

  it.each([
    [
      'a helper that changes the table too, since the scored rows would lack the change',
      [
        'def more(frame):',
        '    frame["ratio"] = frame["a"] / frame["b"]',
        '    return pd.concat([frame, frame.sample(frac=0.5, random_state=0)])',
        // Handed over, so that it is not inlined.
        'helpers = [more]',
        'df = more(df)',
        SPLIT,
        ...FIT,
      ],
      '`frame` is changed where its rows are copied',
    ],
    [
      'a helper that gives the copies a column',
      [
        'def more(frame):',
        '    copy = frame.copy()',
        '    copy["copied"] = 1',
        '    return pd.concat([frame, copy])',
        'df = more(df)',
        SPLIT,
        ...FIT,
      ],
      'the copied rows get a column that the other rows may lack',
    ],
    [
      'a helper that alters all rows',
      [
        'def more(frame):',
        '    halves = frame / 2',
        '    return pd.concat([halves, halves.sample(frac=0.5, random_state=0)])',
        // Handed over, so that it is not inlined.
        'helpers = [more]',
        'df = more(df)',
        SPLIT,
        ...FIT,
      ],
      'all rows of `df` are altered, so the scored rows would lack a step',
    ],
    [
      'a number of copies that is that of all rows',
      ['df = df.sample(n=5000, replace=True, random_state=0)', SPLIT, ...FIT],
      'the number of rows that are copied is that of all rows',
    ],
    [
      'copied rows that are read after the split',
      ['df = balance(df, "y")', SPLIT, ...FIT, 'df.to_csv("balanced.csv")'],
      '`df` is read again after the split',
    ],
    [
      'an option of the split that is counted in between',
      [
        'df = balance(df, "y")',
        'share = 100 / len(df)',
        'tr, va = train_test_split(df, test_size=share, random_state=1)',
        ...FIT,
      ],
      '`test_size` of the split is not known before the rows are copied',
    ],
  ])('REQ-SF-019: is not rewritten: %s', async (_, lines, reason) => {
    expect(await repairOf(lines)).toContain(reason);
  });
});
