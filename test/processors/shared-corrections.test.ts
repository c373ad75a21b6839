import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../src/solution/apply-edits.js';
import { correction, leaks } from '../support/agent-answers.js';
import { checkWith } from '../support/leakage-check.js';
import { jsonReply } from '../support/messages-api.js';

const FILL = 'df["Age"] = df["Age"].fillna(df["Age"].median())';
const SCALE = ['mm = MinMaxScaler()', 'df[:] = mm.fit_transform(df)'];
const SPLIT = 'a, b, ya, yb = train_test_split(df, target, test_size=0.25, random_state=7)';
const BETWEEN = [
  'names = list(df.columns)',
  ...Array.from({ length: 15 }, (_, at) => `print("column ${at}:", names[${at}])`),
];
const SCRIPT = [
  'import pandas as pd',
  'from sklearn.model_selection import train_test_split',
  'from sklearn.preprocessing import MinMaxScaler',
  'from sklearn.linear_model import LogisticRegression',
  'from sklearn.metrics import roc_auc_score',
  'df = pd.read_csv("p.csv")',
  'target = df.pop("T").astype(int)',
  FILL,
  ...BETWEEN,
  ...SCALE,
  SPLIT,
  'clf = LogisticRegression().fit(a, ya)',
  'print("Final Validation Performance:", roc_auc_score(yb, clf.predict_proba(b)[:, 1]))',
  '',
].join('\n');
const BLOCK = [FILL, ...BETWEEN, ...SCALE, SPLIT].join('\n');
const CORRECTED = [
  ...BETWEEN,
  SPLIT,
  'middle = a["Age"].median()',
  'a["Age"] = a["Age"].fillna(middle)',
  'b["Age"] = b["Age"].fillna(middle)',
  'mm = MinMaxScaler()',
  'a[:] = mm.fit_transform(a)',
  'b[:] = mm.transform(b)',
].join('\n');
/** The scaler alone. */
const HALF = [
  FILL,
  ...BETWEEN,
  ...CORRECTED.split('\n').slice(16, 17),
  ...CORRECTED.split('\n').slice(20),
].join('\n');
const SCALE_BLOCK = [...SCALE, SPLIT].join('\n');

/** What the edits of the block give: line 1, and the last three. */
const EDITS = {
  edits: [
    { first_line: 1, last_line: 1, new_lines: '' },
    { first_line: 18, last_line: 20, new_lines: CORRECTED.slice(CORRECTED.indexOf(SPLIT)) },
  ],
};

describe('leaks that share a split', () => {
  it('are corrected by one call if that is asked for, which names each of them', async () => {
    const { result, requests } = await checkWith(
      SCRIPT,
      [leaks(FILL, SCALE.join('\n')), correction(CORRECTED)],
      {
        corrections: 'shared',
      },
    );
    expect(requests).toHaveLength(2);
    expect(requests[1]?.text).toContain('The block has 2 leaks');
    expect(requests[1]?.text).toContain(`\n${BLOCK}\n</block-`);
    expect(result).toMatchObject({
      status: 'corrected',
      findings: [{ outcome: 'corrected' }, { outcome: 'superseded' }],
    });
    expect(result.solution.content).toContain('a[:] = mm.fit_transform(a)');
  });

  it('are corrected one by one by default', async () => {
    const { requests } = await checkWith(SCRIPT, [leaks(BLOCK, SCALE_BLOCK), correction(CORRECTED)]);
    expect(requests[1]?.text).not.toContain('The block has 2 leaks');
  });

  it('are corrected one by one if both at once are not', async () => {
    const refused = correction('df = None');
    const { result, requests } = await checkWith(
      SCRIPT,
      [leaks(BLOCK, SCALE_BLOCK), refused, refused, correction(CORRECTED)],
      { corrections: 'shared' },
    );
    expect(requests).toHaveLength(4);
    expect(requests[3]?.text).not.toContain('The block has 2 leaks');
    expect(result.status).toBe('corrected');
  });

  it('one of which is left are asked for once more', async () => {
    const { result, requests } = await checkWith(
      SCRIPT,
      [leaks(BLOCK, SCALE_BLOCK), correction(HALF), correction(CORRECTED)],
      { corrections: 'shared' },
    );
    expect(requests).toHaveLength(3);
    expect(requests[2]?.text).toContain('a leak of the same kind remains: `df["Age"].median()`');
    expect(result).toMatchObject({
      status: 'corrected',
      findings: [{ outcome: 'corrected' }, { outcome: 'superseded' }],
    });
  });
});

describe('a correction as edits', () => {
  const asEdits = { corrections: 'edits' } as const;

  it('is asked for with numbered lines, and gives the same script as the whole block', async () => {
    const { result, requests } = await checkWith(SCRIPT, [leaks(BLOCK), jsonReply(EDITS)], asEdits);
    expect(requests[1]?.text).toContain(`\n1|${FILL}\n2|names`);
    expect(requests[1]?.body.output_config?.format?.schema).toMatchObject({ properties: { edits: {} } });
    const whole = await checkWith(SCRIPT, [leaks(BLOCK), correction(CORRECTED)]);
    expect(whole.requests[1]?.body.output_config).toBeUndefined();
    expect(result.solution).toEqual(whole.result.solution);
    expect(result.findings).toEqual(whole.result.findings);
  });

  it('may be the whole block all the same', async () => {
    const { result, requests } = await checkWith(SCRIPT, [leaks(BLOCK), correction(CORRECTED)], asEdits);
    expect(requests).toHaveLength(2);
    expect(result.status).toBe('corrected');
  });

  it('that cannot be used is asked for again, as a whole block', async () => {
    const wrong = { edits: [{ first_line: 3, last_line: 40, new_lines: 'x = 1' }] };
    const { result, requests } = await checkWith(
      SCRIPT,
      [leaks(BLOCK), jsonReply(wrong), correction(CORRECTED)],
      asEdits,
    );
    expect(requests[2]?.text).toContain('an edit is of the lines 3 to 40, and the block has 20 lines');
    expect(requests[2]?.body.output_config).toBeUndefined();
    expect(result.status).toBe('corrected');
  });

  it.each([
    ['a short block', SCRIPT, SCALE_BLOCK, SCALE_BLOCK],
    ['a block that occurs twice', `${SCRIPT}\n${BLOCK}\n`, BLOCK, BLOCK],
  ])('is not asked for of %s', async (_what, script, block, answer) => {
    const { requests } = await checkWith(script, () => leaks(block), asEdits);
    const corrections = requests.filter(
      ({ text }) => text.includes('<block-') && text.includes('Refine these'),
    );
    expect(corrections.length).toBeGreaterThan(0);
    for (const { text, body } of corrections) {
      expect(text).toContain(answer);
      expect(body.output_config).toBeUndefined();
    }
  });
});

describe('edits of a block', () => {
  const block = 'a\nb\nc';
  it.each([
    ['replace lines', [[2, 2, 'x\ny']], 'a\nx\ny\nc'],
    ['remove lines', [[1, 2, '']], 'c'],
    ['insert before a line', [[2, 1, 'x']], 'a\nx\nb\nc'],
    ['insert at the end', [[4, 3, 'x']], 'a\nb\nc\nx'],
    [
      'come in any order',
      [
        [3, 3, 'z'],
        [1, 1, 'x\n'],
      ],
      'x\nb\nz',
    ],
  ] as const)('%s', (_what, edits, edited) => {
    const applied = edits.map(([firstLine, lastLine, newLines]) => ({ firstLine, lastLine, newLines }));
    expect(applyEdits(block, applied)).toEqual({ ok: true, block: edited });
  });

  it.each([[[0, 1, 'x']], [[2, 4, 'x']], [[5, 4, 'x']], [[3, 1, 'x']]] as const)(
    'are refused of lines that it does not have: %j',
    ([firstLine, lastLine, newLines]) => {
      expect(applyEdits(block, [{ firstLine, lastLine, newLines }])).toMatchObject({ ok: false });
    },
  );

  it('are refused if two of them replace a line', () => {
    const edits = [1, 2].map((lastLine) => ({ firstLine: 1, lastLine, newLines: 'x' }));
    expect(applyEdits(block, edits)).toEqual({ ok: false, problem: 'two edits replace line 1 of the block' });
  });
});
