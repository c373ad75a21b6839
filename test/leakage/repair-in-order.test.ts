import { describe, expect, it } from 'vitest';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';

/** The script as the repair of its first leak leaves it, or why there is none. */
async function corrected(source: string): Promise<string> {
  const [finding] = (await analyzeLeakage(source)).findings;
  const repair = await repairLeak(source, finding?.codeBlock ?? '');
  return repair.ok ? source.replace(repair.codeBlock, () => repair.replacement) : repair.reason;
}

describe('rows of several series', () => {
  const READ = 'df = pd.read_csv("sales.csv", parse_dates=["day"])';
  const HEAD = [
    'import numpy as np',
    'import pandas as pd',
    'from sklearn.ensemble import RandomForestRegressor',
    'from sklearn.model_selection import KFold, train_test_split',
    READ,
    'df = df.sort_values(["shop", "day"]).reset_index(drop=True)',
    'df["before"] = df.groupby("shop")["sold"].shift(1)',
    'df = df.dropna(subset=["before"])',
  ];
  const SPLIT =
    'a, b, ya, yb = train_test_split(df[["before", "price"]], np.log1p(df["sold"]), test_size=0.2, random_state=3)';
  const SORTED = 'df = df.sort_values("day", kind="stable")';
  const IN_ORDER = SPLIT.replace('random_state=3', 'shuffle=False');
  const TAIL = [
    'print("Final Validation Performance:", RandomForestRegressor().fit(a, ya).score(b, yb))',
    '',
  ];
  const script = (...lines: string[]): string => [...HEAD, ...lines, ...TAIL].join('\n');

  it('REQ-SF-019: are divided in the order of their dates', async () => {
    const source = script(SPLIT);
    const right = source.replace(SPLIT, `${SORTED}\n${IN_ORDER}`);
    expect(await corrected(source)).toBe(right);
    expect((await analyzeLeakage(right)).findings).toEqual([]);
  });

  it('are put in order before features and labels are taken of them', async () => {
    const taken = ['X = df.drop(columns=["sold", "day"])', 'y = df["sold"]'];
    const split = 'a, b, ya, yb = train_test_split(X, y, test_size=0.2, random_state=3)';
    const source = script(...taken, split);
    expect(await corrected(source)).toBe(
      source
        .replace(taken.join('\n'), `${SORTED}\n${taken.join('\n')}`)
        .replace(split, split.replace('random_state=3', 'shuffle=False')),
    );
  });

  it('get the folds of a series, by positions that are labels as well', async () => {
    const folds = [
      'scores = []',
      'for tr, va in KFold(n_splits=4, shuffle=True, random_state=0).split(df):',
      '    model = RandomForestRegressor().fit(df.loc[tr, ["before"]], df.loc[tr, "sold"])',
      '    scores.append(model.score(df.loc[va, ["before"]], df.loc[va, "sold"]))',
      'print("Final Validation Performance:", np.mean(scores))',
      '',
    ];
    const source = [...HEAD, ...folds].join('\n');
    const repaired = await corrected(source);
    expect(repaired).toContain(`${SORTED}.reset_index(drop=True)\n`);
    expect(repaired).toContain('in TimeSeriesSplit(n_splits=4).split(df):');
    // Positions are no labels of a table of its own, whose rows keep their order.
    const other = source
      .replace('scores = []', 'prices = pd.read_csv("prices.csv")\nscores = []')
      .replace('fit(df.loc[tr, ["before"]]', 'fit(prices.loc[tr, ["before"]]');
    expect(await corrected(other)).toMatch(/several series/);
  });

  it.each([
    ['no column holds dates', [SPLIT], READ.replace(', parse_dates=["day"]', '')],
    ['two columns do', [SPLIT], READ.replace('"day"', '"day", "due"')],
    ['the dates are dropped', ['df = df.drop(columns=["day"])', SPLIT], READ],
    ['the dates become the index', ['df = df.set_index("day")', SPLIT], READ],
    ['some columns are kept', ['df = df[["before", "price", "sold"]]', SPLIT], READ],
    [
      'a helper keeps some columns',
      ['def few(t):', '    return t[["before", "price", "sold"]]', 'df = few(df)', SPLIT],
      READ,
    ],
    [
      'the columns get other names',
      ['df.columns = ["shop", "day_of_sale", "price", "sold", "before"]', SPLIT],
      READ,
    ],
    [
      'a helper makes a table of its own',
      [
        'def table(t):',
        '    out = t[["before", "price", "sold"]].copy()',
        '    return out',
        'df = table(df)',
        SPLIT,
      ],
      READ,
    ],
    [
      'the labels are an array of the order before',
      ['y = df["sold"].to_numpy()', 'df = df.assign(price=1)', SPLIT.replace('np.log1p(df["sold"])', 'y')],
      READ,
    ],
    [
      'a later line has an array of the order before',
      ['was = df["price"].to_numpy()', 'df = df.assign(price=1)', SPLIT, 'print(was[:3])'],
      READ,
    ],
  ])('stay where %s', async (_, lines, read) => {
    expect(await corrected(script(...lines).replace(READ, read))).toMatch(
      /how to divide the time is a decision/,
    );
  });
});

describe('a lag that is looked up by the time of the row', () => {
  it('REQ-SF-019: is one of a series, which gets its folds', async () => {
    const source = [
      'import numpy as np',
      'import pandas as pd',
      'from sklearn.linear_model import Ridge',
      'from sklearn.model_selection import KFold',
      'df = pd.read_csv("load.csv", index_col="t", parse_dates=True).sort_index()',
      'known = df["load"].to_dict()',
      'df["week_ago"] = (df.index - pd.Timedelta("7 days")).map(known)',
      'df = df.dropna()',
      'out = []',
      'for a, b in KFold(5, shuffle=True, random_state=0).split(df):',
      '    model = Ridge().fit(df[["week_ago"]].iloc[a], df["load"].iloc[a])',
      '    out.append(model.score(df[["week_ago"]].iloc[b], df["load"].iloc[b]))',
      'print("Final Validation Performance:", np.mean(out))',
      '',
    ].join('\n');
    const repaired = await corrected(source);
    expect(repaired).toContain('for a, b in TimeSeriesSplit(n_splits=5).split(df):');
    expect((await analyzeLeakage(repaired)).findings).toEqual([]);
  });
});

describe('early stopping on the last rows of a series', () => {
  const HEAD = [
    'import numpy as np',
    'from lightgbm import LGBMRegressor, early_stopping',
    'from tensorflow import keras',
    'X, y = np.load("x.npy"), np.load("y.npy")',
    'n = int(len(X) * 0.8)',
    'X_tr, X_te = X[:n], X[n:]',
    'y_tr, y_te = y[:n], y[n:]',
  ];
  const script = (...lines: string[]): string => [...HEAD, ...lines, ''].join('\n');

  it('REQ-SF-019: stops on the last training rows', async () => {
    const fit =
      'model.fit(X_tr, y_tr, validation_data=(X_te, y_te), epochs=9, callbacks=[keras.callbacks.EarlyStopping()])';
    const source = script(
      'model = keras.Sequential([keras.layers.Dense(1)])',
      'model.compile("adam", "mse")',
      fit,
      'print("Final Validation Performance:", model.evaluate(X_te, y_te))',
    );
    expect(await corrected(source)).toBe(
      source.replace('validation_data=(X_te, y_te)', 'validation_split=0.2'),
    );
  });

  it('of trees, which get them in order', async () => {
    const source = script(
      'model = LGBMRegressor(n_estimators=900)',
      'model.fit(X_tr, y_tr, eval_set=[(X_te, y_te)], callbacks=[early_stopping(9)])',
      'print("Final Validation Performance:", model.score(X_te, y_te))',
    );
    const repaired = await corrected(source);
    expect(repaired).toContain('= train_test_split(X_tr, y_tr, test_size=0.1, shuffle=False)');
    // Nobody knows in which order the rows of a condition are.
    const picked = source
      .replace('X[:n], X[n:]', 'X[y > 3], X[y <= 3]')
      .replace('y[:n], y[n:]', 'y[y > 3], y[y <= 3]');
    expect(await corrected(picked)).toMatch(/divided by a condition/);
  });
});
