import { describe, expect, it } from 'vitest';
import { analyzeInDetail } from '../../src/leakage/analyze.js';
import { checkRewrite } from '../../src/leakage/repair/check/check-rewrite.js';
import { WorkAllowance } from '../../src/leakage/values/work.js';

const HEAD = [
  'import numpy as np',
  'import pandas as pd',
  'from sklearn.linear_model import Ridge',
  'from sklearn.model_selection import KFold, train_test_split',
  'from sklearn.preprocessing import OneHotEncoder, StandardScaler',
  'df = pd.read_csv("trips.csv")',
];
const TAIL = [
  'model = Ridge().fit(X_tr, y_tr)',
  'print("Final Validation Performance:", model.score(X_va, y_va))',
  '',
];

/** What the check says of a rewrite of the block that holds the script's leaks. */
async function problemWith(lines: readonly string[], block: readonly string[], rewrite: readonly string[]) {
  const source = lines.join('\n');
  const text = block.join('\n');
  const start = source.indexOf(text);
  const analysis = await analyzeInDetail(source);
  const span = { start, end: start + text.length };
  const leaks = analysis.leaks.filter(
    ({ statement }) => statement.start >= span.start && statement.end <= span.end,
  );
  expect(leaks.length).toBeGreaterThan(0);
  const work = new WorkAllowance(Number.POSITIVE_INFINITY);
  return checkRewrite({ source, block: span, leaks, work, watched: new Map() }, analysis, rewrite.join('\n'));
}

const SPLIT = 'X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)';
const FILL = ['mid = X["km"].median()', 'X["km"] = X["km"].fillna(mid)', SPLIT];
const TABLES = ['X, y = df[["km", "kg"]], df["fare"]'];
const script = (...block: string[]): string[] => [...HEAD, ...TABLES, ...block, ...TAIL];
const fill = (part: string): string => `${part}["km"] = ${part}["km"].fillna(mid)`;

describe('the check of a rewrite', () => {
  it('REQ-SF-019: passes a statistic of the training part that fills both parts', async () => {
    const right = [SPLIT, 'mid = X_tr["km"].median()', fill('X_tr'), fill('X_va')];
    expect(await problemWith(script(...FILL), FILL, right)).toBeUndefined();
  });

  it('refuses a loop whose body is not indented, which the grammar alone would take', async () => {
    const wrong = [SPLIT, 'mid = X_tr["km"].median()', 'for part in (X_tr, X_va):', fill('part')];
    expect(await problemWith(script(...FILL), FILL, wrong)).toBe('the rewritten script would not be Python');
  });

  it.each([
    [
      'one part is left as it was',
      [SPLIT, 'mid = X_tr["km"].median()', fill('X_tr')],
      /`X_va` would not be changed/,
    ],
    [
      'a loop over tables leaves one part out',
      [SPLIT, 'mid = X_tr["km"].median()', 'for part in (X_tr,):', `    ${fill('part')}`],
      /`X_va` would not be changed/,
    ],
    [
      'what was learned is replaced by what the other part says',
      [SPLIT, 'mid = X_tr["km"].median()', 'mid = X_va["kg"].count()', fill('X_tr'), fill('X_va')],
      /`mid` would be computed for one part and replaced/,
    ],
    [
      'a name is not there',
      [SPLIT, 'middle = X_tr["km"].median()', fill('X_tr'), fill('X_va')],
      /`mid` would not be defined/,
    ],
    [
      'the scored part is filled with what it says itself',
      [
        SPLIT,
        'X_tr["km"] = X_tr["km"].fillna(X_tr["km"].median())',
        'X_va["km"] = X_va["km"].fillna(X_va["km"].median())',
      ],
      /`X_va\["km"\]\.median\(\)` would be computed over the scored rows/,
    ],
    [
      'a column is read that the table does not have, which got its name beside others',
      [
        SPLIT,
        'mid = X_tr.groupby("zone")["km"].median()',
        ...['X_tr', 'X_va'].map(
          (part) => `${part}["km"] = ${part}["km"].fillna(${part}["zone"].map(mid).fillna(mid.mean()))`,
        ),
      ],
      /column `"?zone"?` (would not be there any more|is not among those that are divided)/,
    ],
  ])('refuses it where %s', async (_, wrong, reason) => {
    expect(await problemWith(script(...FILL), FILL, wrong)).toMatch(reason);
  });

  it('refuses positions in the whole table that pick rows of a part', async () => {
    const gaps = 'gaps = np.where(np.isnan(X))';
    const block = [gaps, 'X[gaps] = np.nanmedian(X)', SPLIT];
    const lines = [...HEAD, 'X, y = df[["km", "kg"]].to_numpy(), df["fare"]', ...block, ...TAIL];
    const part = (name: string, index: string): string => `${name}[${index}] = mid`;
    const learned = 'mid = np.nanmedian(X_tr)';
    const stale = [gaps, SPLIT, learned, part('X_tr', 'gaps'), part('X_va', 'gaps')];
    expect(await problemWith(lines, block, stale)).toMatch(
      /`gaps` holds rows of the whole table, not of `X_tr`/,
    );
    const onOwnRows = [SPLIT, learned, part('X_tr', 'np.isnan(X_tr)'), part('X_va', 'np.isnan(X_va)')];
    expect(await problemWith(lines, block, onOwnRows)).toBeUndefined();
  });

  it('refuses rows left out of a concatenation that is divided again by position', async () => {
    const block = ['both = pd.concat([train, valid])', 'scaler = StandardScaler().fit(both)'];
    const lines = (...after: string[]): string[] => [
      ...HEAD,
      'train, valid = pd.read_csv("train.csv"), pd.read_csv("valid.csv")',
      'y_tr, y_va = train.pop("fare"), valid.pop("fare")',
      ...block,
      ...after,
      ...TAIL,
    ];
    const rewrite = ['both = train', 'scaler = StandardScaler().fit(both)'];
    const sliced = lines(
      'scaled = scaler.transform(both)',
      'X_tr, X_va = scaled[:len(train)], scaled[len(train):]',
    );
    expect(await problemWith(sliced, block, rewrite)).toMatch(/picks rows by position/);
    const separately = lines('X_tr, X_va = scaler.transform(train), scaler.transform(valid)');
    expect(await problemWith(separately, block, rewrite)).toBeUndefined();
    const written = lines(
      'both.to_csv("submission.csv")',
      'X_tr, X_va = scaler.transform(train), scaler.transform(valid)',
    );
    expect(await problemWith(written, block, rewrite)).toMatch(/`both` is written to a file/);
  });

  it('refuses a table of another file that every fold would scale once more', async () => {
    const block = [
      'scaler = StandardScaler()',
      'X[cols] = scaler.fit_transform(X[cols])',
      'test[cols] = scaler.transform(test[cols])',
      'scores = []',
      'for tr, va in KFold(5).split(X):',
      '    X_tr, X_va = X.iloc[tr], X.iloc[va]',
    ];
    const lines = [
      ...HEAD,
      ...TABLES,
      'test, cols = pd.read_csv("test.csv"), ["km", "kg"]',
      ...block,
      '    model = Ridge().fit(X_tr, y.iloc[tr])',
      '    scores.append(model.score(X_va, y.iloc[va]))',
      'print("Final Validation Performance:", np.mean(scores))',
      '',
    ];
    const rewrite = (...more: string[]): string[] => [
      'scaler = StandardScaler()',
      'scores = []',
      'for tr, va in KFold(5).split(X):',
      '    X_tr, X_va = X.iloc[tr], X.iloc[va]',
      '    X_tr[cols] = scaler.fit_transform(X_tr[cols])',
      '    X_va[cols] = scaler.transform(X_va[cols])',
      ...more,
    ];
    expect(await problemWith(lines, block, rewrite('    test[cols] = scaler.transform(test[cols])'))).toMatch(
      /`test` would be changed again in every fold/,
    );
    const copied = rewrite('    now = test.copy()', '    now[cols] = scaler.transform(now[cols])');
    expect(await problemWith(lines, block, copied)).toBeUndefined();
  });

  const FIT = ['scaler = StandardScaler().fit(X)', 'X = scaler.transform(X)'];
  const FITTED = [
    'scaler = StandardScaler().fit(X_tr)',
    'X_tr = scaler.transform(X_tr)',
    'X_va = scaler.transform(X_va)',
  ];
  const PLOT = 'plt.bar(["km", "kg"], scaler.mean_)';
  const NOISE = 'noise = np.random.normal(size=3)';
  it.each([
    ['a figure shown before it is drawn', [PLOT, 'plt.show()'], ['plt.show()'], [PLOT], /draw on a figure/],
    ['a drawing made twice', [PLOT], [], [PLOT, PLOT], /made twice/],
    [
      'a drawing on the figure of another cell',
      ['# %%', 'plt.plot(scaler.mean_)', '# %%', 'plt.plot(scaler.scale_)'],
      ['# %%', '# %%'],
      ['plt.plot(scaler.mean_)', 'plt.plot(scaler.scale_)'],
      /draw on a figure/,
    ],
    [
      'a method of axes before another one',
      ['fig, axes = plt.subplots(2)', 'for ax in axes:', '    ax.plot(scaler.mean_)', 'axes[0].legend()'],
      ['fig, axes = plt.subplots(2)', 'axes[0].legend()'],
      ['for ax in axes:', '    ax.plot(scaler.mean_)'],
      /draw on a figure/,
    ],
    [
      'a line printed before its heading',
      ['print(scaler.mean_)', 'print("end")'],
      ['print("end")'],
      ['print(scaler.mean_)'],
      /printed lines/,
    ],
    [
      'a file written before another one',
      ['np.save("mean.npy", scaler.mean_)', 'df.to_csv("all.csv")'],
      ['df.to_csv("all.csv")'],
      ['np.save("mean.npy", scaler.mean_)'],
      /writes of files/,
    ],
    [
      'a draw before another one',
      [NOISE, 'order = np.random.permutation(9)'],
      ['order = np.random.permutation(9)'],
      [NOISE],
      /random draws/,
    ],
  ])('refuses %s', async (_, lines, above, below, reason) => {
    const block = [...FIT, ...lines, SPLIT];
    const seeded = ['import matplotlib.pyplot as plt', 'import numpy as np', 'np.random.seed(1)'];
    const whole = [...seeded, ...script(...block)];
    expect(await problemWith(whole, block, [...above, SPLIT, ...FITTED, ...below])).toMatch(reason);
    // All of them after the split, in their order: nothing is another.
    expect(await problemWith(whole, block, [SPLIT, ...FITTED, ...lines])).toBeUndefined();
  });

  it('refuses an encoder that would stop at categories of the scored rows', async () => {
    const block = (encoder: string): string[] => [
      `encoder = ${encoder}`,
      'X = encoder.fit_transform(df[["km"]])',
      SPLIT,
    ];
    const rewrite = (encoder: string): string[] => [
      `encoder = ${encoder}`,
      'X_tr, X_va, y_tr, y_va = train_test_split(df[["km"]], y, random_state=0)',
      'X_tr = encoder.fit_transform(X_tr)',
      'X_va = encoder.transform(X_va)',
    ];
    const strict = 'OneHotEncoder(min_frequency=9)';
    expect(await problemWith(script(...block(strict)), block(strict), rewrite(strict))).toMatch(
      /`OneHotEncoder` stops at a category/,
    );
    const encoder = 'OneHotEncoder(handle_unknown="ignore", min_frequency=9)';
    expect(await problemWith(script(...block(encoder)), block(encoder), rewrite(encoder))).toBeUndefined();
  });
});

describe('columns that were listed before the table lost some of them', () => {
  const listing = (list: string, ...more: string[]): string[] => [
    list,
    ...more,
    'df[num] = df[num].fillna(df[num].median())',
  ];
  const moved = [
    'mid = X_tr[num].median()',
    ...['X_tr', 'X_va'].map((part) => `${part}[num] = ${part}[num].fillna(mid)`),
  ];
  const asked = async (list: readonly string[], take: string) => {
    const [fit = '', ...before] = list.toReversed();
    const block = [...before.toReversed(), fit, take, SPLIT];
    const after = [...before.toReversed(), take, SPLIT, ...moved];
    return problemWith([...HEAD, ...block, ...TAIL], block, after);
  };
  const dropped = 'X, y = df.drop(columns="fare"), df["fare"]';

  it.each([
    ['by their type', 'num = df.select_dtypes("number").columns', dropped],
    ['all', 'num = df.columns', dropped],
    ['as a list of all', 'num = list(df)', 'y = df["fare"]\nX = df.drop(["fare"], axis=1)'],
    ['one by one', 'num = [c for c in df.columns if df[c].dtype != "object"]', dropped],
    ['that are described', 'num = df.describe().columns', 'y = df.pop("fare")\nX = df'],
    ['that have a mean', 'num = df.mean(numeric_only=True).index', 'y = df["fare"]\ndel df["fare"]\nX = df'],
    ['up to some position', 'num = df.columns', 'y = df["fare"]\nX = df.iloc[:, :-1]'],
    [
      'beside another that goes',
      'num = df.columns.drop("fare")',
      'X, y = df.drop(columns=["fare", "id"]), df["fare"]',
    ],
    ['of which some are picked', 'num = df.columns', 'X, y = df[["km", "kg"]], df["fare"]'],
  ])('REQ-SF-019: are not taken of the parts (%s)', async (_, list, take) => {
    expect(await asked(listing(list), take)).toMatch(/`num` lists columns that `X_tr` does not have/);
  });

  it.each([
    ['leaves them out', listing('num = df.select_dtypes("number").columns.drop("fare")')],
    ['leaves them out by a condition', listing("num = [c for c in df.columns if c != 'fare']")],
    ['loses them', listing('num = list(df.columns)', 'num.remove("fare")')],
    [
      'is of the table without them',
      listing('num = df.drop(columns="fare").select_dtypes("number").columns'),
    ],
    ['is written out', listing('num = ["km", "kg"]')],
  ])('are taken of the parts where the list %s', async (_, list) => {
    expect(await asked(list, dropped)).toBeUndefined();
  });
});

it('REQ-SF-019: refuses lines of a fold that change a table which the fold has read before them', async () => {
  const block = (...inside: string[]): string[] => [
    'mid = X["km"].median()',
    'X["km"] = X["km"].fillna(mid)',
    'test["km"] = test["km"].fillna(mid)',
    'scores = []',
    ...folds(...inside),
  ];
  const folds = (...inside: string[]): string[] => [
    'for tr, va in KFold(5).split(X):',
    ...inside.map((line) => `    ${line}`),
    '    model = Ridge().fit(A, y.iloc[tr])',
    '    scores.append(model.score(B, y.iloc[va]))',
    '    print(model.predict(C))',
  ];
  const learned = [
    'test = test_before.copy()',
    'mid = A["km"].median()',
    ...['A', 'B', 'test'].map((part) => `${part}["km"] = ${part}["km"].fillna(mid)`),
  ];
  const head = [...HEAD, 'test = pd.read_csv("test.csv")', ...TABLES];
  const rewritten = (...inside: string[]): string[] => [
    'scores = []',
    'test_before = test',
    ...folds(...inside),
  ];
  const parts = 'A, B = X.iloc[tr], X.iloc[va]';
  const found = (inside: readonly string[], rewrite: readonly string[]) =>
    problemWith(
      [...head, ...block(...inside), 'print("Final Validation Performance:", np.mean(scores))', ''],
      block(...inside),
      rewritten(...rewrite),
    );
  const reason = '`test` is read in the loop before the lines that would change it there';
  expect(
    await found(
      ['A, B, C = X.iloc[tr], X.iloc[va], test'],
      ['A, B, C = X.iloc[tr], X.iloc[va], test', ...learned],
    ),
  ).toBe(reason);
  expect(await found(['C = test', parts], ['C = test', parts, ...learned])).toBe(reason);
  // Another loop has changed the table before: that says nothing about the folds.
  const inLoop = [
    'for c in ["km"]:',
    '    mid = X[c].median()',
    '    X[c] = X[c].fillna(mid)',
    '    test[c] = test[c].fillna(mid)',
  ];
  const taken = ['C = test', parts];
  expect(
    await problemWith(
      [
        ...head,
        ...inLoop,
        'scores = []',
        ...folds(...taken),
        'print("Final Validation Performance:", np.mean(scores))',
        '',
      ],
      [...inLoop, 'scores = []', ...folds(...taken)],
      rewritten(...taken, ...learned),
    ),
  ).toBe(reason);
  expect(await found([parts, 'C = test'], [parts, ...learned, 'C = test'])).toBeUndefined();
  expect(
    await found(
      ['print(len(test), test.shape)', parts, 'C = test'],
      ['print(len(test), test.shape)', parts, ...learned, 'C = test'],
    ),
  ).toBeUndefined();
});
