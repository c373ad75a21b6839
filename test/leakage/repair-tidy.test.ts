import { describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';

const IMPORTS = [
  'import lightgbm as lgb',
  'import pandas as pd',
  'from sklearn.linear_model import Ridge',
  'from sklearn.model_selection import KFold, train_test_split',
  'from sklearn.preprocessing import StandardScaler',
  '',
];
const DATA = ['df = pd.read_csv("rides.csv")', 'X = df[["km", "kg"]]', 'y = df["fare"]'];
const SPLIT = 'X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=3)';
const FILLED = 'df["km"] = df.groupby("zone")["km"].transform(lambda s: s.fillna(s.median()))';
const SCORE = [
  'model = Ridge().fit(X_tr, y_tr)',
  'print("Final Validation Performance:", model.score(X_va, y_va))',
];
const VALIDATED = 'scores = cross_val_score(Ridge(), X_s, y, cv=5)';
const SHOWN = 'print("Final Validation Performance:", scores.mean())';

/** The script as a check leaves it that asks no model, in lines. */
async function corrected(...lines: string[]): Promise<string[]> {
  const { status, solution } = await checkAndFixLeakage(
    { content: [...lines, ''].join('\n') },
    createOfflineRunner(),
  );
  expect(status).toBe('corrected');
  return solution.content.trimEnd().split('\n');
}

const BOOSTED = [
  'train_set = lgb.Dataset(X_tr, y_tr)',
  'valid_set = lgb.Dataset(X_va, y_va, reference=train_set)',
  'params = {"objective": "regression"}',
  'booster = lgb.train(params, train_set, 900, valid_sets=[valid_set], callbacks=[lgb.early_stopping(50)])',
  'print("Final Validation Performance:", mean_squared_error(y_va, booster.predict(X_va)))',
];

describe('REQ-SF-019: a rewrite is as a person would write it', () => {
  it('leaves no data set without a reader', async () => {
    const text = await corrected(
      ...IMPORTS,
      'from sklearn.metrics import mean_squared_error',
      ...DATA,
      SPLIT,
      ...BOOSTED,
    );
    expect(text.join('\n')).not.toMatch(/train_set =|valid_set =/);
    expect(text).toContain('fit_set = lgb.Dataset(fit_x, fit_y)');
  });

  it('keeps a data set that another line reads', async () => {
    const shown = 'print(train_set.num_data())';
    const imports = [...IMPORTS, 'from sklearn.metrics import mean_squared_error'];
    const text = await corrected(...imports, ...DATA, SPLIT, ...BOOSTED, shown);
    expect(text).toContain(BOOSTED[0]);
    expect(text).not.toContain(BOOSTED[1]);
  });

  it('names the rows that nobody takes `_`, unless the script reads `_`', async () => {
    const lines = [
      ...IMPORTS,
      'df = read_rides()',
      FILLED,
      'X, y = df[["km", "kg"]], list(df["fare"])',
      SPLIT,
      ...SCORE,
    ];
    expect((await corrected(...lines)).join('\n')).toMatch(/^fit_rows, _ = train_test_split\(range/m);
    const text = (await corrected(...lines, 'print(_)')).join('\n');
    expect(text).toMatch(/^fit_rows, rest_rows = train_test_split\(range/m);
  });

  it('divides the rows once: the parts of the script are the rows at the positions of its split', async () => {
    const text = await corrected(...IMPORTS, DATA[0] ?? '', FILLED, ...DATA.slice(1), SPLIT, ...SCORE);
    expect(text.filter((line) => line.includes('train_test_split('))).toEqual([
      'fit_rows, rest_rows = train_test_split(range(len(df)), test_size=0.2, random_state=3)',
    ]);
    expect(text).toContain('X_tr, X_va = X.iloc[fit_rows], X.iloc[rest_rows]');
  });

  it('makes a split once that the script makes below', async () => {
    const check = '_, X_va, _, y_va = train_test_split(X, y, test_size=0.2, random_state=3)';
    const shown = 'print("Final Validation Performance:", model.score(X_va, y_va))';
    const text = await corrected(...IMPORTS, ...DATA, 'model = Ridge()', 'model.fit(X, y)', check, shown);
    expect(text.slice(-4)).toEqual([
      'model = Ridge()',
      'fit_x, X_va, fit_y, y_va = train_test_split(X, y, test_size=0.2, random_state=3)',
      'model.fit(fit_x, fit_y)',
      shown,
    ]);
  });

  it('holds the same rows out once for two models of a fold', async () => {
    const trained = (name: string): string =>
      `    ${name}.fit(X_tr, y_tr, eval_set=[(X_va, y_va)], callbacks=[lgb.early_stopping(50)])`;
    const text = await corrected(
      ...IMPORTS,
      'from sklearn.metrics import mean_squared_error',
      ...DATA,
      'for tr, va in KFold(5).split(X):',
      '    X_tr, X_va, y_tr, y_va = X.iloc[tr], X.iloc[va], y.iloc[tr], y.iloc[va]',
      '    one, two = lgb.LGBMRegressor(), lgb.LGBMRegressor(max_depth=3)',
      trained('one'),
      trained('two'),
      '    p = one.predict(X_va) + two.predict(X_va)',
      '    print("Final Validation Performance:", mean_squared_error(y_va, p / 2))',
    );
    expect(text.filter((line) => line.includes('train_test_split('))).toHaveLength(1);
    expect(text.filter((line) => line.includes('eval_set=[(stop_x, stop_y)]'))).toHaveLength(2);
  });

  it('finds positions once, before a loop over columns', async () => {
    const text = await corrected(
      ...IMPORTS,
      'df = read_rides()',
      'for c in ["km", "kg"]:',
      '    df[c + "_z"] = df[c] - df[c].mean()',
      'X, y = df[["km_z", "kg_z"]], df["fare"]',
      SPLIT,
      ...SCORE,
    );
    const at = text.findIndex((line) => line.includes('range(len(df))'));
    expect(text[at + 1]).toBe('for c in ["km", "kg"]:');
  });

  it.each([
    [
      'beside the names of the same module',
      'from sklearn.pipeline import Pipeline',
      'from sklearn.pipeline import Pipeline, make_pipeline',
    ],
    [
      'in the order of the imports',
      'from sklearn.svm import SVR',
      'from sklearn.pipeline import make_pipeline\nfrom sklearn.preprocessing import StandardScaler\nfrom sklearn.svm import SVR',
    ],
  ])('puts an import %s', async (_, line, expected) => {
    const text = await corrected(
      'import pandas as pd',
      'from sklearn.linear_model import Ridge',
      'from sklearn.model_selection import cross_val_score',
      'from sklearn.preprocessing import StandardScaler',
      line,
      '',
      ...DATA,
      'X_s = StandardScaler().fit_transform(X)',
      VALIDATED,
      SHOWN,
    );
    expect(text.join('\n')).toContain(expected);
    expect(text.slice(-2)).toEqual([
      VALIDATED.replace('Ridge(), X_s', 'make_pipeline(StandardScaler(), Ridge()), X'),
      SHOWN,
    ]);
  });

  it('only learns where nothing reads the table', async () => {
    const text = await corrected(
      ...IMPORTS,
      'from sklearn.model_selection import cross_val_score',
      ...DATA,
      'scaler = StandardScaler()',
      'X_s = scaler.fit_transform(X)',
      'print(scaler.mean_)',
      VALIDATED,
      SHOWN,
    );
    expect(text).toContain('scaler.fit(X)');
  });

  it('leaves no cell without a line, and no second empty line', async () => {
    const cells = [
      '# In[3]:',
      '',
      'scaler = StandardScaler()',
      '',
      '',
      '# In[4]:',
      '',
      '',
      'X = scaler.fit_transform(X)',
      '',
    ];
    const text = await corrected(...IMPORTS, ...DATA, '', ...cells, '', '# In[5]:', '', SPLIT, ...SCORE);
    expect(text.filter((line) => line.startsWith('# In'))).toEqual(['# In[3]:', '# In[5]:']);
    expect(text.join('\n')).not.toContain('\n\n\n\n');
  });
});
