import { describe, expect, it } from 'vitest';
import { analyzeLeakage } from '../../src/leakage/index.js';

const HEAD = `import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from mylib import evaluate_elsewhere
d = pd.read_csv("a.csv")
X, y = d.drop(columns="y"), d["y"]
m = Ridge().fit(X, y)
score = mean_squared_error(y, m.predict(X))
`;

async function kinds(script: string): Promise<string[]> {
  return (await analyzeLeakage(HEAD + script)).findings.map(({ kind }) => kind);
}

describe('scores of training rows', () => {
  it('printed as validation scores, and the only ones, are found', async () => {
    expect(await kinds('print("Final Validation Performance:", score)\n')).toEqual(['training-rows']);
  });

  it.each([
    ['printed as what they are', 'print("training error:", score)\n'],
    [
      'printed beside a validation score that is computed elsewhere',
      'print("train", score, "valid", evaluate_elsewhere(m))\n',
    ],
    ['not printed', 'del score\n'],
  ])('%s are clean', async (_name, script) => {
    expect(await kinds(script)).toEqual([]);
  });
});
