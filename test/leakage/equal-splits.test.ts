import { describe, expect, it } from 'vitest';
import { analyzeLeakage } from '../../src/leakage/index.js';

/** A script that takes a median from the rows of one division and scores the rows of another. */
function script(first: string, taken: string, second: string): string {
  return [
    'import pandas as pd',
    'from sklearn.linear_model import Ridge',
    'from sklearn.model_selection import train_test_split',
    'df = pd.read_csv("rides.csv")',
    `fit_rows, other_rows = train_test_split(range(len(df)), ${first})`,
    `df["km"] = df["km"].fillna(df["km"].iloc[${taken}].median())`,
    `X_train, X_val, y_train, y_val = train_test_split(df[["km"]], df["fare"], ${second})`,
    'model = Ridge().fit(X_train, y_train)',
    'print("Final Validation Performance:", model.score(X_val, y_val))',
    '',
  ].join('\n');
}

describe('two calls of train_test_split with one seed', () => {
  it('divide the same rows in the same way', async () => {
    const seeded = 'test_size=0.2, random_state=42';
    expect((await analyzeLeakage(script(seeded, 'fit_rows', seeded))).findings).toEqual([]);
    const [finding] = (await analyzeLeakage(script(seeded, 'other_rows', seeded))).findings;
    expect(finding?.codeBlock).toContain('df["km"].iloc[other_rows].median()');
  });

  it.each([
    ['another seed', 'test_size=0.2, random_state=42', 'test_size=0.2, random_state=43'],
    ['another size', 'test_size=0.2, random_state=42', 'test_size=0.3, random_state=42'],
    ['no seed', 'test_size=0.2', 'test_size=0.2'],
    ['labels in one alone', 'random_state=1', 'random_state=1, stratify=df["fare"]'],
  ])(
    'are not taken to with %s: both parts of one have rows in both parts of the other',
    async (_, first, second) => {
      for (const part of ['fit_rows', 'other_rows']) {
        const { findings } = await analyzeLeakage(script(first, part, second));
        expect(findings).toEqual([expect.objectContaining({ kind: 'statistics', line: 6 })]);
      }
    },
  );
});
