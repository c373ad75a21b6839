import { describe, expect, it } from 'vitest';
import { analyzeLeakage } from '../../src/leakage/analyze.js';
import { proveCorrection } from '../../src/leakage/score-flow/prove-correction.js';
import { labeledScripts } from './labeled-scripts.js';

/** A script that makes a column by a step across rows, before its split or on each part after it. */
function acrossRows(step: string, split: string, where: 'before' | 'after'): string {
  const add = (table: string): string => `${table}["near"] = ${table}["km"].${step}`;
  return [
    'import pandas as pd',
    'from sklearn.linear_model import Ridge',
    'from sklearn.model_selection import train_test_split',
    'rides = pd.read_csv("rides.csv")',
    ...(where === 'before' ? [add('rides')] : []),
    `train, val = ${split}`,
    ...(where === 'after' ? [add('train'), add('val')] : []),
    'model = Ridge().fit(train[["km", "near"]], train["fare"])',
    'print("Final Validation Performance:", model.score(val[["km", "near"]], val["fare"]))',
    '',
  ].join('\n');
}

describe('steps across rows', () => {
  const shuffled = 'train_test_split(rides, random_state=0)';
  it.each([
    ['shift(1)', shuffled, 'contradicted'],
    ['rolling(3).mean()', shuffled, 'contradicted'],
    // A rank may be what leaks, and a split in order changes the values of its first rows alone.
    ['rank(pct=True)', shuffled, 'not-provable'],
    ['shift(1)', 'train_test_split(rides, shuffle=False)', 'not-provable'],
  ])('REQ-SF-019: `%s` moved behind `%s` is %s', async (step, split, outcome) => {
    const was = acrossRows(step, split, 'before');
    expect(await proveCorrection(was, acrossRows(step, split, 'after'), ['scaling'])).toMatchObject({
      outcome,
    });
    expect(await proveCorrection(was, was, ['scaling'])).toEqual({ outcome: 'proven' });
  });
});

describe('right corrections of labeled scripts that look like other steps', () => {
  it.each([
    ['tenth.jsonl', 'alpha-leak-022', 'prices of neighbors, looked up for each part', 'not-provable'],
    ['tenth.jsonl', 'alpha-leak-050', 'a merged table of group statistics that is left out', 'not-provable'],
    ['fifteenth.jsonl', 'g_n01', 'medians of several columns in one fill', 'proven'],
  ])('REQ-SF-019: %s %s: %s: %s', async (file, id, _, outcome) => {
    const row = labeledScripts(file).find((one) => one.id === id);
    const { script = '', fixed } = row ?? {};
    const kinds = (await analyzeLeakage(script)).findings.map(({ kind }) => kind);
    expect(await proveCorrection(script, fixed ?? '', kinds)).toMatchObject({ outcome });
  });
});

describe('what is not followed', () => {
  const script = `import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
rides = pd.read_csv("rides.csv")
X = rides.drop(columns=["fare"])
X["km"] = X["km"].clip(0, 60)
X = StandardScaler().fit_transform(X)
a, b, c, d = train_test_split(X, rides["fare"], random_state=0)
m = Ridge(alpha=2).fit(a, c)
parts = []
parts.append(m.predict(b))
print("Final Validation Performance:", mean_squared_error(d, parts[0]) ** 0.5)
`;
  const right = script
    .replace('X = StandardScaler().fit_transform(X)\n', '')
    .replace(
      'm = Ridge',
      'scaler = StandardScaler().fit(a)\na, b = scaler.transform(a), scaler.transform(b)\nm = Ridge',
    );

  it('REQ-SF-019: a correction that changes nothing else is proven', async () => {
    expect(await proveCorrection(script, right, ['scaling'])).toEqual({ outcome: 'proven' });
  });

  it.each([
    ['a limit', '.clip(0, 60)', '.clip(0, 90)'],
    ['a step that is harmless only where it is new', 'X["km"] = X["km"].clip(0, 60)\n', ''],
    ['what is done with the score', '** 0.5', '** 2'],
    ['a name that nothing binds', 'scaler = StandardScaler().fit(a)\n', ''],
    ['predictions that are not collected', 'parts.append(m.predict(b))\n', ''],
    ['a transformer that is never fitted', 'StandardScaler().fit(a)', 'StandardScaler()'],
    ['a transformer that is fitted on other rows', '.fit(a)', '.fit(a[:9])'],
  ])('REQ-SF-019: %s is not proven', async (_, from, to) => {
    expect(right).toContain(from);
    const { outcome } = await proveCorrection(script, right.replace(from, to), ['scaling']);
    expect(outcome).not.toBe('proven');
  });

  it.each(['selection', 'early-stopping', 'stacking'])(
    'REQ-SF-019: the rows that a %s is decided on are not compared, so nothing is proven',
    async (kind) => {
      expect(await proveCorrection(script, right, [kind])).toMatchObject({ outcome: 'not-provable' });
    },
  );
});

describe('right corrections of labeled scripts that are changed in one call', () => {
  it.each([
    ['tenth.jsonl', 'alpha-leak-008', ', on="store_id"', '', /`on=` is gone/],
    [
      'tenth.jsonl',
      'alpha-leak-007',
      'X_train[c].quantile',
      'X_test[c].quantile',
      /learns from the scored part/,
    ],
    ['sixteenth.jsonl', 'd_s30', 'pick_features(tr, ', 'pick_features(va, ', /learns from the scored part/],
    [
      'ninth.jsonl',
      'P36',
      'pipeline.fit(access[cat_features], access[TARGET])',
      'pass',
      /`pipeline` is fitted less often/,
    ],
    ['eighth.jsonl', 'E37', ', min_periods=1', '', /which past values replace|`min_periods=` is gone/],
  ])('REQ-SF-019: %s %s with `%s` as `%s` is not proven', async (file, id, from, to, reason) => {
    const { script = '', fixed } = labeledScripts(file).find((one) => one.id === id) ?? {};
    expect(fixed).toContain(from);
    const kinds = (await analyzeLeakage(script)).findings.map(({ kind }) => kind);
    const proof = await proveCorrection(script, (fixed ?? '').replace(from, to), kinds);
    expect(proof).toMatchObject({ outcome: 'not-provable', unknown: expect.stringMatching(reason) });
  });
});

/** Numbers from 0 to below 1, the same in every run. */
function* numbers(): Generator<number, never> {
  for (let state = 7; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    yield state / 2 ** 31;
  }
}

describe('a comparison with any other script', () => {
  it('REQ-SF-019: ends and says how it ended, whatever stands in the correction', async () => {
    const scripts = ['kinds.txt', 'first.txt', 'third.txt', 'sample.jsonl']
      .flatMap(labeledScripts)
      // A proof takes longer than the analyses of both scripts.
      .filter((_, at) => at % 3 === 0);
    const random = numbers();
    const pick = <T>(items: readonly T[]): T => {
      const item = items[Math.floor(random.next().value * items.length)];
      if (item === undefined) throw new Error('there is nothing to pick from');
      return item;
    };
    for (const { script } of scripts) {
      const other = pick(scripts);
      const [lines, others] = [script.split('\n'), other.script.split('\n')];
      const cut = Math.floor(random.next().value * lines.length);
      const corrections = [
        other.script,
        [...lines.slice(0, cut), ...others.slice(cut)].join('\n'),
        lines.with(cut, pick(others)).join('\n'),
        lines.toSpliced(cut, 1).join('\n'),
        [...lines.slice(0, cut), pick(lines), ...lines.slice(cut)].join('\n').slice(0, -5),
      ];
      for (const correction of corrections) {
        const { outcome } = await proveCorrection(script, correction, [other.kind ?? 'scaling']);
        expect(['proven', 'contradicted', 'not-provable']).toContain(outcome);
      }
    }
  });
});
