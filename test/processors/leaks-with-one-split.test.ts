import { describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';
import { correction, leaks } from '../support/agent-answers.js';
import { checkWith } from '../support/leakage-check.js';

const HEAD = [
  'import pandas as pd',
  'from sklearn.model_selection import train_test_split',
  'from sklearn.preprocessing import MinMaxScaler',
  'from sklearn.linear_model import LogisticRegression',
  'from sklearn.metrics import roc_auc_score',
  '',
  'df = pd.read_csv("p.csv")',
  'target = df.pop("T").astype(int)',
];
const FILL = 'df["Age"] = df["Age"].fillna(df["Age"].median())';
const TABLE = 'num = df.select_dtypes("number")';
const SCALE = ['mm = MinMaxScaler()', 'num[:] = mm.fit_transform(num)'];
const SPLIT = 'a, b, ya, yb = train_test_split(num, target, test_size=0.25, random_state=7)';
const TAIL = [
  'clf = LogisticRegression().fit(a, ya)',
  'print("Final Validation Performance:", roc_auc_score(yb, clf.predict_proba(b)[:, 1]))',
  '',
];
const SCALED_PARTS = ['a[:] = mm.fit_transform(a)', 'b[:] = mm.transform(b)'];
const MEDIAN_OF_PART = [
  'mid = a["Age"].median()',
  'a["Age"] = a["Age"].fillna(mid)',
  'b["Age"] = b["Age"].fillna(mid)',
];

const text = (...lines: (string | readonly string[])[]): string => lines.flat().join('\n');
const SCRIPT = text(HEAD, FILL, TABLE, SCALE, SPLIT, TAIL);
const FILL_BLOCK = text(FILL, TABLE, SCALE, SPLIT);
const SCALE_BLOCK = text(SCALE, SPLIT);
const SCALED = text(SCALE[0] ?? '', SPLIT, SCALED_PARTS);
const BOTH = text(TABLE, SPLIT, MEDIAN_OF_PART, SCALE[0] ?? '', SCALED_PARTS);

describe('two leaks before one split', () => {
  it('REQ-SF-020: each is corrected alone, with one call for each and one for the detection', async () => {
    // The scaler first: its correction leaves the median where it is, and moves the split.
    const { result, requests } = await checkWith(SCRIPT, [
      leaks(SCALE_BLOCK, FILL_BLOCK),
      correction(SCALED),
      correction(BOTH.replaceAll('mm = MinMaxScaler()\n', '').replace(TABLE, text(TABLE, SCALE[0] ?? ''))),
    ]);
    expect(result.findings.map(({ outcome, kind }) => [outcome, kind])).toEqual([
      ['corrected', 'scaling'],
      ['corrected', 'statistics'],
    ]);
    expect(result.status).toBe('corrected');
    expect(requests).toHaveLength(3);
  });

  it('the correction of one is not asked for the other, which stands above the block', async () => {
    const { result, requests } = await checkWith(SCRIPT, [leaks(SCALE_BLOCK), correction(SCALED)]);
    expect(result.findings).toMatchObject([{ outcome: 'corrected', kind: 'scaling', severity: 'low' }]);
    expect(requests).toHaveLength(2);
  });

  it('in the order of the script: the correction of the first may keep the second in its lines', async () => {
    const first = text(
      TABLE,
      'rows, held = train_test_split(df.index, test_size=0.25, random_state=7)',
      'num["Age"] = num["Age"].fillna(df.loc[rows, "Age"].median())',
      SCALE,
      SPLIT,
    );
    const { result, requests } = await checkWith(SCRIPT, [
      leaks(FILL_BLOCK, SCALE_BLOCK),
      correction(first),
      correction(SCALED),
    ]);
    expect(result.findings.map(({ outcome, kind }) => [outcome, kind])).toEqual([
      ['corrected', 'statistics'],
      ['corrected', 'scaling'],
    ]);
    expect(requests).toHaveLength(3);
  });

  it('a leak that the first correction removed too is superseded, and keeps its kind and explanation', async () => {
    const { result, requests } = await checkWith(SCRIPT, [leaks(FILL_BLOCK, SCALE_BLOCK), correction(BOTH)]);
    expect(result.status).toBe('corrected');
    expect(result.findings).toMatchObject([
      { outcome: 'corrected', kind: 'statistics' },
      {
        outcome: 'superseded',
        kind: 'scaling',
        severity: 'low',
        reason: expect.stringMatching(/^`mm` is fitted on `num` \(line 12\).*replaced this block\.$/),
      },
    ]);
    expect(requests).toHaveLength(2);
  });

  it('a leak whose lines the first correction changed is corrected where it is now', async () => {
    // The table has another name: the second block is not in the script any more.
    const moved = text(
      'parts = train_test_split(df, target, test_size=0.25, random_state=7)',
      'mid = parts[0]["Age"].median()',
      'num = df.fillna({"Age": mid}).select_dtypes("number")',
      'mm = MinMaxScaler().set_output(transform="pandas")',
      'num[:] = mm.fit_transform(num)',
      SPLIT,
    );
    const { result, requests } = await checkWith(SCRIPT, [
      leaks(FILL_BLOCK, SCALE_BLOCK),
      correction(moved),
      correction(text(SPLIT, SCALED_PARTS)),
    ]);
    expect(result.findings.map(({ outcome, kind }) => [outcome, kind])).toEqual([
      ['corrected', 'statistics'],
      ['corrected', 'scaling'],
    ]);
    expect(requests[2]?.text).toContain('mm.fit_transform(num)\na, b, ya, yb');
    expect(requests).toHaveLength(3);
  });

  it('a leak that a reported block holds and that still stands in the end is a finding, though it is low', async () => {
    const block = text(FILL, TABLE, SCALE, SPLIT);
    const { result } = await checkWith(SCRIPT, [
      leaks(block),
      correction(text(FILL, TABLE, SCALE[0] ?? '', SPLIT, SCALED_PARTS)),
    ]);
    expect(result.status).toBe('partly-corrected');
    expect(result.findings).toMatchObject([
      { outcome: 'corrected' },
      { outcome: 'uncorrected', kind: 'statistics', source: 'analysis' },
    ]);
  });

  it('a correction that leaves the leak it was asked for is asked for once more, and names it', async () => {
    const still = text(SCALE[0] ?? '', 'num[:] = mm.fit_transform(num.copy())', SPLIT);
    const { result, requests } = await checkWith(SCRIPT, [
      leaks(SCALE_BLOCK),
      correction(still),
      correction(SCALED),
    ]);
    expect(requests[2]?.text).toContain('a leak of the same kind remains: `mm`');
    expect(result.findings).toMatchObject([{ outcome: 'corrected' }]);
  });
});

it('REQ-SF-020: a leak without a rewrite does not keep its neighbor from being corrected', async () => {
  const content = text(
    HEAD.slice(0, 6),
    'd = pd.read_csv("p.csv")',
    'pos = d[d["T"] == 1]',
    'd = pd.concat([d, pos])',
    'mm = MinMaxScaler()',
    'd[["Age"]] = mm.fit_transform(d[["Age"]])',
    'a, b, ya, yb = train_test_split(d[["Age"]], d["T"], test_size=0.25, random_state=7)',
    TAIL,
  );
  const result = await checkAndFixLeakage({ content }, createOfflineRunner());
  expect(result.status).toBe('partly-corrected');
  expect(result.findings.map(({ kind, outcome }) => [kind, outcome])).toEqual([
    ['duplicated-rows', 'uncorrected'],
    ['scaling', 'corrected'],
  ]);
  expect(result.solution.content).toContain('d = pd.concat([d, pos])\n');
});

it('REQ-SF-020: a leak whose block a correction replaced, and which is still there, is not taken for removed', async () => {
  const content = text(
    HEAD.slice(0, 6),
    'd = pd.read_csv("p.csv")',
    'd["m2"] = d["T"] / d["area"]',
    'd["usual"] = d.groupby("town")["m2"].transform("mean")',
    'tr, va = train_test_split(d, test_size=0.2, random_state=4)',
    'columns = ["area", "m2", "usual"]',
    'clf = LogisticRegression().fit(tr[columns], tr["T"])',
    'print("Final Validation Performance:", roc_auc_score(va["T"], clf.predict_proba(va[columns])[:, 1]))',
    '',
  );
  const result = await checkAndFixLeakage({ content }, createOfflineRunner());
  expect(result.findings.map(({ kind, outcome }) => [kind, outcome])).toEqual([
    ['target-encoding', 'corrected'],
    ['label-in-features', 'uncorrected'],
  ]);
  expect(result.status).toBe('partly-corrected');
});

describe('a leak that is rewritten once another one is gone', () => {
  const head = `import pandas as pd
from imblearn.over_sampling import SMOTE
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
t = pd.read_csv("t.csv")
X, y = t.drop(columns="y"), t["y"]
`;
  const split = 'a, b, c, d = train_test_split(X, y, test_size=0.25, random_state=0)\n';
  const score = 'm = LogisticRegression().fit(a, c)\nprint("Final Validation Performance:", m.score(b, d))\n';
  const sample = 'X, y = SMOTE(random_state=1).fit_resample(X, y)\n';

  it.each([
    ['an encoder and over-sampling', `X = OrdinalEncoder(min_frequency=9).fit_transform(X)\n${sample}`],
    [
      'dummies and over-sampling',
      `X = OneHotEncoder(handle_unknown="ignore", max_categories=9).fit_transform(X)\n${sample}`,
    ],
    ['over-sampling and a scaler', `${sample}X = StandardScaler().fit_transform(X)\n`],
  ])('REQ-SF-020: %s', async (_, leaky) => {
    const result = await checkAndFixLeakage({ content: head + leaky + split + score }, createOfflineRunner());
    expect(result.findings.map(({ outcome }) => outcome)).toEqual(['corrected', 'corrected']);
    expect(result.status).toBe('corrected');
    const lines = result.solution.content.split('\n');
    const at = (part: string): number => lines.findIndex((line) => line.includes(part));
    expect(at('train_test_split(X')).toBeLessThan(at('fit_transform(a)'));
    expect(at('train_test_split(X')).toBeLessThan(at('.fit_resample(a, c)'));
    // Both steps are in the order in which they were.
    expect(at('fit_transform(a)') < at('.fit_resample(a, c)')).toBe(!leaky.startsWith(sample));
    // Undoing the corrections from the last to the first gives the script again.
    const undone = result.findings.toReversed().reduce((content, finding) => {
      const { codeBlock, correctedBlock = '', correctedAt = -1 } = finding;
      expect(content.startsWith(correctedBlock, correctedAt)).toBe(true);
      return content.slice(0, correctedAt) + codeBlock + content.slice(correctedAt + correctedBlock.length);
    }, result.solution.content);
    expect(undone).toBe(head + leaky + split + score);
  });

  it('REQ-SF-020: a choice and a scaler', async () => {
    const choice = `best, keep = 0, None
for k in [0.1, 1, 10]:
    m = LogisticRegression(C=k).fit(a, c)
    s = m.score(b, d)
    if s > best:
        best, keep = s, m
print("Final Validation Performance:", keep.score(b, d))
`;
    const content = `${head}X = StandardScaler().fit_transform(X)\n${split}${choice}`;
    const { findings, status } = await checkAndFixLeakage({ content }, createOfflineRunner());
    expect({ status, kinds: findings.map(({ kind }) => kind) }).toEqual({
      status: 'corrected',
      kinds: ['scaling', 'selection'],
    });
  });
});

describe('a leak in a helper that is right as it is', () => {
  const HELPER = [
    'from sklearn.utils import resample',
    'def balance(frame):',
    '    small = frame[frame["T"] == 1]',
    '    return pd.concat([frame, resample(small, replace=True, n_samples=len(frame), random_state=0)])',
    'df = pd.read_csv("p.csv")',
  ];
  const COPIED = ['df = balance(df)', 'tr, va = train_test_split(df, random_state=7, stratify=df["T"])'];
  const SCORED = [
    'clf = LogisticRegression().fit(tr.drop(columns="T"), tr["T"])',
    'print("Final Validation Performance:", roc_auc_score(va["T"], clf.predict_proba(va.drop(columns="T"))[:, 1]))',
    '',
  ];

  it('REQ-SF-020: is mended at its call, and the finding has the lines that were replaced', async () => {
    const script = text(HEAD.slice(0, 5), HELPER, COPIED, SCORED);
    const result = await checkAndFixLeakage({ content: script }, createOfflineRunner());
    const mended = text(
      'tr, va = train_test_split(df, random_state=7, stratify=df["T"])',
      'tr = balance(tr)',
    );
    expect(result.solution.content).toBe(script.replace(text(COPIED), mended));
    expect(result.findings.filter(({ outcome }) => outcome === 'corrected')).toMatchObject([
      { kind: 'duplicated-rows', codeBlock: text(COPIED), correctedBlock: mended },
    ]);
    expect(result.status).toBe('corrected');
  });
});
