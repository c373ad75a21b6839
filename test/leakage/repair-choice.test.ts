import { describe, expect, it } from 'vitest';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';

const SPLIT = 'X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=7)';
const FIT = ['model = LogisticRegression()', 'model.fit(X_tr, y_tr)', 'p = model.predict_proba(X_va)[:, 1]'];
const GRID = [
  'best, best_t = 0, 0.5',
  'for t in np.arange(0.1, 0.9, 0.1):',
  '    f1 = f1_score(y_va, p > t)',
  '    if f1 > best:',
  '        best, best_t = f1, t  # keep',
];
const PRINT = ['print("Final Validation Performance:", best)'];

function script(...lines: string[]): string {
  return [
    'import numpy as np',
    'import pandas as pd',
    'from sklearn.linear_model import LogisticRegression',
    'from sklearn.metrics import f1_score',
    'from sklearn.model_selection import train_test_split',
    'df = pd.read_csv("loans.csv")',
    'X, y = df.drop(columns="bad"), df["bad"]',
    ...lines,
    '',
  ].join('\n');
}

async function repairOf(source: string): Promise<string> {
  const [finding] = (await analyzeLeakage(source)).findings;
  const repair = await repairLeak(source, finding?.codeBlock ?? '');
  return repair.ok ? repair.replacement : repair.reason;
}

describe('a choice on the scored rows', () => {
  it('has the loop over the candidates as its block', async () => {
    const [finding] = (await analyzeLeakage(script(SPLIT, ...FIT, ...GRID, ...PRINT))).findings;
    expect(finding?.codeBlock).toBe(GRID.slice(1).join('\n'));
  });

  it('REQ-SF-019: is made on a part of the training rows, and what is chosen is scored as before', async () => {
    const text = await repairOf(script(SPLIT, ...FIT, ...GRID, ...PRINT));
    expect(text).toMatch(/^from sklearn\.base import clone\nfrom sklearn\.linear_model import/);
    expect(text.slice(text.indexOf('fit_x'))).toBe(
      [
        'fit_x, choose_x, fit_y, choose_y = train_test_split(X_tr, y_tr, test_size=0.2, random_state=7)',
        'choose_p = clone(model).fit(fit_x, fit_y).predict_proba(choose_x)[:, 1]',
        'for t in np.arange(0.1, 0.9, 0.1):',
        '    f1 = f1_score(choose_y, choose_p > t)',
        '    if f1 > best:',
        '        best, best_t = f1, t  # keep',
        't = best_t',
        'f1 = f1_score(y_va, p > t)',
        'best, best_t = f1, t',
      ].join('\n'),
    );
  });

  it('REQ-SF-019: a model of CatBoost that has lists of columns is made again without a clone', async () => {
    const model = ['model = CatBoostClassifier(cat_features=["zone"])', ...FIT.slice(1)];
    const text = await repairOf(
      script('from catboost import CatBoostClassifier', SPLIT, ...model, ...GRID, ...PRINT),
    );
    expect(text).toContain('choose_p = CatBoostClassifier(**model.get_params()).fit(fit_x, fit_y)');
    expect(text).not.toContain('clone');
  });

  describe('whose candidates are in a table', () => {
    const TABLE = [
      'scores = {}',
      'for C in [0.1, 1, 10]:',
      '    lr = LogisticRegression(C=C)',
      '    lr.fit(X_tr, y_tr)',
      '    scores[C] = f1_score(y_va, lr.predict(X_va))',
      'best_C = max(scores, key=scores.get)',
    ];
    const AGAIN = 'lr.fit(X_tr, y_tr)\nscores[C] = f1_score(y_va, lr.predict(X_va))';
    const final = 'print("F1", f1_score(y_va, LogisticRegression(C=best_C).fit(X_tr, y_tr).predict(X_va)))';

    it('REQ-SF-019: adds no score of the validation rows to those that a figure shows', async () => {
      const text = await repairOf(script(SPLIT, ...TABLE, 'pd.Series(scores).plot(logx=True)', final));
      expect(text).toContain('scores[C] = f1_score(choose_y, lr.predict(choose_x))');
      expect(text).not.toContain(AGAIN);
    });

    it('REQ-SF-019: makes the chosen one again where its score is read', async () => {
      const text = await repairOf(script(SPLIT, ...TABLE, 'print("F1", scores[best_C])'));
      expect(text).toContain(`C = best_C\nlr = LogisticRegression(C=C)\n${AGAIN}`);
    });

    it('is left as it is where all scores are printed beside it', async () => {
      const text = await repairOf(script(SPLIT, ...TABLE, 'print(scores)', 'print("F1", scores[best_C])'));
      expect(text).toContain('the scores of the candidates are read again after the choice');
    });
  });

  it('says which model predicted, where its variable holds another one now', async () => {
    const replacement = await repairOf(script(SPLIT, ...FIT, 'model = None', ...GRID, ...PRINT));
    expect(replacement).toContain(
      'choose_p = LogisticRegression().fit(fit_x, fit_y).predict_proba(choose_x)',
    );
  });

  it.each([
    [
      'the rows are not divided at random',
      [SPLIT.replace('test_size=0.2', 'shuffle=False'), ...FIT, ...GRID, ...PRINT],
    ],
    [
      'rows were added to the training part',
      [SPLIT, 'X_tr, y_tr = SMOTE().fit_resample(X_tr, y_tr)', ...FIT, ...GRID, ...PRINT],
    ],
    [
      'models are trained with weights',
      [SPLIT, ...FIT.map((line) => line.replace('y_tr)', 'y_tr, sample_weight=w)')), ...GRID, ...PRINT],
    ],
    [
      'models are trained on different tables',
      [SPLIT, 'other = LogisticRegression().fit(X_tr[["a"]], y_tr)', ...FIT, ...GRID, ...PRINT],
    ],
    ['the training part changed after the training', [SPLIT, ...FIT, 'X_tr = X_tr * 2', ...GRID, ...PRINT]],
    ['the predictions changed since', [SPLIT, ...FIT, 'p[p > 0.9] = 1', ...GRID, ...PRINT]],
    [
      'the best of all scores is read again',
      [
        SPLIT,
        ...FIT,
        'scores = {}',
        'for t in np.arange(0.1, 0.9, 0.1):',
        '    scores[t] = f1_score(y_va, p > t)',
        'best_t = max(scores, key=scores.get)',
        'print("Final Validation Performance:", max(scores.values()))',
      ],
    ],
    [
      'a model that saw all training rows predicts for each candidate',
      [
        SPLIT,
        ...FIT,
        'scores = []',
        'cuts = np.arange(0.1, 0.9, 0.1)',
        'scores = [f1_score(y_va, model.predict_proba(X_va)[:, 1] > cut) for cut in cuts]',
        'cut = cuts[np.argmax(scores)]',
        'print("Final Validation Performance:", f1_score(y_va, p > cut))',
      ],
    ],
  ])('is left where %s', async (_, lines) => {
    expect(await repairOf(script(...lines))).toMatch(/^Not rewritten/);
  });
});

describe('a choice by the position of the best score', () => {
  const HELPER = [
    'def best_threshold(y_true, p):',
    '    grid = np.arange(0.05, 0.95, 0.01)',
    '    scores = [f1_score(y_true, p > t) for t in grid]',
    '    k = int(np.argmax(scores))',
    '    return grid[k], scores[k]',
  ];
  const CALL = 'cut, _ = best_threshold(y_va, p)';
  const FINAL = 'print("Final Validation Performance:", f1_score(y_va, p > cut))';
  const LOOP = [
    'scores = []',
    'for c in [0.1, 1, 10]:',
    '    model = LogisticRegression(C=c)',
    '    model.fit(X_tr, y_tr)',
    '    scores.append(f1_score(y_va, model.predict(X_va)))',
    'best_c = [0.1, 1, 10][np.argmax(scores)]',
  ];
  const AGAIN = [
    'model = LogisticRegression(C=best_c)',
    'model.fit(X_tr, y_tr)',
    'print("Final Validation Performance:", f1_score(y_va, model.predict(X_va)))',
  ];

  it('REQ-SF-019: of a helper gets predictions for rows that the model did not see', async () => {
    const text = await repairOf(script(...HELPER, SPLIT, ...FIT, CALL, FINAL));
    expect(text.split('\n').slice(-3)).toEqual([
      'fit_x, choose_x, fit_y, choose_y = train_test_split(X_tr, y_tr, test_size=0.2, random_state=7)',
      'choose_p = clone(model).fit(fit_x, fit_y).predict_proba(choose_x)[:, 1]',
      'cut, _ = best_threshold(choose_y, choose_p)',
    ]);
  });

  it('REQ-SF-019: of a helper that reads labels from outside is made by a copy of it, whose parameters stay', async () => {
    const helper = HELPER.map((line) => line.replace('f1_score(y_true', 'f1_score(y_va'));
    const text = await repairOf(script(SPLIT, ...helper, ...FIT, CALL, FINAL));
    expect(text).toContain('    scores = [f1_score(choose_y, p > t) for t in grid]');
    expect(text).toContain('cut, _ = choose_best_threshold(choose_y, choose_p)');
  });

  it('REQ-SF-019: of candidates that are made again after the loop is made on a part of the training rows', async () => {
    const scaled = 'X_tr, X_va = np.log1p(X_tr), np.log1p(X_va)';
    const text = await repairOf(script(SPLIT, scaled, ...LOOP, ...AGAIN));
    expect(text).toContain(
      [
        '    model.fit(fit_x, fit_y)',
        '    scores.append(f1_score(choose_y, model.predict(choose_x)))',
        'best_c = [0.1, 1, 10][np.argmax(scores)]',
      ].join('\n'),
    );
  });

  it.each([
    [
      'the score of the helper is read',
      [
        ...HELPER,
        SPLIT,
        ...FIT,
        'cut, f1 = best_threshold(y_va, p)',
        'print("Final Validation Performance:", f1)',
      ],
    ],
    [
      'the helper gives the score first',
      [
        ...HELPER.slice(0, -1),
        '    return scores[k], grid[k]',
        SPLIT,
        ...FIT,
        'f1, cut = best_threshold(y_va, p)',
        'print("Final Validation Performance:", f1)',
      ],
    ],
    ['the scores are read again', [SPLIT, ...LOOP, ...AGAIN, 'print(max(scores))']],
  ])('REQ-SF-019: is left where %s', async (_, lines) => {
    expect(await repairOf(script(...lines))).toMatch(/^Not rewritten/);
  });
});
