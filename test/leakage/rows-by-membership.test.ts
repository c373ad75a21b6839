import { describe, expect, it } from 'vitest';
import { analyzeLeakage } from '../../src/leakage/index.js';

const HEAD = `import random
import numpy as np
import pandas as pd
import polars as pl
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, train_test_split
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
  ['train = df.drop(index=list(valid.index))', 'train = df.drop(index=list(other.index))'],
  [
    'train = df[np.logical_not(df.index.isin(valid.index))]',
    'train = df[np.logical_not(df.index.isin(other.index))]',
  ],
  ['train = df[np.invert(df.index.isin(valid.index))]', 'train = df[df.index.isin(valid.index)]'],
  ['train = df.reindex(df.index.drop(valid.index))', 'train = df.reindex(df.index.drop(other.index))'],
  [
    'train = df.take(np.delete(np.arange(len(df)), held))\nvalid = df.take(held)',
    'train = df.take(held)\nvalid = df.take(held)',
  ],
  [
    'train = df.loc[df.index.symmetric_difference(valid.index)]',
    'train = df.loc[df.index.symmetric_difference(other.index)]',
  ],
  [
    'train = df[[i not in set(valid.index) for i in df.index]]',
    'train = df[[i in set(valid.index) for i in df.index]]',
  ],
  [
    'train = df.merge(valid, how="outer", indicator=True).query("_merge == \'left_only\'")',
    'train = df.merge(valid, how="outer", indicator=True).query("_merge == \'both\'")',
  ],
  [
    'all = df.merge(valid[["id"]], on="id", how="left", indicator="where")\ntrain = all[all["where"] == "left_only"]',
    'all = df.merge(other[["id"]], on="id", how="left", indicator="where")\ntrain = all[all["where"] == "left_only"]',
  ],
  [
    'valid, train = df.iloc[::5], df.drop(df.index[::5])',
    'valid, train = df.iloc[::5], df.drop(df.index[::4])',
  ],
  // Distinct values of a column are divided, and the rows by them.
  [
    'mine, others = train_test_split(df["id"].unique(), random_state=0)\ntrain, valid = df[df["id"].isin(mine)], df[df.id.isin(others)]',
    'mine, others = train_test_split(df["id"].unique(), random_state=0)\ntrain, valid = df[df["id"].isin(mine)], df[df.code.isin(others)]',
  ],
  [
    'mine, others = train_test_split(np.unique(df["id"]))\nmine, third = train_test_split(mine)\ntrain, valid = df[df["id"].isin(mine)], df.query("id in @others")',
    'mine, others = train_test_split(np.unique(df["id"]))\nfirst, third = train_test_split(mine)\ntrain, valid = df[df["id"].isin(mine)], df.query("id in @first")',
  ],
  [
    'ids = df["id"].unique()\nrng.shuffle(ids)\ntrain, valid = df[df["id"].isin(ids[100:])], df[df["id"].isin(ids[:100])]',
    'ids = df["id"].unique()\nrng.shuffle(ids)\ntrain, valid = df[df["id"].isin(ids[100:])], df[df["id"].isin(ids[100:])]',
  ],
  [
    'some = rng.choice(df["id"].unique(), 50, replace=False)\ntrain, valid = df[~df["id"].isin(some)], df[df["id"].isin(some)]',
    'some = rng.choice(df["id"].unique(), 50, replace=False)\nmore = rng.choice(df["id"].unique(), 50, replace=False)\ntrain, valid = df[~df["id"].isin(some)], df[df["id"].isin(more)]',
  ],
  [
    'ids = set(df["id"].unique())\nsome = set(rng.choice(df["id"].unique(), 50))\ntrain, valid = df[df["id"].isin(ids - some)], df[df["id"].isin(some)]',
    'ids = set(df["id"].unique())\nsome = set(rng.choice(df["id"].unique(), 50))\ntrain, valid = df[df["id"].isin(ids)], df[df["id"].isin(some)]',
  ],
  [
    'days = np.sort(df["day"].unique())\nfor a, b in KFold(5).split(days):\n    train, valid = df[df["day"].isin(days[a])], df[df["day"].isin(days[b])]',
    'days = np.sort(df["day"].unique())\nfor a, b in KFold(5).split(days):\n    train, valid = df[df["day"].isin(days)], df[df["day"].isin(days[b])]',
  ],
  // Rows of a person follow each other, and persons are divided as a whole.
  [
    'df["z"] = df.groupby("id")["x"].shift(1)\nmine, others = train_test_split(df["id"].unique())\ntrain, valid = df[df["id"].isin(mine)], df[df["id"].isin(others)]',
    'df["z"] = df["x"] / df["x"].std()\nmine, others = train_test_split(df["id"].unique())\ntrain, valid = df[df["id"].isin(mine)], df[df["id"].isin(others)]',
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
    ["df.remove(pl.col('id').is_in(valid['id']))", 'full'],
    ["df.remove(pl.col('id').is_in(valid['code']))", 'partial'],
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
