import { describe, expect, it } from 'vitest';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';

const IMPORTS = [
  'import numpy as np',
  'import pandas as pd',
  'from sklearn.ensemble import RandomForestRegressor',
  'from sklearn.feature_selection import SelectKBest',
  'from sklearn.linear_model import Ridge',
  'from sklearn.metrics import mean_absolute_error',
  'from sklearn.model_selection import KFold, train_test_split',
  'from sklearn.preprocessing import MinMaxScaler, StandardScaler',
];

/** The script after the repair of its first leak, or why there is none. */
async function repairOf(lines: readonly string[]): Promise<string> {
  const source = `${[...IMPORTS, ...lines].join('\n')}\n`;
  const [finding] = (await analyzeLeakage(source)).findings;
  if (finding === undefined) throw new Error('nothing was found');
  const repair = await repairLeak(source, finding.codeBlock);
  if (!repair.ok) return repair.reason;
  const text = source.replace(repair.codeBlock, () => repair.replacement);
  expect((await analyzeLeakage(text)).findings).toEqual([]);
  return text;
}

const FOLDS = [
  'errors = []',
  'for tr, va in KFold(5, shuffle=True, random_state=0).split(X):',
  '    model = Ridge().fit(X.iloc[tr], y[tr])',
  '    errors.append(mean_absolute_error(y[va], model.predict(X.iloc[va])))',
  'print("Final Validation Performance:", np.mean(errors))',
];

describe('a helper that learns from the table that it gets', () => {
  const RANK = [
    'def rank(X, y):',
    '    forest = RandomForestRegressor(random_state=0)',
    '    forest.fit(X, y)',
    '    return pd.Series(forest.feature_importances_, X.columns).sort_values(ascending=False)',
  ];
  const DATA = [
    'data = pd.read_csv("train.csv")',
    'y = data.pop("price").to_numpy()',
    'X = data.drop(columns="id")',
  ];
  const CHOICE = ['best = rank(X, y)', 'X = X[best.index[:10]]'];

  it('REQ-SF-019: gets the training rows of each fold, taken as the fold takes them', async () => {
    const text = await repairOf([...RANK, ...DATA, ...CHOICE, ...FOLDS]);
    expect(text).toContain(
      [
        '    fold_x = x_before',
        '    fold_best = rank(fold_x.iloc[tr], y[tr])',
        '    fold_x = fold_x[fold_best.index[:10]]',
        '    model = Ridge().fit(fold_x.iloc[tr], y[tr])',
      ].join('\n'),
    );
  });

  it('REQ-SF-019: a class of the script is made again in each fold', async () => {
    const text = await repairOf([
      'class Scaling:',
      '    def __init__(self, width):',
      '        self.scaler = MinMaxScaler((0, width))',
      '    def fit(self, rows):',
      '        self.scaler.fit(rows)',
      '        return self',
      '    def transform(self, rows):',
      '        return pd.DataFrame(self.scaler.transform(rows), columns=rows.columns)',
      ...DATA,
      'scaling = Scaling(2)',
      'scaling.fit(X)',
      'X = scaling.transform(X)',
      ...FOLDS,
    ]);
    expect(text).toContain(
      [
        '    fold_x = x_before',
        '    fold_scaling = Scaling(2)',
        '    fold_scaling.fit(fold_x.iloc[tr])',
        '    fold_x = fold_scaling.transform(fold_x)',
      ].join('\n'),
    );
  });

  it('REQ-SF-019: in a hold-out, the rows are those that the split will give to the training part', async () => {
    const text = await repairOf([
      'def means(frame, key):',
      '    frame = frame.copy()',
      '    frame["log"] = np.log1p(frame["price"])',
      '    return frame.groupby(key)["log"].mean(), frame["log"].mean()',
      'data = pd.read_csv("train.csv")',
      'by_city, prior = means(data, "city")',
      'data["level"] = data["city"].map(by_city).fillna(prior)',
      'a, b = train_test_split(data, test_size=0.2, random_state=3)',
      'model = Ridge().fit(a[["level"]], a["price"])',
      'print("Final Validation Performance:", mean_absolute_error(b["price"], model.predict(b[["level"]])))',
    ]);
    expect(text).toMatch(/means\((a|data\.iloc\[fit_rows\]), "city"\)/);
  });

  it.each([
    ['changes the table', ['def rank(X, y):', '    X["noise"] = 1', ...RANK.slice(1)], '`rank` changes `X`'],
    [
      'gives back the rows',
      [
        'def rank(X, y):',
        '    return (X - X.mean()) / X.std()',
        'def chosen(X, y):',
        '    return rank(X, y)',
      ],
      'gives a value for each row',
    ],
  ])('REQ-SF-019: is not called with other rows if it %s', async (_, helper, reason) => {
    const choice = reason.includes('gives') ? ['X = chosen(X, y)'] : CHOICE;
    // Handed over, so that they are not inlined.
    const handedOver = reason.includes('gives') ? 'helpers = [rank, chosen]' : 'helpers = [rank]';
    expect(await repairOf([...helper, ...DATA, ...choice, ...FOLDS, handedOver])).toContain(reason);
  });
});

describe('a helper that learns from the rows of a table and from labels beside it', () => {
  const TABLES = [
    'import statsmodels.api as sm',
    'from sklearn.metrics import roc_auc_score',
    'heart = pd.read_csv("heart.csv").dropna()',
    'table = sm.add_constant(heart)',
    'names = [c for c in table.columns if c != "chd"]',
    'def backward(rows, label, kept):',
    '    while len(kept) > 1:',
    '        result = sm.Logit(label, rows[kept]).fit(disp=0)',
    '        worst = result.pvalues.nlargest(1)',
    '        if worst.iloc[0] < 0.05:',
    '            return result',
    '        kept = kept.drop(worst.index)',
    '    return result',
  ];
  const REST = [
    'selected = list(result.params.index)',
    'train, test = train_test_split(table, test_size=0.2, random_state=5)',
    'logit = sm.Logit(train["chd"], train[selected]).fit()',
    'print("AUC", roc_auc_score(test["chd"], logit.predict(test[selected])))',
  ];
  const made = (text: string): string =>
    text.split('\n').find((line) => line.startsWith('result = ')) ?? text;

  it.each([
    ['heart.chd', 'table.iloc[fit_rows], heart.iloc[fit_rows].chd'],
    ['heart["chd"]', 'table.iloc[fit_rows], heart["chd"].iloc[fit_rows]'],
    ['heart["chd"].values', 'table.iloc[fit_rows], heart["chd"].iloc[fit_rows].values'],
    ['table["chd"]', 'train, train["chd"]'],
    ['table.chd', 'train, train.chd'],
  ])('REQ-SF-019: gets both of the same rows (%s)', async (label, args) => {
    const call = `result = backward(table, ${label}, pd.Index(names))`;
    const text = await repairOf([...TABLES, call, ...REST]);
    expect(made(text)).toBe(`result = backward(${args}, pd.Index(names))`);
  });

  it('REQ-SF-019: is left as it is where the labels would be of other rows', async () => {
    const call = 'result = backward(table, y, pd.Index(names))';
    const text = await repairOf([...TABLES, 'y = table["chd"]', call, ...REST]);
    expect(text).not.toContain('backward(train, y');
  });
});

describe('a series in order that is scaled as a whole', () => {
  const SERIES = [
    'prices = pd.read_csv("prices.csv")["close"].values.reshape(-1, 1)',
    'scaler = MinMaxScaler()',
    'scaled = scaler.fit_transform(prices)',
  ];
  const windows = (first: string, last: string): string[] => [
    'def windows(part):',
    '    return np.array([part[i - 60:i, 0] for i in range(60, len(part))]), part[60:, 0]',
    `a, ya = windows(scaled[${first}])`,
    `b, yb = windows(scaled[${last}])`,
    'model = Ridge().fit(a, ya)',
    'print("Final Validation Performance:", mean_absolute_error(yb, model.predict(b)))',
  ];

  it.each([
    ['n = 800', ':n', 'n:', '800'],
    ['n = int(len(scaled) * 0.8)', '0:n, :', 'n - 60:, :', 'int(len(prices) * 0.8)'],
    ['steps = len(scaled)', ':steps - 100', 'steps - 100:', 'len(prices) - 100'],
  ])('REQ-SF-019: is scaled by the rows that come first (%s)', async (count, first, last, bound) => {
    const text = await repairOf([...SERIES.slice(0, 2), SERIES[2] ?? '', count, ...windows(first, last)]);
    expect(text).toMatch(/scaled = scaler\.fit\(prices\[:.*\]\)\.transform\(prices\)/);
    expect(text.replaceAll(/[()]/g, '')).toContain(`prices[:${bound}]`.replaceAll(/[()]/g, ''));
  });

  it('REQ-SF-019: is not rewritten if windows are made before the rows are divided', async () => {
    const text = await repairOf([
      ...SERIES,
      'def windows(part):',
      '    return np.array([part[i - 60:i, 0] for i in range(60, len(part))]), part[60:, 0]',
      'X, y = windows(scaled)',
      'n = 800',
      'model = Ridge().fit(X[:n], y[:n])',
      'print("Final Validation Performance:", mean_absolute_error(y[n:], model.predict(X[n:])))',
    ]);
    expect(text).toMatch(/^Not rewritten/);
  });
});

describe('what is fitted before several cross-validations', () => {
  const CV = [
    'from sklearn.model_selection import cross_val_score',
    'from sklearn.feature_selection import RFE',
  ];
  const DATA = ['data = pd.read_csv("train.csv")', 'y = data.pop("price")', 'X = data.drop(columns="id")'];
  const models = (table: string, model: (name: string) => string): string[] => [
    `first = cross_val_score(${model('Ridge()')}, ${table}, y, cv=5)`,
    'print(first.mean())',
    `second = cross_val_score(${model('RandomForestRegressor()')}, ${table}, y, cv=5)`,
    'print("Final Validation Performance:", second.mean())',
  ];

  it('REQ-SF-019: chosen columns: the selector goes into a pipeline with each model, its own fit is only shown', async () => {
    const fit = ['rfe = RFE(Ridge(), n_features_to_select=5)', 'rfe.fit(X, y)', 'print(rfe.ranking_)'];
    const text = await repairOf([
      ...CV,
      ...DATA,
      ...fit,
      'chosen = X.loc[:, rfe.support_]',
      ...models('chosen', (name) => name),
    ]);
    const now = models('X', (name) => `make_pipeline(rfe, ${name})`);
    expect(text).toContain([...fit, ...now].join('\n'));
    expect(text).toContain([CV[1], 'from sklearn.pipeline import make_pipeline', DATA[0]].join('\n'));
  });

  it('REQ-SF-019: a fit stays where another line reads what was learned by it', async () => {
    const fit = [
      'rfe = RFE(Ridge(), n_features_to_select=5)',
      'chosen = rfe.fit_transform(X, y)',
      'print(X.columns[rfe.get_support()])',
    ];
    const text = await repairOf([...CV, ...DATA, ...fit, ...models('chosen', (name) => name)]);
    const now = models('X', (name) => `make_pipeline(rfe, ${name})`);
    // Nothing else reads the table of all rows.
    expect(text).toContain(['rfe.fit(X, y)', ...fit.slice(2), ...now].join('\n'));
  });

  it('REQ-SF-019: over-sampled rows: the sampler goes into a pipeline of imblearn, what is shown stays', async () => {
    const text = await repairOf([
      ...CV,
      'from imblearn.over_sampling import SMOTE',
      ...DATA,
      'X, y = SMOTE(random_state=0).fit_resample(X, y)',
      'print(y.value_counts())',
      ...models('X', (name) => name),
    ]);
    expect(text).toContain(
      [
        'from imblearn.pipeline import make_pipeline as make_sampling_pipeline',
        ...DATA,
        'x_before = X',
        'y_before = y',
        'X, y = SMOTE(random_state=0).fit_resample(X, y)',
        'print(y.value_counts())',
        'first = cross_val_score(make_sampling_pipeline(SMOTE(random_state=0), Ridge()), x_before, y_before, cv=5)',
      ].join('\n'),
    );
  });

  it('REQ-SF-019: fits one after another go into one pipeline with the steps that are there', async () => {
    const text = await repairOf([
      ...CV,
      'from sklearn.impute import SimpleImputer',
      'from sklearn.pipeline import make_pipeline',
      ...DATA,
      'imputer, scaler = SimpleImputer(), StandardScaler()',
      'filled = imputer.fit_transform(X.drop(columns="at"))',
      'scaled = scaler.fit_transform(filled)',
      ...models('scaled', (name) => `make_pipeline(MinMaxScaler(), ${name})`),
    ]);
    const now = models(
      'X.drop(columns="at")',
      (name) => `make_pipeline(imputer, scaler, MinMaxScaler(), ${name})`,
    );
    expect(text).toContain(now.join('\n'));
    expect(text).not.toContain('fit_transform');
  });

  it('REQ-SF-019: is not rewritten if sampled rows get predictions, which have to be as many as the labels', async () => {
    const text = await repairOf([
      'from sklearn.model_selection import cross_val_predict',
      'from imblearn.over_sampling import SMOTE',
      ...DATA,
      'X_more, y_more = SMOTE(random_state=0).fit_resample(X, y)',
      'p = cross_val_predict(Ridge(), X_more, y_more, cv=5)',
      'print("Final Validation Performance:", mean_absolute_error(y_more, p))',
    ]);
    expect(text).toMatch(/^Not rewritten/);
  });

  it.each([
    ['the labels are others', ['rfe = RFE(Ridge()).fit(X, np.log(y))'], /^Not rewritten/],
    [
      'the table is changed on the way',
      ['rfe = RFE(Ridge())', 'rfe.fit(X, y)', 'X["more"] = 1'],
      /^Not rewritten/,
    ],
  ])('REQ-SF-019: is not rewritten if %s', async (_, fit, reason) => {
    const lines = [
      ...CV,
      ...DATA,
      ...fit,
      'chosen = X.loc[:, rfe.support_]',
      ...models('chosen', (name) => name),
    ];
    expect(await repairOf(lines)).toMatch(reason);
  });
});

describe('a helper that gives one table statistics of another', () => {
  const HELPER = [
    'def means_of(values, y):',
    '    return y.groupby(values).mean(), y.mean()',
    'def add_means(frame, source, y):',
    '    out = frame.copy()',
    '    for c in ["zone", "kind"]:',
    '        means, overall = means_of(source[c], y)',
    '        out[c] = frame[c].map(means).fillna(overall)',
    '    return out',
  ];
  const DATA = ['data = pd.read_csv("train.csv")', 'test = pd.read_csv("test.csv")', 'y = data["price"]'];
  const SPLIT = [
    'train, val, y_train, y_val = train_test_split(X.drop(columns="price"), y, random_state=0)',
    'model = Ridge().fit(train, y_train)',
    'print("Final Validation Performance:", model.score(val, y_val))',
  ];

  it('REQ-SF-019: learns from the training rows, and gives them to all rows', async () => {
    const text = await repairOf([...HELPER, ...DATA, 'X = add_means(data, data, y)', ...SPLIT]);
    expect(text).toContain('X = add_means(data, data.iloc[fit_rows], y.iloc[fit_rows])');
  });

  it('REQ-SF-019: learns in each fold, for the table that the models of the folds predict as well', async () => {
    const text = await repairOf(
      [
        ...HELPER,
        ...DATA,
        'X, X_test = add_means(data, data, y), None',
        'X = add_means(data, data, y)',
        'X_test = add_means(test, data, y)',
        'errors, total = [], np.zeros(len(test))',
        'for tr, va in KFold(5, shuffle=True, random_state=0).split(X):',
        '    model = RandomForestRegressor().fit(X.iloc[tr].drop(columns="price"), y.iloc[tr])',
        '    errors.append(mean_absolute_error(y.iloc[va], model.predict(X.iloc[va].drop(columns="price"))))',
        '    total += model.predict(X_test) / 5',
        'print("Final Validation Performance:", np.mean(errors))',
      ].filter((line) => !line.includes('None')),
    );
    expect(text).toContain(
      [
        '    fold_x = add_means(data, data.iloc[tr], y.iloc[tr])',
        '    fold_x_test = add_means(test, data.iloc[tr], y.iloc[tr])',
      ].join('\n'),
    );
    expect(text).toContain('    total += model.predict(fold_x_test) / 5');
  });

  it.each([
    ['the groups of the statistic are those of the table that is given back', 'means_of(frame[c], y)'],
    ['rows of the other table are given back', 'means_of(source[c], y); out["first"] = source[c]'],
  ])('REQ-SF-019: is not rewritten if %s', async (_, call) => {
    const [body, more = ''] = call.split('; ');
    const helper = HELPER.map((line) => line.replace('means_of(source[c], y)', body ?? ''));
    const at = helper.findIndex((line) => line.includes('out[c] ='));
    const all = [...helper.slice(0, at), ...(more === '' ? [] : [`        ${more}`]), ...helper.slice(at)];
    const text = await repairOf([...all, ...DATA, 'X = add_means(data, data, y)', ...SPLIT]);
    expect(text).toMatch(/^Not rewritten/);
  });

  const FRACTION = '        out["n"] = frame[c].map(source.groupby(c).size() / COUNT).fillna(0)';

  it('REQ-SF-019: divides counts of the training rows by their number', async () => {
    const helper = HELPER.with(6, FRACTION.replace('COUNT', 'len(source)'));
    const text = await repairOf([...helper, ...DATA, 'X = add_means(data, data, y)', ...SPLIT]);
    expect(text).toContain('X = add_means(data, data.iloc[fit_rows], y.iloc[fit_rows])');
  });

  it.each([
    ['a value for each row is a sum over its columns', 'out["total"] = source[["a", "b"]].sum(axis=1)'],
    ['it is a number of different values in its columns', 'out["total"] = source[["a", "b"]].nunique(1)'],
    ['it is a sum up to the row', 'out["total"] = source["a"].agg("cumsum")'],
    ['it is what a function gives', 'out["total"] = source["a"].agg(lambda s: s.cumsum())'],
    ['only another column is filled', 'out["age"] = out["age"].fillna(0); frame[c].map(means)'],
    ['a group that is not there stops the lookup', 'out["m"] = means.loc[frame[c]].values'],
    ['it stops a list of lookups', 'out["m"] = [means[z] for z in frame[c]]'],
    ['whole numbers cannot be missing', 'out["m"] = frame[c].map(means).astype(int)'],
    ['counts are divided by the number of all rows', FRACTION.trim().replace('COUNT', 'len(frame)')],
    ['that number has a name', `count = frame.shape[0]; ${FRACTION.trim().replace('COUNT', 'count')}`],
  ])('REQ-SF-019: is not rewritten if %s', async (_, more) => {
    const [line = '', other = ''] = more.split('; ');
    const lookup = other.startsWith('frame') ? `out[c] = ${other}` : other;
    const lines = [line, lookup].filter((one) => one !== '').map((one) => `        ${one}`);
    const helper = [...HELPER.slice(0, other === '' ? 7 : 6), ...lines, ...HELPER.slice(7)];
    const text = await repairOf([...helper, ...DATA, 'X = add_means(data, data, y)', ...SPLIT]);
    expect(text).toMatch(/^Not rewritten/);
  });

  it('REQ-SF-019: is not rewritten if it gets the number of all rows', async () => {
    const helper = HELPER.with(6, FRACTION.replace('COUNT', 'y'));
    const text = await repairOf([...helper, ...DATA, 'X = add_means(data, data, len(data))', ...SPLIT]);
    expect(text).toMatch(/^Not rewritten/);
  });

  it.each([
    ['rows change in the helper', '    return out.dropna()'],
    ['a model would stop at groups that the training rows lack', '    return out.replace(0, np.nan)'],
  ])('REQ-SF-019: is not rewritten if %s', async (_, end) => {
    const helper = HELPER.map((line) =>
      line.startsWith('    return out') ? end : line.replace('.fillna(overall)', ''),
    );
    expect(await repairOf([...helper, ...DATA, 'X = add_means(data, data, y)', ...SPLIT])).toMatch(
      /^Not rewritten/,
    );
  });
});

describe('a helper between a fit and the split', () => {
  const MEANS = 'means = data.groupby("shop")["price"].mean()';
  const LINES = [
    'rng = np.random.default_rng(0)',
    'data = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))',
    'data["shop"] = rng.choice(list("XYZ"), 300)',
    'data["price"] = data["a"] * 2 + rng.normal(size=300)',
    MEANS,
    'data["shop_price"] = data["shop"].map(means)',
    'features = choose(data, "price")',
    'y = data["price"]',
    'X_train, X_test, y_train, y_test = train_test_split(features, y, random_state=2)',
    'model = Ridge().fit(X_train, y_train)',
    'print("Final Validation Performance:", model.score(X_test, y_test))',
  ];
  const CHOSEN = [
    '    X = table.select_dtypes("number").drop(columns=target)',
    '    values = selector.fit_transform(X, table[target] > table[target].mean())',
    '    return pd.DataFrame(values, columns=X.columns[selector.get_support()])',
  ];

  it.each([
    ['itself', ['def choose(table, target):', '    selector = SelectKBest(k=3)', ...CHOSEN]],
    [
      'in another function',
      [
        'def fitted(selector, table, target):',
        ...CHOSEN,
        'def choose(table, target):',
        '    return fitted(SelectKBest(k=3), table, target)',
      ],
    ],
  ])('REQ-SF-019: is not called for each part if it learns from them %s', async (_name, helper) => {
    const source = `${[...IMPORTS, ...helper, ...LINES].join('\n')}\n`;
    const { findings } = await analyzeLeakage(source);
    const block = findings.find(({ codeBlock }) => codeBlock.includes(MEANS))?.codeBlock ?? '';
    const repair = await repairLeak(source, block);
    const text = repair.ok ? repair.replacement : repair.reason;
    expect(text).toContain('means = data.iloc[fit_rows].groupby("shop")["price"].mean()');
    expect(text).toContain('features = choose(data, "price")');
  });
});
