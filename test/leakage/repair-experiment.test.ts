import { describe, expect, it } from 'vitest';
import { analyzeInDetail } from '../../src/leakage/analyze.js';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';
import { checkRewrite } from '../../src/leakage/repair/check/check-rewrite.js';
import { WorkAllowance } from '../../src/leakage/values/work.js';

const HEAD = [
  'import numpy as np',
  'import pandas as pd',
  'from sklearn.model_selection import train_test_split',
  'from sklearn.ensemble import RandomForestRegressor',
  'df = pd.read_csv("tides.csv").sort_values("hour")',
];
const TAIL = [
  'model = RandomForestRegressor().fit(X_tr, y_tr)',
  'print("Final Validation Performance:", model.score(X_va, y_va))',
  '',
];
const TABLES = ['X, y = df.drop(columns=["level"]), df["level"]'];
const SPLIT = 'X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=3)';
const IN_ORDER = 'X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, shuffle=False)';
const script = (...lines: string[]): string => [...HEAD, ...lines, ...TAIL].join('\n');

/** The script as the repair of its first leak leaves it, or why there is none. */
async function corrected(source: string): Promise<string> {
  const [finding] = (await analyzeLeakage(source)).findings;
  const repair = await repairLeak(source, finding?.codeBlock ?? '');
  return repair.ok ? source.replace(repair.codeBlock, () => repair.replacement) : repair.reason;
}

describe('a series that is dealt out at random', () => {
  const lag = 'df["lag_1"] = df["level"].shift(1)';

  it('REQ-SF-019: is divided in order', async () => {
    const source = script(lag, 'df = df.dropna()', ...TABLES, SPLIT);
    expect(await corrected(source)).toBe(source.replace(SPLIT, IN_ORDER));
  });

  it.each([
    [
      'in a function that is called once',
      ['def lags(d):', '    d["lag_1"] = d["level"].shift(1)', '    return d.dropna()', 'df = lags(df)'],
    ],
    [
      'for several lags',
      ['for k in (1, 2, 24):', '    df[f"lag_{k}"] = df["level"].shift(k)', 'df = df.dropna()'],
    ],
  ])('also with lags %s', async (_, lines) => {
    const source = script(...lines, ...TABLES, SPLIT);
    expect(await corrected(source)).toBe(source.replace(SPLIT, IN_ORDER));
  });

  it('and folds become those of a series', async () => {
    const loop = [
      'from sklearn.model_selection import KFold',
      'scores = []',
      'for tr, va in KFold(n_splits=4, shuffle=True, random_state=0).split(X):',
      '    model = RandomForestRegressor().fit(X.iloc[tr], y.iloc[tr])',
      '    scores.append(model.score(X.iloc[va], y.iloc[va]))',
      'print("Final Validation Performance:", np.mean(scores))',
      '',
    ];
    const source = [...HEAD, lag, 'df = df.dropna()', ...TABLES, ...loop].join('\n');
    const repaired = await corrected(source);
    expect(repaired).toContain('for tr, va in TimeSeriesSplit(n_splits=4).split(X):');
    expect((await analyzeLeakage(repaired)).findings).toEqual([]);
    // Predictions of all folds would lack the first rows.
    const gathered = source
      .replace('scores = []', 'scores, oof = [], np.zeros(len(y))')
      .replace('    scores.append', '    oof[va] = model.predict(X.iloc[va])\n    scores.append');
    expect(await corrected(gathered)).toMatch(/the first rows would have no prediction/);
  });

  it.each([
    [
      'of several stations',
      ['g = df.groupby("station")["level"]', 'df["lag_1"] = g.shift(1)'],
      /several series/,
    ],
    [
      'of one table after the other',
      [
        'parts = []',
        'for _, one in df.groupby("station"):',
        '    one["lag_1"] = one["level"].shift(1)',
        '    parts.append(one)',
        'df = pd.concat(parts)',
      ],
      /decision/,
    ],
    [
      'that is put in another order afterward',
      [lag, 'df = df.sort_values("depth")'],
      /order of time is not known/,
    ],
    [
      'that is mixed afterward',
      [lag, 'df = df.sample(frac=1, random_state=0)'],
      /order of time is not known/,
    ],
    [
      'in a function that is called twice',
      [
        'def lags(d):',
        '    d["lag_1"] = d["level"].shift(1)',
        '    return d',
        'other = lags(df.copy())',
        'df = lags(df)',
      ],
      /is not called exactly once/,
    ],
  ])('is left if it may be %s', async (_, lines, reason) => {
    expect(await corrected(script(...lines, 'df = df.dropna()', ...TABLES, SPLIT))).toMatch(reason);
  });

  it('and one that is divided by class is left', async () => {
    const stratified = SPLIT.replace('random_state=3', 'random_state=3, stratify=y');
    expect(await corrected(script(lag, 'df = df.dropna()', ...TABLES, stratified))).toMatch(/is stratified/);
  });
});

describe('a window', () => {
  const split = 'X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, shuffle=False)';

  it('REQ-SF-019: a centered window ends with its row where the label is the value of a later row', async () => {
    const label = 'df["next_level"] = df["level"].shift(-1)';
    const centered = 'df["wave"] = df["level"].rolling(5, center=True).mean()';
    const tables = ['X, y = df.drop(columns=["next_level"]), df["next_level"]', IN_ORDER];
    const source = script(centered, label, 'df = df.dropna()', ...tables);
    expect(await corrected(source)).toBe(source.replace(', center=True', ''));
  });

  it('REQ-SF-019: around its row ends before it', async () => {
    const centered = 'df["wave"] = df["level"].rolling(5, center=True).mean()';
    const source = script(centered, 'df = df.dropna()', ...TABLES, split);
    expect(await corrected(source)).toBe(
      source.replace(centered, 'df["wave"] = df["level"].shift(1).rolling(5).mean()'),
    );
  });

  it('and where the rows are dealt out at random, they are divided in order as well', async () => {
    const centered = 'df["wave"] = df["level"].rolling(5, center=True, min_periods=1).mean()';
    const source = script(centered, 'df = df.dropna()', ...TABLES, SPLIT);
    expect(await corrected(source)).toBe(
      source
        .replace(centered, 'df["wave"] = df["level"].shift(1).rolling(5, min_periods=1).mean()')
        .replace(SPLIT, IN_ORDER),
    );
  });

  it.each([
    [
      'leaves the first row without a value that no line drops',
      'df["wave"] = df["level"].rolling(5, center=True, min_periods=1).mean()',
      /first row would have no value/,
    ],
    [
      'is one of two',
      'df["wave"] = df["wind"].rolling(5, center=True).mean() - df["wind"].rolling(9, center=True).mean()',
      /decision/,
    ],
    ['runs backward', 'df["wave"] = df["level"][::-1].rolling(5, min_periods=1).max()[::-1]', /decision/],
  ])('that %s is left', async (_, line, reason) => {
    expect(await corrected(script(line, ...TABLES, split))).toMatch(reason);
  });

  it('ends before its row beside another value of it, too', async () => {
    const centered = 'df["gust"] = df["wind"] / df["wind"].rolling(5, center=True).mean()';
    const source = script(centered, 'df = df.dropna()', ...TABLES, split);
    expect(await corrected(source)).toBe(
      source.replace(centered, 'df["gust"] = df["wind"] / df["wind"].shift(1).rolling(5).mean()'),
    );
  });

  it.each([
    [
      'in the line that picks rows',
      ['known = df["level"].notna()', 'df[["wind"]] = df[["wind"]].bfill()', 'df = df[known].dropna()'],
    ],
    [
      'of a table that is made of it',
      [
        'df = df.bfill()',
        'def signs(t):',
        '    f = pd.DataFrame(index=t.index)',
        '    f["gust"] = t["wind"].diff()',
        '    f["level"] = t["level"]',
        '    return f',
        'f = signs(df)',
        'later = df["level"].shift(-1)',
        'f = f[later.notna()].dropna()',
      ],
    ],
  ])('gaps are filled with what comes before them if rows are dropped %s', async (_, lines) => {
    const tables = ['X, y = f.drop(columns=["level"]), f["level"]'];
    const source = script(...lines, ...(lines.includes('f = signs(df)') ? tables : TABLES), split);
    expect(await corrected(source)).toBe(source.replace('bfill()', 'ffill()'));
  });

  it('gaps at the beginning are in the way where the table is taken once more', async () => {
    const lines = ['df = df.bfill()', 'f = df.assign(gust=df["wind"].diff())', 'f = f.dropna()'];
    const source = script(...lines, 'X, y = f.drop(columns=["level"]), df["level"].loc[f.index]', split);
    expect(await corrected(source)).toMatch(/gaps at the beginning would stay/);
  });

  it('gaps are filled with what comes before them if rows without a value are dropped', async () => {
    const fill = 'df["level"] = df["level"].interpolate().bfill()';
    const dropped = script(
      fill,
      'df = df.dropna()',
      'df["lag"] = df["level"].shift(1).fillna(0)',
      ...TABLES,
      split,
    );
    expect(await corrected(dropped)).toBe(dropped.replace(fill, 'df["level"] = df["level"].ffill()'));
    expect(await corrected(dropped.replace('df = df.dropna()\n', ''))).toMatch(
      /gaps at the beginning would stay/,
    );
  });
});

describe('groups that a division cuts through', () => {
  const head = [
    'import numpy as np',
    'import pandas as pd',
    'from sklearn.model_selection import train_test_split',
    'from sklearn.ensemble import RandomForestClassifier',
    'df = pd.read_csv("voices.csv")',
    'print(len(df), df["patient_id"].nunique())',
    'X, y = df.drop(columns=["patient_id", "ill"]), df["ill"]',
  ];
  const tail = [
    'model = RandomForestClassifier().fit(X_tr, y_tr)',
    'print("Final Validation Performance:", model.score(X_va, y_va))',
    '',
  ];
  const plain = 'X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=1)';
  const byGroup = [
    'splitter = GroupShuffleSplit(n_splits=1, test_size=0.2, random_state=1)',
    'train_rows, test_rows = next(splitter.split(X, groups=df["patient_id"]))',
    'X_tr, X_va = X.iloc[train_rows], X.iloc[test_rows]',
    'y_tr, y_va = y.iloc[train_rows], y.iloc[test_rows]',
  ];
  const source = [...head, plain, ...tail].join('\n');

  it('REQ-SF-019: are dealt out as a whole', async () => {
    const right = source
      .replace('import train_test_split', 'import GroupShuffleSplit')
      .replace(plain, byGroup.join('\n'));
    expect(await corrected(source)).toBe(right);
    expect((await analyzeLeakage(right)).findings).toEqual([]);
  });

  it('keep the fractions of the classes where the split did', async () => {
    const repaired = await corrected(source.replace('random_state=1', 'random_state=1, stratify=y'));
    expect(repaired).toContain('splitter = StratifiedGroupKFold(n_splits=5, shuffle=True, random_state=1)');
    expect(repaired).toContain('next(splitter.split(X, y, groups=df["patient_id"]))');
    const third = source.replace('test_size=0.2, random_state=1', 'test_size=0.3, stratify=y');
    expect(await corrected(third)).toMatch(/is stratified/);
  });

  it('are told to the folds', async () => {
    const folds = [
      'from sklearn.model_selection import StratifiedKFold, cross_val_score',
      'cv = StratifiedKFold(n_splits=5, shuffle=True, random_state=0)',
      'scores = cross_val_score(RandomForestClassifier(), X, y, cv=cv)',
      'print("Final Validation Performance:", scores.mean())',
      '',
    ];
    const repaired = await corrected([...head, ...folds].join('\n'));
    expect(repaired).toContain('cv = StratifiedGroupKFold(n_splits=5, shuffle=True, random_state=0)');
    expect(repaired).toContain(
      'cross_val_score(RandomForestClassifier(), X, y, cv=cv, groups=df["patient_id"])',
    );
    const twice = [...head, ...folds, 'print(cross_val_score(model, X, y, cv=list(cv.split(X, y))))'];
    expect(await corrected(twice.join('\n'))).not.toContain('groups=df["patient_id"], groups');
  });

  it.each([
    ['a part is left out', byGroup.slice(0, 3)],
    ['parts change places', byGroup.map((line) => line.replace('X_tr, X_va =', 'X_va, X_tr ='))],
    [
      'rows change places',
      byGroup.map((line) =>
        line.replace('X.iloc[train_rows], X.iloc[test_rows]', 'X.iloc[test_rows], X.iloc[train_rows]'),
      ),
    ],
    ['another fraction is scored', byGroup.map((line) => line.replace('test_size=0.2', 'test_size=0.4'))],
    [
      'labels are those of other rows',
      byGroup.map((line) => line.replace('y.iloc[test_rows]', 'X.iloc[test_rows]')),
    ],
    ['a line is added', [...byGroup, 'X_tr = X_tr.fillna(0)']],
  ])('a rewrite in which %s is refused', async (_, lines) => {
    const analysis = await analyzeInDetail(source);
    const block = { start: source.indexOf(plain), end: source.indexOf(plain) + plain.length };
    const check = (text: string): Promise<string | undefined> =>
      checkRewrite(
        {
          source,
          block,
          leaks: analysis.leaks,
          work: new WorkAllowance(Number.POSITIVE_INFINITY),
          watched: new Map(),
        },
        analysis,
        ['from sklearn.model_selection import GroupShuffleSplit', text].join('\n'),
      );
    expect(await check(byGroup.join('\n'))).toBeUndefined();
    expect(await check(lines.join('\n'))).toEqual(expect.any(String));
  });
});

describe('a line that stays and shows the columns of a table', () => {
  const lines = [
    'from sklearn.feature_selection import SelectKBest, f_regression',
    ...TABLES,
    'best = SelectKBest(f_regression, k=4).fit(X, y)',
    'X = X.loc[:, best.get_support()]',
  ];

  it('keeps a selection above it: after the split it would show another number', async () => {
    const moved = await corrected(script(...lines, SPLIT));
    expect(moved).toContain('X_tr = X_tr.loc[:, best.get_support()]');
    const shown = await corrected(script(...lines, 'print(X.shape[1], "columns")', SPLIT));
    expect(shown).not.toContain('X_tr = X_tr.loc[:, best.get_support()]');
  });
});

describe('a feature that is the value of a later row', () => {
  const made = 'df["next_wind"] = df["wind"].shift(-1)';
  const split = 'X_tr, X_va, y_tr, y_va = train_test_split(X, df["level"], shuffle=False)';

  it.each([
    ['X = df[["wind", "next_wind", "moon"]]', 'X = df[["wind", "moon"]]'],
    ['X = df.drop(columns=["level"])', 'X = df.drop(columns=["level", "next_wind"])'],
    [
      'X = df[[c for c in df.columns if c != "level"]]',
      'X = df[[c for c in df.columns if c != "level" and c != "next_wind"]]',
    ],
    [
      "X = df[[c for c in df.columns if c not in ('level', 'hour')]]",
      "X = df[[c for c in df.columns if c not in ('level', 'hour', 'next_wind')]]",
    ],
  ])('REQ-SF-019: is left out (%s)', async (taken, without) => {
    const source = script(made, 'df = df.dropna()', taken, split);
    const right = source.replace(taken, without);
    expect(await corrected(source)).toBe(right);
    expect((await analyzeLeakage(right)).findings).toEqual([]);
  });

  it.each([
    [
      'another feature is made of it',
      ['df["turn"] = df["next_wind"] - df["wind"]', 'X = df.drop(columns=["level"])'],
    ],
    ['a later line reads it', ['X = df.drop(columns=["level"])', split, 'print(X_va["next_wind"].mean())']],
    ['the number of features is written out', ['X = df.drop(columns=["level"])', 'print([[1.5, 2]])']],
    [
      'two comprehensions take columns',
      ['names = [c for c in df.columns if c != "hour"]', 'X = df[[c for c in df.columns if c != "level"]]'],
    ],
  ])('stays where %s', async (_, lines) => {
    const source = script(made, 'df = df.dropna()', ...lines, ...(lines.includes(split) ? [] : [split]));
    expect(await corrected(source)).not.toContain('import');
  });
});

describe('a feature that says what the label is', () => {
  const made = 'df["per_hour"] = df["level"] / df["hours"]';
  const split = 'X_tr, X_va, y_tr, y_va = train_test_split(X, df["level"], random_state=3)';

  it('REQ-SF-019: is left out of the list of the features', async () => {
    const list = 'feats = ["wind", "per_hour", "moon"]';
    const source = script(made, list, 'X = df[feats]', split);
    expect(await corrected(source)).toBe(source.replace('"per_hour", "moon"', '"moon"'));
  });

  it.each([
    ['columns=["level", "day"]', 'columns=["level", "day", "per_hour"]'],
    ['columns="level"', 'columns=["level", "per_hour"]'],
    ["['level'], axis=1", "['level', 'per_hour'], axis=1"],
  ])('is dropped beside the label (%s)', async (drop, more) => {
    const source = script(made, `X = df.drop(${drop})`, split);
    expect(await corrected(source)).toBe(source.replace(`drop(${drop})`, () => `drop(${more})`));
  });

  it.each([
    [
      'where the number of features is written out',
      ['X = df.drop(columns=["level"])', split, 'print([[1.5, 2]])'],
    ],
    ['where two lists have it', ['shown = ["per_hour", "wind"]', 'X = df[["wind", "per_hour"]]', split]],
    ['where nothing drops the label', ['X = df[df.columns[2:]]', split]],
  ])('is not %s', async (_, lines) => {
    const source = script(made, ...lines);
    expect(await corrected(source)).not.toContain('import');
  });
});
