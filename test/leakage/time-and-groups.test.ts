import { describe, expect, it } from 'vitest';
import { analyzeLeakage } from '../../src/leakage/index.js';

const HEAD = `import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_val_score, train_test_split
`;
const WINDOWS = `def windows(a, n=24):
    X, y = [], []
    for i in range(n, len(a)):
        X.append(a[i - n:i])
        y.append(a[i])
    return np.array(X), np.array(y)
series = pd.read_csv("a.csv")["v"].values
`;

async function findings(script: string) {
  return (await analyzeLeakage(HEAD + script)).findings;
}

describe('overlapping windows', () => {
  it('dealt out at random are found, at the split', async () => {
    const [finding, ...others] = await findings(
      `${WINDOWS}X, y = windows(series)\na, b, ya, yb = train_test_split(X, y, random_state=0)\nprint(Ridge().fit(a, ya).score(b, yb))\n`,
    );
    expect(others).toEqual([]);
    expect(finding?.kind).toBe('shuffled-time');
    expect(finding?.codeBlock).toContain('train_test_split(X, y');
  });

  it('of a comprehension are found as well', async () => {
    const found = await findings(
      's = np.load("a.npy")\nn = 10\nX = np.stack([s[i:i + n] for i in range(len(s) - n)])\ny = np.array([s[i + n] for i in range(len(s) - n)])\na, b, ya, yb = train_test_split(X, y)\nprint(Ridge().fit(a, ya).score(b, yb))\n',
    );
    expect(found.map(({ kind }) => kind)).toEqual(['shuffled-time']);
  });

  it.each([
    [
      'in their order',
      `${WINDOWS}X, y = windows(series)\na, b, ya, yb = train_test_split(X, y, shuffle=False)\nprint(Ridge().fit(a, ya).score(b, yb))\n`,
    ],
    [
      'of the two sides of a cut',
      `${WINDOWS}cut = int(len(series) * 0.8)\nXa, ya = windows(series[:cut])\nXb, yb = windows(series[cut:])\nXt, Xv, yt, yv = train_test_split(Xa, ya, random_state=0)\nprint("Final", Ridge().fit(Xt, yt).score(Xb, yb))\n`,
    ],
    [
      'that are batches and do not overlap',
      'd = pd.read_csv("a.csv")\nparts = []\nfor i in range(0, len(d), 64):\n    parts.append(np.log1p(d["x"].values[i:i + 64]))\nX, y = np.concatenate(parts).reshape(-1, 1), d["y"].values\na, b, ya, yb = train_test_split(X, y, random_state=0)\nprint(Ridge().fit(a, ya).score(b, yb))\n',
    ],
  ])('%s are clean', async (_name, script) => {
    expect(await findings(script)).toEqual([]);
  });
});

describe('groups', () => {
  const rows =
    'd = pd.read_csv("a.csv")\ngroups = d["subject"]\nX, y = d.drop(columns=["subject", "y"]), d["y"]\n';

  it('that the code names and a random split ignores are found, at the split', async () => {
    const [finding] = await findings(
      `${rows}a, b, ya, yb = train_test_split(X, y, random_state=0)\nprint(RandomForestClassifier().fit(a, ya).score(b, yb))\n`,
    );
    expect(finding?.kind).toBe('group-overlap');
    expect(finding?.codeBlock).toContain('train_test_split');
  });

  it('that the splitter keeps together are clean', async () => {
    const script = `${rows}print(cross_val_score(RandomForestClassifier(), X, y, groups=groups, cv=GroupKFold(5)).mean())\n`;
    expect(await findings(script)).toEqual([]);
  });
});
