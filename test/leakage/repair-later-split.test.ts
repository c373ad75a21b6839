import { describe, expect, it } from 'vitest';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';

const SPLIT = 'train_test_split(X, y, test_size=0.2, random_state=42)';

/** A script whose group medians are used up before a split that divides only what was made of them. */
function script(
  leak: readonly string[],
  { between = [], split = SPLIT }: { between?: string[]; split?: string } = {},
): string {
  return [
    'import numpy as np',
    'import pandas as pd',
    'from sklearn.linear_model import Ridge',
    'from sklearn.model_selection import train_test_split',
    'from sklearn.preprocessing import OneHotEncoder, StandardScaler',
    'df = pd.read_csv("rides.csv")',
    ...leak,
    ...between,
    'X = df.drop(columns=["zone", "fare"])',
    'y = df["fare"]',
    `X_train, X_val, y_train, y_val = ${split}`,
    'model = Ridge().fit(X_train, y_train)',
    'print("Final Validation Performance:", model.score(X_val, y_val))',
    '',
  ].join('\n');
}

async function repairOf(source: string): Promise<string> {
  const [finding] = (await analyzeLeakage(source)).findings;
  const repair = await repairLeak(source, finding?.codeBlock ?? '');
  return repair.ok ? repair.replacement : repair.reason;
}

const LEAK = ['df["km"] = df.groupby("zone")["km"].transform(lambda s: s.fillna(s.median()))  # typical'];

/** The same in a helper, which then changes the rows and gives a table back. */
function inHelper(change: string, output: string): string[] {
  const learned = LEAK.map((line) => line.replaceAll('df', 'd'));
  const lines = ['d = d.copy()', ...learned, change, `return ${output}`];
  return ['def prepare(d):', ...lines.map((line) => `    ${line}`), 'df = prepare(df)'];
}

const TURNED = inHelper('d = d.copy()', 'd').with(-1, 'df = prepare(df).iloc[::-1]');

describe('what is learned before a split with a seed', () => {
  it('counts the rows of a sparse matrix, which has no length, by its shape', async () => {
    const source = [
      'import pandas as pd',
      'from sklearn.decomposition import TruncatedSVD',
      'from sklearn.feature_extraction.text import HashingVectorizer',
      'from sklearn.linear_model import LogisticRegression',
      'from sklearn.model_selection import train_test_split',
      'df = pd.read_csv("reviews.csv")',
      'y = df["stars"]',
      'svd = TruncatedSVD(n_components=50, random_state=0)',
      'X = HashingVectorizer().fit_transform(df["text"])',
      'X = svd.fit_transform(X)',
      'print(X.shape, svd.explained_variance_ratio_.sum())',
      'X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)',
      'model = LogisticRegression().fit(X_train, y_train)',
      'print("Final Validation Performance:", model.score(X_test, y_test))',
      'print(X[:5])',
      '',
    ].join('\n');
    expect(await repairOf(source)).toContain(
      'train_test_split(range(X.shape[0]), test_size=0.3, random_state=1)',
    );
  });

  it('REQ-SF-019: a group without a value gets what the script itself fills in next', async () => {
    const filled = 'df["km"] = df["km"].fillna(df.groupby("zone")["km"].transform("median"))';
    const text = await repairOf(script([filled, '# few', 'df["km"] = df["km"].fillna(28)']));
    expect(text).toContain(
      'df["km"] = df["km"].fillna(df["zone"].map(km_median))\n# few\ndf["km"] = df["km"].fillna(28)',
    );
    expect(await repairOf(script([filled]))).toContain(
      '.map(km_median).fillna(df["km"].iloc[fit_rows].median())',
    );
  });

  it('REQ-SF-019: is learned on the rows that the split will give to the training part; all other lines stay', async () => {
    const source = script(LEAK);
    const replacement = await repairOf(source);
    expect(replacement.split('\n').slice(0, 3)).toEqual([
      'fit_rows, rest_rows = train_test_split(range(len(df)), test_size=0.2, random_state=42)',
      'km_median = df.iloc[fit_rows].groupby("zone")["km"].median()',
      'df["km"] = df["km"].fillna(df["zone"].map(km_median).fillna(df["km"].iloc[fit_rows].median()))  # typical',
    ]);
    const block = (await analyzeLeakage(source)).findings[0]?.codeBlock ?? '';
    // The split of the script takes the rows at these positions.
    const parts = [
      'X_train, X_val = X.iloc[fit_rows], X.iloc[rest_rows]',
      'y_train, y_val = y.iloc[fit_rows], y.iloc[rest_rows]',
    ];
    expect(replacement.split('\n').slice(3)).toEqual([...block.split('\n').slice(1, -1), ...parts]);
  });

  it('is learned on them where columns of a table come in that has each key once', async () => {
    const areas = 'areas = pd.read_csv("areas.csv").drop_duplicates("area")';
    const between = ['df = df.merge(areas, on="area", how="left")'];
    expect(await repairOf(script([areas, ...LEAK], { between }))).toContain(
      'train_test_split(range(len(df)), test_size=0.2, random_state=42)',
    );
  });

  it('keeps to CR LF', async () => {
    const replacement = await repairOf(script(LEAK).replaceAll('\n', '\r\n'));
    expect(replacement.match(/\r?\n/g)?.every((ending) => ending === '\r\n')).toBe(true);
  });

  it('takes the labels that decide the proportions from their table, where they get their name later', async () => {
    const split = 'train_test_split(X, y, stratify=y, random_state=1)';
    expect(await repairOf(script(LEAK, { split }))).toContain(
      'train_test_split(range(len(df)), stratify=df["fare"], random_state=1)',
    );
  });

  it.each([
    [
      'are mapped value by value on the way',
      ['df["fare"] = (df["fare"] == "high").astype(int)'],
      '(df["fare"] == "high").astype(int)',
    ],
    [
      'become numbers on the way',
      ['df["fare"] = df["fare"].fillna("0").astype(int)'],
      'df["fare"].fillna("0").astype(int)',
    ],
    [
      'are mapped by a dictionary',
      ['df["fare"] = df["fare"].map({"low": 0, "high": 1})'],
      'df["fare"].map({"low": 0, "high": 1})',
    ],
    [
      'stay while other columns go',
      ['df = df.drop(columns="id")', 'df = pd.get_dummies(df, columns=["area"])'],
      'df["fare"]',
    ],
  ])('takes the labels that decide the proportions where they %s', async (_, between, labels) => {
    const split = 'train_test_split(X, y, stratify=y, random_state=1)';
    expect(await repairOf(script(LEAK, { between, split }))).toContain(
      `train_test_split(range(len(df)), stratify=${labels}, random_state=1)`,
    );
  });

  it('takes them from the table of the helper that learns', async () => {
    const helper = (lines: readonly string[]): string[] => [
      'def prepare(d, cols):',
      '    d = d.copy()',
      '    d["usual"] = d.groupby("zone")["km"].transform("mean")',
      ...lines.map((line) => `    ${line}`),
      '    return d',
      'df = prepare(df, ["km", "minutes"])',
    ];
    const split = 'train_test_split(X, y, stratify=y, random_state=1)';
    const taken = '    fit_rows, _ = train_test_split(range(len(d)), stratify=d["fare"], random_state=1)';
    const scaled = ['for c in cols:', '    d[c] = d[c] / 1000'];
    expect(await repairOf(script(helper([]), { split }))).toContain(taken);
    expect(await repairOf(script(helper(scaled), { split }))).toContain(taken);
    const changes = [
      'd = d.rename(columns={"price": "fare"})',
      'd["fare"].replace({0: 1, 1: 0}, inplace=True)',
      'turn(d)',
      'd = turn(d)',
      'return d.assign(fare=9 - d["fare"])',
      'return pd.DataFrame({"km": d["usual"], "zone": 1, "fare": 9 - d["fare"]})',
    ];
    const turn = ['def turn(d):', '    d["fare"] = 9 - d["fare"]', '    return d'];
    for (const change of changes)
      expect(await repairOf(script([...turn, ...helper([change])], { split }))).toMatch(/^Not rewritten/);
    // The helper is inlined where that shows the labels.
    expect(await repairOf(script(helper(['d["fare"] = d["fare"] > 9']), { split }))).toContain(
      'fit_rows, _ = train_test_split(range(len(df)), stratify=df["fare"] > 9, random_state=1)',
    );
    for (const between of ['turn(df)', 'df["fare"] = np.where(df["km"].fillna(0) > 3, 1, 0)'])
      expect(await repairOf(script([...turn, ...helper([])], { between: [between], split }))).toMatch(
        /^Not rewritten/,
      );
  });

  it.each(['int', 'float'])(
    'takes them from the table of the helper as %s, if they are split so',
    async (type) => {
      const split = 'train_test_split(X, y, stratify=y, random_state=1)';
      const helper = inHelper('d = d.copy()', 'd').with(
        2,
        '    d["n"] = d.groupby("zone")["km"].transform("mean")',
      );
      const source = script(helper, { split });
      expect(await repairOf(source.replace('y = df["fare"]', `y = df["fare"].astype(${type})`))).toContain(
        `stratify=d["fare"].astype(${type}), random_state=1)`,
      );
    },
  );

  it('fills the rows of groups that the training part lacks', async () => {
    const means = 'means = df.groupby("zone")["fare"].mean()';
    expect(await repairOf(script([means, 'df["usual"] = df["zone"].map(means)']))).toContain(
      'df["usual"] = df["zone"].map(means).fillna(means.mean())',
    );
    expect(await repairOf(script(['df["n"] = df["zone"].map(df["zone"].value_counts())']))).toContain(
      'df["zone"].map(df["zone"].iloc[fit_rows].value_counts()).fillna(0)',
    );
    const loop = [
      'caps = {}',
      'for z in df["zone"].unique():',
      '    caps[z] = df.loc[df["zone"] == z, "km"].median()',
    ];
    const lookup = 'df["cap"] = df["zone"].map(caps)';
    expect(await repairOf(script([...loop, lookup]))).toContain(`${lookup}.fillna(pd.Series(caps).mean())`);
    // The parts of a table that is split as a whole get the values after the split.
    const whole = script([...loop, lookup, 'train, val = train_test_split(df, random_state=1)'])
      .split('\n')
      .filter((line) => !/^(X|y|X_train)\b/.test(line))
      .map((line) =>
        line.replaceAll(/X_(train|val)/g, '$1[["km", "cap"]]').replaceAll(/y_(train|val)/g, '$1["fare"]'),
      );
    const moved = await repairOf(whole.join('\n'));
    expect(moved.match(/caps\[z\] = km_median/g)).toHaveLength(1);
    expect(moved).toContain('val["cap"] = val["zone"].map(caps).fillna(pd.Series(caps).mean())');
  });

  it.each([
    ['the split has no seed', LEAK, { split: 'train_test_split(X, y, test_size=0.2)' }],
    ['the seed may be a generator', LEAK, { split: 'train_test_split(X, y, random_state=rng)' }],
    ['rows are dropped between', LEAK, { between: ['df = df.dropna()'] }],
    ['rows are dropped in place', LEAK, { between: ['df.drop_duplicates(inplace=True)'] }],
    ['rows are dropped by condition', LEAK, { between: ['df = df[df["km"] > 0]'] }],
    ['rows are dropped by a function', LEAK, { between: ['df = df[(np.abs(df[["km"]]) < 3).all(axis=1)]'] }],
    ['rows are dropped by a mask', LEAK, { between: ['df = df.loc[~df.duplicated()].copy()'] }],
    ['rows are put in another order', LEAK, { between: ['df = df.sort_values("km")'] }],
    [
      'the labels that decide the proportions get another order',
      LEAK,
      {
        between: ['y = df["fare"].astype(str)'],
        split: 'train_test_split(df, stratify=y, random_state=1)',
      },
    ],
    ['rows are put in the opposite order', LEAK, { between: ['df = df.iloc[::-1]'] }],
    ['rows are taken by their positions', LEAK, { between: ['df = df.take(np.argsort(df["km"].values))'] }],
    [
      'rows of an array are turned around',
      LEAK,
      { between: ['df = pd.DataFrame(np.flip(df.values, axis=0))'] },
    ],
    ['only rows that another table has are kept', LEAK, { between: ['df = df.join(areas, how="inner")'] }],
    [
      'rows are sorted where they are split',
      LEAK,
      { split: 'train_test_split(X.sort_index(), y, random_state=1)' },
    ],
    ['rows are turned around where the helper is called', TURNED, {}],
    [
      'rows are taken in the order of a variable',
      LEAK,
      { between: ['at = df["km"].argsort()', 'df = df.loc[at]'] },
    ],
    [
      'rows are there once more for each row of another table',
      LEAK,
      { between: ['df = df.merge(pd.read_csv("areas.csv"), on="area", how="left")'] },
    ],
    ['rows are sorted in the helper that learns', inHelper('d = d.sort_values("km")', 'd'), {}],
    ['rows are dropped in it, under another name', inHelper('out = d.dropna()', 'out'), {}],
    ['rows are turned around in it', inHelper('d = d.iloc[::-1]', 'd'), {}],
    ['rows are added', LEAK, { between: ['df = pd.concat([df, df])'] }],
    [
      'the labels that decide the proportions change',
      LEAK,
      {
        between: ['df["fare"] = df["fare"] - df["km"]'],
        split: 'train_test_split(X, y, stratify=y, random_state=1)',
      },
    ],
    [
      'groups of a dictionary without `map` would be missing',
      ['means = df.groupby("zone")["fare"].mean()', 'df["u"] = [means[z] for z in df["zone"]]'],
      {},
    ],
    [
      'groups that the training part lacks would keep their gaps',
      [
        'for z in df["zone"].unique():',
        '    m = df["zone"] == z',
        '    df.loc[m, "km"] = df.loc[m, "km"].fillna(df.loc[m, "km"].median())',
      ],
      {},
    ],
    [
      'the statistic of a group is a table',
      [
        'BASE = ["km", "minutes"]',
        'means = df.groupby("zone")[BASE].transform("mean").add_suffix("_mean")',
        'df = pd.concat([df, means], axis=1)',
      ],
      {},
    ],
    [
      'another table is learned from besides',
      [
        'other = pd.read_csv("test.csv")',
        'medians = pd.concat([df[["km"]], other[["km"]]]).median()',
        'df["km"] = df["km"].fillna(medians["km"])',
      ],
      {},
    ],
    [
      'positions of neighbors are those of the rows that were fitted',
      [
        'from sklearn.neighbors import NearestNeighbors',
        'near = NearestNeighbors(n_neighbors=6).fit(df[["km"]])',
        'gaps, at = near.kneighbors(df[["km"]])',
        'df["usual"] = df["fare"].values[at[:, 1:]].mean(axis=1)',
      ],
      {},
    ],
    [
      'an encoder would refuse what the training part lacks',
      [
        'codes = OneHotEncoder(sparse_output=False, min_frequency=9).fit_transform(df[["zone"]])',
        'df["code"] = codes[:, 0]',
      ],
      {},
    ],
    [
      'what is done in a group is not done row by row',
      ['df["km"] = df.groupby("zone")["km"].transform(lambda s: s.rank() / s.max())'],
      {},
    ],
  ])('is not rewritten where %s', async (_, leak, options) => {
    const reason = await repairOf(script(leak, options));
    expect(reason).toMatch(/^Not rewritten/);
  });
});
