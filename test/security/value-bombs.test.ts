import { describe, expect, it } from 'vitest';
import { analyzeInDetail } from '../../src/leakage/analyze.js';
import { analyzeLeakage, type LeakageAnalysis } from '../../src/leakage/index.js';
import { VALUE_BOMBS, type ValueBomb } from '../support/value-bombs.js';

/** What an analysis may do, whatever the script, and for each node of its syntax. */
const MAX = { steps: 20_000, stepsPerNode: 24, work: 10_000_000, workPerNode: 100 };

/** Steps that are rejected while the interpreter unwinds. */
const MAX_WAY_OUT = 1_000;

/** The largest single piece of work that is counted before it is rejected. */
const MAX_PIECE = 1_000_000;

/** What several tests need of an analysis; the values themselves would take much memory. */
interface Cost extends Pick<LeakageAnalysis, 'exhausted' | 'notFollowed'> {
  readonly steps: number;
  readonly work: number;
  readonly nodes: number;
}

const costs = new Map<string, Cost>();
async function costOf([kind, make]: ValueBomb, size: number): Promise<Cost> {
  const key = `${kind} ${size}`;
  const known = costs.get(key);
  if (known !== undefined) return known;
  const { steps, work, module, exhausted, notFollowed } = await analyzeInDetail(make(size));
  const cost = { steps, work, nodes: module.size, exhausted, notFollowed };
  costs.set(key, cost);
  return cost;
}

describe('values that grow much faster than their script', () => {
  it.each(VALUE_BOMBS)('%s: the work stays within a bound that grows with the text', async (...bomb) => {
    // 60 doublings of anything are more than any memory can store.
    const { steps, work, nodes } = await costOf(bomb, 100);
    expect(steps).toBeLessThanOrEqual(MAX.steps + MAX.stepsPerNode * nodes + MAX_WAY_OUT);
    // Following and finding leaks have a limit each.
    expect(work).toBeLessThanOrEqual(2 * (MAX.work + MAX.workPerNode * nodes + MAX_PIECE));
  });

  const endless = VALUE_BOMBS.filter(([kind]) =>
    /^(list|tuple|text|column|lists|wide|dicts|mask)/.test(kind),
  );
  it.each(endless)('%s: twice the lines are no more than some four times the work', async (...bomb) => {
    const small = await costOf(bomb, 50);
    const large = await costOf(bomb, 100);
    expect(large.work).toBeLessThan(4.5 * small.work + 50_000);
    expect(large.steps).toBeLessThan(2.5 * small.steps + 500);
    expect(large.exhausted).toBe(false);
  });

  it('a script that takes too much work is not said to be clean', async () => {
    const bomb = VALUE_BOMBS.find(([kind]) => kind === 'keywords by **');
    if (bomb === undefined) throw new Error('there is no such kind');
    const { exhausted, notFollowed } = await costOf(bomb, 100);
    expect(exhausted).toBe(true);
    expect(notFollowed.map(({ reason }) => reason)).toContain(
      'the script is too entangled to follow to its end',
    );
  });

  it('a leak after a list without end is found all the same', async () => {
    const bomb = `t = [1]\n${'t = t + t\n'.repeat(40)}`;
    const leaky = `import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
df = pd.read_csv("a.csv")
X = StandardScaler().fit_transform(df[["a"]])
X_train, X_test, y_train, y_test = train_test_split(X, df["y"])
print(accuracy_score(y_test, LogisticRegression().fit(X_train, y_train).predict(X_test)))
`;
    expect((await analyzeLeakage(bomb + leaky)).findings.map(({ kind }) => kind)).toEqual(['scaling']);
  });
});
