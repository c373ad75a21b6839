import { describe, expect, it } from 'vitest';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';

async function repairOf(lines: readonly string[]): Promise<string> {
  const source = `${lines.join('\n')}\n`;
  const [finding] = (await analyzeLeakage(source)).findings;
  if (finding === undefined) throw new Error('nothing was found');
  const repair = await repairLeak(source, finding.codeBlock);
  return repair.ok ? source.replace(repair.codeBlock, () => repair.replacement) : repair.reason;
}

const DATA = [
  'import numpy as np',
  'import pandas as pd',
  'from sklearn.preprocessing import StandardScaler',
  'from xgboost import XGBRegressor',
  'CUT = pd.Timestamp("2020-01-01")',
  'sales = pd.read_csv("sales.csv", parse_dates=["date"])',
];
const MEANS = [
  'means = sales.groupby("shop")["sold"].mean().rename("usual").reset_index()',
  'sales = sales.merge(means, on="shop", how="left")',
];
const PARTS = ['train = sales[sales["date"] < CUT]', 'valid = sales[sales["date"] >= CUT]'];
const MODEL = [
  'features = ["usual", "price"]',
  'model = XGBRegressor().fit(train[features], train["sold"])',
  'print("Final Validation Performance:", model.score(valid[features], valid["sold"]))',
];

describe('what is learned before rows are divided by a condition', () => {
  it('REQ-SF-019: is learned on the rows that fulfil the condition of the training part', async () => {
    const text = await repairOf([...DATA, ...MEANS, ...PARTS, ...MODEL]);
    expect(text).toContain(
      [
        'fit_rows = sales["date"] < CUT',
        'means = sales.loc[fit_rows].groupby("shop")["sold"].mean().rename("usual").reset_index()',
        MEANS[1],
        ...PARTS,
      ].join('\n'),
    );
    expect((await analyzeLeakage(text)).findings).toEqual([]);
  });

  it('REQ-SF-019: also where the bound is computed of the same column later', async () => {
    const cut = 'last = sales["date"].max() - pd.Timedelta(weeks=6)';
    const parts = PARTS.map((line) => line.replace('CUT', 'last'));
    const text = await repairOf([...DATA, ...MEANS, cut, ...parts, ...MODEL]);
    expect(text).toContain('fit_rows = sales["date"] < sales["date"].max() - pd.Timedelta(weeks=6)\n');
    expect((await analyzeLeakage(text)).findings).toEqual([]);
  });

  it('REQ-SF-019: not if a merge numbers the rows again before a second fit', async () => {
    const more = [
      'kinds = sales.groupby("kind")["sold"].mean().rename("of_kind").reset_index()',
      'sales = sales.merge(kinds, on="kind", how="left")',
    ];
    const text = await repairOf([...DATA, ...MEANS, ...more, ...PARTS, ...MODEL]);
    expect(text).not.toContain('kinds = sales.loc[fit_rows]');
  });

  it('REQ-SF-019: not if rows are dropped before the bound is computed, which may be another one then', async () => {
    const lines = ['sales = sales.dropna()', 'last = sales["date"].max() - pd.Timedelta(weeks=6)'];
    const parts = PARTS.map((line) => line.replace('CUT', 'last'));
    expect(await repairOf([...DATA, ...MEANS, ...lines, ...parts, ...MODEL])).toMatch(/^Not rewritten/);
  });

  it.each([
    ['the column changes before the division', 'sales["date"] = sales["date"] + pd.Timedelta(days=1)'],
    [
      'the column may be one that a loop changes',
      'for name in sales.columns:\n    sales[name] = sales[name].shift(1)',
    ],
    ['the bound is another one later', 'CUT = sales["price"].max()'],
    ['another table takes the name', 'sales = pd.concat([sales, pd.read_csv("more.csv")])'],
  ])('REQ-SF-019: is not rewritten if %s', async (_, line) => {
    expect(await repairOf([...DATA, ...MEANS, line, ...PARTS, ...MODEL])).toMatch(/^Not rewritten/);
  });

  it.each([
    ['stops at gaps', 'XGBRegressor()', 'Ridge()'],
    ['is not known to take them', 'XGBRegressor()', 'build_model()'],
  ])(
    'REQ-SF-019: rows of a new shop would have a gap: there is no rewrite for a model that %s',
    async (_, from, to) => {
      const lines = [...DATA, ...MEANS, ...PARTS, ...MODEL].map((line) =>
        line
          .replace(from, to)
          .replace('from xgboost import XGBRegressor', 'from sklearn.linear_model import Ridge'),
      );
      const text = await repairOf(lines).catch(() => 'Not rewritten');
      expect(text).toMatch(/^Not rewritten/);
    },
  );

  it('REQ-SF-019: nor for a number of rows, which would be 0', async () => {
    const counted = MEANS.map((line) => line.replace('.mean()', '.count()'));
    expect(await repairOf([...DATA, ...counted, ...PARTS, ...MODEL])).toMatch(/^Not rewritten/);
  });
});
