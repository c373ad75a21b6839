import { describe, expect, it } from 'vitest';
import { analyzeLeakage } from '../../src/leakage/index.js';

const HEAD = `import random
import numpy as np
import pandas as pd
import polars as pl
from sklearn.linear_model import Ridge
rng = np.random.default_rng(0)
df = pd.read_csv("a.csv")
valid = df.sample(frac=0.2, random_state=3)
other = df.sample(frac=0.2, random_state=4)
held = rng.choice(len(df), 100, replace=False)
`;
const TAIL = `
m = Ridge().fit(train[["x", "z"]].fillna(0), train["y"])
print("Final Validation Performance:", m.score(valid[["x", "z"]].fillna(0), valid["y"]))
`;

/** What divides the rows: the clean form, and one in which scored rows may be among those of the training. */
const ROWS: readonly (readonly [clean: string, leaky: string])[] = [
  ['train = df[~df.index.isin(valid.index.values)]', 'train = df[~df.index.isin(other.index.values)]'],
  [
    'train = df.loc[list(set(df.index) - set(valid.index))]',
    'train = df.loc[list(set(df.index) - set(other.index))]',
  ],
  ['train = df.loc[np.setdiff1d(df.index.values, valid.index.values)]', 'train = df.loc[df.index.values]'],
  [
    'train = df.loc[[i for i in df.index if i not in valid.index]]',
    'train = df.loc[[i for i in df.index if i in valid.index]]',
  ],
  ["train = df[~df['id'].isin(valid['id'])]", "train = df[df['id'].isin(valid['id'])]"],
  ["train = df[~df['id'].isin(valid['id'])]", "train = df[~df['id'].isin(valid['code'])]"],
  ["train = df[~df['id'].isin(set(valid['id']))]", "train = df[~df['id'].isin(set(other['id']))]"],
  [
    "train = df[~df['id'].isin(valid['id'].tolist())]",
    "valid['id'] = 0\ntrain = df[~df['id'].isin(valid['id'])]",
  ],
  ["train = df[~np.isin(df['id'], valid['id'])]", "train = df[np.isin(df['id'], valid['id'])]"],
  [
    "train = df[np.isin(df['id'], valid['id'], invert=True)]",
    "train = df[~np.isin(df['id'], valid['id'], invert=True)]",
  ],
  [
    "train = df[df['id'].map(lambda i: i not in valid['id'].values)]",
    "train = df[df['id'].map(lambda i: i in valid['id'].values)]",
  ],
  ['train = df[df.index.isin(valid.index) == False]', 'train = df[df.index.isin(valid.index) != False]'],
  [
    'valid, train = df.iloc[held], df.iloc[np.delete(np.arange(len(df)), held)]',
    'valid, train = df.iloc[held], df.iloc[np.delete(np.arange(len(df)), [1, 2])]',
  ],
  [
    'mask = np.ones(len(df), bool)\nmask[held] = False\nvalid, train = df.iloc[held], df[mask]',
    'mask = np.ones(len(df), bool)\nmask[held] = False\nmask[5:90] = True\nvalid, train = df.iloc[held], df[mask]',
  ],
  [
    'mask = np.zeros(len(df), bool)\nmask[held] = True\nvalid, train = df[mask], df[~mask]',
    'mask = np.zeros(len(df), bool)\nmask[held] = True\nvalid, train = df[mask], df.iloc[held]',
  ],
  [
    'valid, train = df.iloc[held], df.iloc[[i for i in range(len(df)) if i not in set(held)]]',
    'valid, train = df.iloc[held], df.iloc[[i for i in range(len(df)) if i + 1 not in set(held)]]',
  ],
  [
    'valid, train = df.iloc[held], df.iloc[list(set(range(len(df))) - set(held))]',
    'valid, train = df.iloc[held], df.iloc[np.arange(len(df)) - held]',
  ],
  [
    'valid, train = df.iloc[np.where(df["day"] >= 9)[0]], df.iloc[np.flatnonzero(df["day"] < 9)]',
    'valid, train = df.iloc[np.where(df["day"] >= 9)[0]], df.iloc[np.flatnonzero(df["day"] < 10)]',
  ],
  [
    'late = [2021, 2022]\nvalid, train = df.query("year in @late"), df.query("year not in @late")',
    'late, more = [2021], [2020]\nvalid, train = df.query("year in @late"), df.query("year not in @more")',
  ],
  ['train = df.query("id not in @valid.id")', 'train = df.query("id in @valid.id")'],
  ['train = df.query("index not in @valid.index")', 'train = df.query("index not in @other.index")'],
  [
    'train, valid = df.truncate(after="2020-12-31"), df.truncate(before="2021-01-01")',
    'train, valid = df.truncate(after="2020-12-31"), df.truncate(before="2020-01-01")',
  ],
  [
    'parts = df.groupby("part")\ntrain, valid = parts.get_group("train"), parts.get_group("valid")',
    'parts = df.groupby("part")\ntrain, valid = parts.get_group("train"), df[df["fold"] == 0]',
  ],
  [
    'order = np.argsort(rng.random(len(df)))\ntrain, valid = df.iloc[order[100:]], df.iloc[order[:100]]',
    'order = np.argsort(rng.random(len(df)))\ntrain, valid = df.iloc[order[100:]], df.iloc[order[100:]]',
  ],
  [
    'few = set(random.sample(range(len(df)), 9))\ntrain, valid = (df.iloc[[i for i in range(len(df)) if i not in few]], df.iloc[[i for i in range(len(df)) if i in few]])',
    'few, more = set(random.sample(range(len(df)), 9)), set(random.sample(range(len(df)), 9))\ntrain, valid = (df.iloc[[i for i in range(len(df)) if i not in few]], df.iloc[[i for i in range(len(df)) if i in more]])',
  ],
  [
    'valid = pd.read_csv("a.csv").sample(frac=0.2)\ntrain = df[~df["id"].isin(valid["id"])]',
    'valid = pd.read_csv("a.csv", nrows=100)\ntrain = df',
  ],
  [
    'valid, train = pd.read_csv("a.csv", dtype={"z": int})[:100], df[100:]',
    'valid, train = pd.read_csv("a.csv", dtype={"z": int})[:100], df',
  ],
  [
    'train, valid = df.head(len(df) - 100), df.tail(100)',
    'train, valid = df.head(len(df) - 100), df.head(100)',
  ],
];

describe('rows that are told apart by what is among others', () => {
  it.each(ROWS)('%s: nothing is left open', async (clean) => {
    expect(await analyzeLeakage(HEAD + clean + TAIL)).toMatchObject({ findings: [], coverage: 'full' });
  });

  it.each(ROWS.map(([, leaky]) => leaky))('%s: is a finding, or left open', async (leaky) => {
    const { findings, coverage } = await analyzeLeakage(HEAD + leaky + TAIL);
    if (findings.length === 0) expect(coverage).not.toBe('full');
  });

  it.each([
    ["df.filter(~pl.col('id').is_in(valid['id'].implode()))", 'full'],
    ["df.filter(~df['id'].is_in(valid['id']))", 'full'],
    ["df.join(valid, on='id', how='anti')", 'full'],
    ["df.join(valid, left_on='id', right_on='code', how='anti')", 'partial'],
    ["df.filter(~pl.col('id').is_in(valid['code']))", 'partial'],
  ] as const)('in polars: %s', async (train, expected) => {
    const head = HEAD.replace(/^(df|valid|other) = .*\n/gm, '');
    const rows = `df = pl.read_csv("a.csv")\nvalid = df.sample(fraction=0.2, seed=1)\ntrain = ${train}`;
    const { findings, coverage } = await analyzeLeakage(
      head + rows + TAIL.replaceAll('.fillna(0)', '.fill_null(0)'),
    );
    expect(findings).toEqual([]);
    expect(coverage).toBe(expected);
  });
});
