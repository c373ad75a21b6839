import { describe, expect, it } from 'vitest';
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

/** Numbers from 0 to below 1, the same in every run. */
function* numbers(): Generator<number, never> {
  for (let state = 7; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    yield state / 2 ** 31;
  }
}

describe('a comparison with any other script', () => {
  it('REQ-SF-019: ends and says how it ended, whatever stands in the correction', async () => {
    const scripts = ['kinds.txt', 'first.txt', 'third.txt', 'sample.jsonl'].flatMap(labeledScripts);
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
