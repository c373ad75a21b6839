import { describe, expect, it } from 'vitest';
import { analyzeInDetail } from '../../src/leakage/analyze.js';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';
import { checkRewrite } from '../../src/leakage/repair/check/check-rewrite.js';
import { WorkAllowance } from '../../src/leakage/values/work.js';
import { labeledScripts } from './labeled-scripts.js';

/** A table that is scaled with its label in it, and divided by position. */
const BY_POSITION = [
  'import numpy as np',
  'from sklearn.linear_model import LinearRegression',
  'from sklearn.preprocessing import MinMaxScaler',
  'rows = np.loadtxt("prices.csv", delimiter=",")',
  'rows = MinMaxScaler().fit_transform(rows)',
  'inputs = rows[:, 0:-1]',
  'prices = rows[:, [-1]]',
];
const DIVIDED = [
  'cut = int(len(inputs) * 0.7)',
  'a_in, b_in = inputs[:cut], inputs[cut:]',
  'a_out, b_out = prices[:cut], prices[cut:]',
  'net = LinearRegression().fit(a_in, a_out)',
  'print("Final Validation Performance:", net.score(b_in, b_out))',
  '',
];
/** A model of all rows that is only looked at. */
const LOOKED_AT = [
  'import pandas as pd',
  'from sklearn.linear_model import LinearRegression',
  'from sklearn.preprocessing import StandardScaler',
  'table = pd.read_csv("prices.csv")',
  'X = StandardScaler().fit_transform(table.drop(columns="close"))',
  'y = table["close"]',
  'every = LinearRegression().fit(X, y)',
  'print("coefficients", every.coef_)',
  'cut = int(len(X) * 0.8)',
  'X_train, X_val = X[:cut], X[cut:]',
  'y_train, y_val = y[:cut], y[cut:]',
  'net = LinearRegression().fit(X_train, y_train)',
  'print("Final Validation Performance:", net.score(X_val, y_val))',
  '',
];

function sampled(...between: string[]): string[] {
  return [
    'import numpy as np',
    'import pandas as pd',
    'from imblearn.over_sampling import SMOTE',
    'from sklearn.decomposition import PCA',
    'from sklearn.linear_model import LogisticRegression',
    'from sklearn.model_selection import train_test_split',
    'data = pd.read_csv("wards.csv")',
    'X, y = data.drop(["health"], axis=1), data["health"]',
    'X, y = SMOTE().fit_resample(X, y)',
    ...between,
    'x_train, x_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)',
    'model = LogisticRegression().fit(x_train, y_train)',
    'print("Final Validation Performance:", model.score(x_test, y_test))',
    '',
  ];
}

async function repairOf(lines: readonly string[]): Promise<string> {
  const script = lines.join('\n');
  const [finding] = (await analyzeLeakage(script)).findings;
  const repair = await repairLeak(script, finding?.codeBlock ?? '');
  return repair.ok ? repair.replacement : repair.reason;
}

/** What the check says of a rewrite of some lines. */
async function problemWith(lines: readonly string[], block: readonly string[], rewrite: readonly string[]) {
  const source = lines.join('\n');
  const start = source.indexOf(block.join('\n'));
  const span = { start, end: start + block.join('\n').length };
  const analysis = await analyzeInDetail(source);
  const leaks = analysis.leaks.filter(
    ({ statement }) => statement.start >= span.start && statement.end <= span.end,
  );
  expect(leaks.length).toBeGreaterThan(0);
  const work = new WorkAllowance(Number.POSITIVE_INFINITY);
  return checkRewrite({ source, block: span, leaks, work, watched: new Map() }, analysis, rewrite.join('\n'));
}

describe('a rewrite that would change more than where something is learned', () => {
  it.each([
    ['a table is scaled with its label in it', [...BY_POSITION, ...DIVIDED], /in another order/],
    [
      'rows are deleted on the way',
      [...BY_POSITION, 'inputs = np.delete(inputs, -1, 0)', 'prices = np.delete(prices, 0)', ...DIVIDED],
      /in another order/,
    ],
    [
      'a model of all rows is fitted on the way',
      [...BY_POSITION, 'net = LinearRegression()', 'net.fit(inputs, prices)', ...DIVIDED],
      /fitted on other rows/,
    ],
    ['a model of all rows is only looked at', LOOKED_AT, /made by what has to move/],
    [
      'a projection is between the over-sampling and the split',
      sampled('X = PCA(2).fit_transform(X)'),
      /changed/,
    ],
  ])('REQ-SF-019: is not made where %s', async (_, lines, reason) => {
    expect(await repairOf(lines)).toMatch(new RegExp(`^Not rewritten: .*${reason.source}`));
  });

  it('steps of single rows after the over-sampling are made for both parts', async () => {
    const rewritten = await repairOf(sampled('rate = 2', 'X = np.log1p(X) * rate'));
    expect(rewritten.split('\n')).toEqual([
      'x_train, x_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)',
      'rate = 2',
      'x_train, y_train = SMOTE().fit_resample(x_train, y_train)',
      'x_train = np.log1p(x_train) * rate',
      'x_test = np.log1p(x_test) * rate',
    ]);
  });
});

const HEAD = [
  'import numpy as np',
  'import pandas as pd',
  'from sklearn.linear_model import Ridge',
  'from sklearn.model_selection import train_test_split',
  'from sklearn.preprocessing import StandardScaler',
  'df = pd.read_csv("trips.csv")',
  'X, y = df[["km", "kg"]], df["fare"]',
];
const SPLIT = 'a, b, ya, yb = train_test_split(X, y, random_state=0)';
const SCALED = ['s = StandardScaler()', 'a = s.fit_transform(a)', 'b = s.transform(b)'];
const TAIL = ['model = Ridge().fit(a, ya)', 'print("Final Validation Performance:", model.score(b, yb))', ''];

it('REQ-SF-019: a model of all rows that is only looked at stays as it is', async () => {
  const lines = LOOKED_AT.map((line) =>
    line.startsWith('X_train,')
      ? 'X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=3)'
      : line,
  ).filter((line) => !/^(cut|y_train)/.test(line));
  const split = 'from sklearn.model_selection import train_test_split';
  expect((await repairOf([split, ...lines])).split('\n')).toEqual([
    'fit_rows, rest_rows = train_test_split(range(len(table)), random_state=3)',
    'X = StandardScaler().fit(table.iloc[fit_rows].drop(columns="close")).transform(table.drop(columns="close"))',
    'y = table["close"]',
    'every = LinearRegression().fit(X, y)',
    'print("coefficients", every.coef_)',
    'X_train, X_val = X[fit_rows], X[rest_rows]',
    'y_train, y_val = y.iloc[fit_rows], y.iloc[rest_rows]',
  ]);
});

it('a choice is not made on one of several values that a line gives together', async () => {
  const script = labeledScripts('disguises.txt').find(({ id }) => id === 'L62')?.script ?? '';
  expect(await repairOf(script.split('\n'))).toMatch(/^Not rewritten: `a` is not made in one line/);
});

it('REQ-SF-019: a table of all rows that is made beside the fit is not put beside the training rows', async () => {
  const script = labeledScripts('disguises.txt').find(({ id }) => id === 'HK89')?.script ?? '';
  expect(await repairOf(script.split('\n'))).toMatch(/^Not rewritten/);
});

it('the table of labels is not scaled by a scaler of its own', async () => {
  const script = labeledScripts('corrections.txt').find(({ id }) => id === 'T26')?.script ?? '';
  expect(await repairOf(script.split('\n'))).toContain('.fit(table[fit_rows]).transform(table)');
});

describe('the check of the steps', () => {
  const logged = ['s = StandardScaler()', 'X = s.fit_transform(X)', 'X = np.log1p(X)', SPLIT];
  const twice = ['s = StandardScaler()', 'X = s.fit_transform(X)', 'print(X.mean())', SPLIT];
  it.each([
    ['a step is lost', logged, [SPLIT, ...SCALED], /`a` would lose a step \(log1p/],
    [
      'steps change places',
      logged,
      ['X = np.log1p(X)', SPLIT, ...SCALED],
      /`a` would go through its steps in another order/,
    ],
    [
      'a step comes twice',
      logged,
      [SPLIT, ...SCALED, ...['a', 'b', 'a', 'b'].map((part) => `${part} = np.log1p(${part})`)],
      /`a` would go through a step more/,
    ],
    [
      'the rows are divided in another way',
      logged,
      [SPLIT.replace('=0', '=1'), ...SCALED, 'a = np.log1p(a)', 'b = np.log1p(b)'],
      /`a` would hold other rows/,
    ],
    [
      'features and labels come from different parts',
      [...logged, 'first = Ridge().fit(a, ya)'],
      [SPLIT, ...SCALED, 'a = np.log1p(a)', 'b = np.log1p(b)', 'first = Ridge().fit(a, y)'],
      /`Ridge\(\)\.fit\(a, y\)` would get rows of different parts/,
    ],
    [
      'a line that shows something is copied',
      twice,
      [SPLIT, ...SCALED, 'print(a.mean())', 'print(b.mean())'],
      /shows something would be made twice/,
    ],
  ])('refuses a rewrite where %s', async (_, block, rewrite, reason) => {
    expect(await problemWith([...HEAD, ...block, ...TAIL], block, rewrite)).toMatch(reason);
  });

  it('takes the same steps for each part', async () => {
    const right = [SPLIT, ...SCALED, 'a = np.log1p(a)', 'b = np.log1p(b)'];
    expect(await problemWith([...HEAD, ...logged, ...TAIL], logged, right)).toBeUndefined();
  });

  it('takes steps of other columns in another order', async () => {
    const block = [
      'df["km"] = df["km"].fillna(df["km"].mean())',
      'df["kg"] = df["kg"] * 2',
      HEAD[6] ?? '',
      SPLIT,
    ];
    const rewrite = [
      'df["kg"] = df["kg"] * 2',
      HEAD[6] ?? '',
      SPLIT,
      'mid = a["km"].mean()',
      'a["km"] = a["km"].fillna(mid)',
      'b["km"] = b["km"].fillna(mid)',
    ];
    expect(await problemWith([...HEAD.slice(0, 6), ...block, ...TAIL], block, rewrite)).toBeUndefined();
  });
});
