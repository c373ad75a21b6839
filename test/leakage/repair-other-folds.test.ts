import { describe, expect, it } from 'vitest';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';

const FOLDS = 'folds = StratifiedKFold(5, shuffle=True, random_state=0)';
const PREDICTIONS = [
  'oof = np.zeros(len(X))',
  'for tr, va in folds.split(X, y):',
  '    model = LogisticRegression().fit(X.iloc[tr], y[tr])',
  '    oof[va] = model.predict_proba(X.iloc[va])[:, 1]',
];
const GRID = 'grid = np.arange(0.1, 0.9, 0.1)';
const CHOICE = 'thr = max(grid, key=lambda t: f1_score(y, oof > t))';
const SCORE = 'print("F1", f1_score(y, oof > thr))';

function script(...lines: readonly string[]): string {
  return [
    'import numpy as np',
    'import pandas as pd',
    'from scipy.optimize import minimize',
    'from sklearn.linear_model import LogisticRegression',
    'from sklearn.metrics import f1_score',
    'from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit',
    'df = pd.read_csv("loans.csv")',
    'X, y = df.drop(columns="bad"), df["bad"].values',
    ...lines,
    '',
  ].join('\n');
}

async function repairOf(source: string): Promise<string> {
  const findings = (await analyzeLeakage(source)).findings.filter(({ kind }) => kind === 'selection');
  const repair = await repairLeak(source, findings[0]?.codeBlock ?? '');
  return repair.ok ? repair.replacement : repair.reason;
}

const CHOSEN_IN_FOLDS = [
  'oof_pred = np.zeros(len(oof), dtype=bool)',
  'for tr, va in folds.split(X, y):',
  '    fold_thr = max(grid, key=lambda t: f1_score(y[tr], oof[tr] > t))',
  '    oof_pred[va] = oof[va] > fold_thr',
  'print("F1", f1_score(y, oof_pred))',
].join('\n');

describe('a choice on out-of-fold predictions', () => {
  it('REQ-SF-019: is made on the predictions for the other folds', async () => {
    expect(await repairOf(script(FOLDS, ...PREDICTIONS, GRID, CHOICE, SCORE))).toBe(CHOSEN_IN_FOLDS);
  });

  it('is made on all rows as well where something else reads it', async () => {
    const lines = [FOLDS, ...PREDICTIONS, GRID, CHOICE, SCORE, 'sub = model.predict_proba(new) > thr'];
    const source = script(...lines);
    const [finding] = (await analyzeLeakage(source)).findings;
    const repair = await repairLeak(source, finding?.codeBlock ?? '');
    expect(repair).toEqual({ ok: true, codeBlock: SCORE, replacement: CHOSEN_IN_FOLDS });
  });

  it('fills the variable that it is applied to, which later lines read', async () => {
    const lines = ['pred = (oof > thr).astype(int)', 'print("F1", f1_score(y, pred))'];
    const text = await repairOf(script(FOLDS, ...PREDICTIONS, GRID, CHOICE, ...lines));
    expect(text).toContain('pred = np.zeros(len(oof), dtype=int)');
    expect(text).toContain('    pred[va] = (oof[va] > fold_thr).astype(int)');
  });

  it.each([
    ['a list', 'f1s = [f1_score(y, oof > t) for t in grid]\nthr = grid[np.argmax(f1s)]', 'max(f1s)'],
    [
      'a loop',
      'best, thr = 0, 0.5\nfor t in grid:\n    f1 = f1_score(y, oof > t)\n    if f1 > best:\n        best, thr = f1, t',
      'best',
    ],
    [
      'a loop that labels first',
      'best, thr = 0, 0.5\nfor t in grid:\n    labels = oof > t\n    f1 = f1_score(y, labels)\n    if f1 > best:\n        best, thr = f1, t',
      'best',
    ],
    [
      'a table',
      'f1s = {}\nfor t in grid:\n    f1s[t] = f1_score(y, oof > t)\nthr = max(f1s, key=f1s.get)',
      'f1s[thr]',
    ],
  ])('computes the score of %s again, where the best one is shown', async (_, choice, best) => {
    const text = await repairOf(script(FOLDS, ...PREDICTIONS, GRID, choice, `print("F1", ${best})`));
    expect(text).toContain('    oof_pred[va] = oof[va] > fold_thr');
    expect(text).toContain('print("F1", f1_score(y, oof_pred))');
  });

  const shown = (...lines: readonly string[]): readonly string[] => [FOLDS, ...PREDICTIONS, GRID, ...lines];
  it.each([
    [
      'the folds are dealt out anew',
      [FOLDS.replace(', random_state=0', ''), ...PREDICTIONS, GRID, CHOICE, SCORE],
      'the folds may be others when they are made once more',
    ],
    [
      'the seed is no number',
      ['rng = np.random.RandomState(0)', FOLDS.replace('=0', '=rng'), ...PREDICTIONS, GRID, CHOICE, SCORE],
      'the folds may be others when they are made once more',
    ],
    [
      'rows are left out more than once, or never',
      ['folds = TimeSeriesSplit(5)', ...PREDICTIONS, GRID, CHOICE, SCORE],
      'the folds may not leave each row out once',
    ],
    [
      'the table is cut after the folds',
      shown('X = X.head(100)', CHOICE, SCORE),
      '`X` is changed after the folds',
    ],
    [
      'the predictions are changed after the folds',
      shown('oof *= 2', CHOICE, SCORE),
      '`oof` is changed after',
    ],
    [
      'how the rows of the labels are taken is not said',
      shown('truth = df["bad"]', CHOICE.replace('y,', 'truth,'), SCORE),
      'how the rows of `truth` are taken is not known',
    ],
    [
      'candidates are drawn at random',
      shown('thr = max(np.random.uniform(size=9), key=lambda t: f1_score(y, oof > t))', SCORE),
      'the choice is made by chance',
    ],
    [
      'a function of the choice prints',
      shown(
        'def score(truth, p):\n    print(p.mean())\n    return f1_score(truth, p)',
        CHOICE.replace('f1_score', 'score'),
        SCORE,
      ),
      'a function of the choice prints',
    ],
    [
      'all scores are printed beside it',
      shown('f1s = [f1_score(y, oof > t) for t in grid]', 'thr = grid[np.argmax(f1s)]', 'print(f1s)', SCORE),
      'the score of what is chosen is shown beside it',
    ],
    [
      'the positions of the fold are others by then',
      shown('va = np.arange(9)', CHOICE, SCORE),
      '`va` is changed after the folds',
    ],
    [
      'what is chosen is applied by a rank among all rows',
      shown(
        'thr = max(grid, key=lambda t: f1_score(y, oof > np.quantile(oof, t)))',
        'print("F1", f1_score(y, oof > np.quantile(oof, thr)))',
      ),
      'how what is chosen is applied to the rows is not followed',
    ],
  ])('is left as it is where %s', async (_, lines, reason) => {
    expect(await repairOf(script(...lines))).toContain(reason);
  });
});
