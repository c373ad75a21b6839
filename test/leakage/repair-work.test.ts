import { expect, it } from 'vitest';
import { analyzeLeakage } from '../../src/leakage/analyze.js';
import { repairInDetail } from '../../src/leakage/repair/repair-leak.js';

/** A leaky loop over folds with so many statements on one line, each of which reads what the one before it wrote. */
function foldLoop(statements: number): string {
  const chain = Array.from({ length: statements }, (_, at) => `a${at} = X[:, ${at % 9}] + a${at - 1}`);
  return [
    'import numpy as np',
    'import pandas as pd',
    'from sklearn.linear_model import Ridge',
    'from sklearn.metrics import mean_squared_error',
    'from sklearn.model_selection import KFold',
    'from sklearn.preprocessing import StandardScaler',
    "df = pd.read_csv('train.csv')",
    "y = df['y'].values",
    "X = df.drop(columns=['y']).values",
    'X = StandardScaler().fit_transform(X)',
    'scores = []',
    'for tr, va in KFold(5).split(X):',
    `    ${['a0 = 1', ...chain.slice(1)].join('; ')}`,
    '    model = Ridge()',
    '    model.fit(X[tr], y[tr])',
    '    scores.append(mean_squared_error(y[va], model.predict(X[va])))',
    'print(np.mean(scores))',
    '',
  ].join('\n');
}

async function repairOf(source: string) {
  const { findings } = await analyzeLeakage(source);
  return repairInDetail(source, findings[0]?.codeBlock ?? '');
}

it('repairs a leak beside hundreds of statements', async () => {
  expect((await repairOf(foldLoop(500))).repair.ok).toBe(true);
});

it('gives up a repair whose work grows by the square of the script, and says so', async () => {
  const [one, two] = [await repairOf(foldLoop(1_500)), await repairOf(foldLoop(3_000))];
  expect(two.repair).toMatchObject({ ok: false, reason: expect.stringContaining('too much work') });
  // The limit grows with the script. Without one, twice the statements are four times the work.
  expect(two.work / one.work).toBeLessThan(2.6);
});
