import { describe, expect, it } from 'vitest';
import { analyzeInDetail } from '../../src/leakage/analyze.js';

/** A grid search by hand: loops over literal lists in each other, and the best model kept. */
function gridSearch(levels: number, values: number, filled = 0): string {
  const list = `[${Array.from({ length: values }, (_, at) => at + 1).join(', ')}]`;
  const fills = Array.from({ length: filled }, (_, at) => `t["c${at}"] = t["c${at}"].clip(0, ${at})`);
  const loops = Array.from({ length: levels }, (_, at) => `${'    '.repeat(at)}for p${at} in ${list}:`);
  const indent = '    '.repeat(levels);
  return [
    'import pandas as pd',
    'from sklearn.tree import DecisionTreeClassifier',
    'from sklearn.model_selection import train_test_split',
    't = pd.read_csv("t.csv")',
    ...fills,
    'a, b, c, d = train_test_split(t.drop(columns="y"), t["y"])',
    'best = 0',
    ...loops,
    `${indent}m = DecisionTreeClassifier(max_depth=p0, max_features=p${levels - 1}).fit(a, c)`,
    `${indent}hit = m.score(b, d)`,
    `${indent}if hit > best:`,
    `${indent}    best, kept = hit, m`,
    'print(kept.score(b, d))',
    '',
  ].join('\n');
}

/** Functions that are called one after the other in each round of three loops. */
function longRounds(functions: number, seeds: readonly number[]): string {
  const numbers = Array.from({ length: functions }, (_, at) => at);
  return [
    'import pandas as pd',
    'from sklearn.linear_model import Ridge',
    'from sklearn.model_selection import train_test_split',
    ...numbers.flatMap((at) => [
      `def step_${at}(df, other):`,
      '    for name in ["a", "b", "c"]:',
      `        df[name + "_${at}"] = df[name].clip(0, other)`,
      '    return df',
    ]),
    'def prepare(df, seed):',
    ...numbers.map((at) => `    df = step_${at}(df, seed)`),
    '    return df',
    't = pd.read_csv("t.csv")',
    'scores = []',
    `for seed in [${seeds.join(', ')}]:`,
    '    for alpha in [0.1, 0.5, 1]:',
    '        for deep in [True, False]:',
    '            data = prepare(t, seed)',
    '            a, b, c, d = train_test_split(data.drop(columns="y"), data["y"], random_state=seed)',
    '            scores.append(Ridge(alpha=alpha).fit(a, c).score(b, d))',
    'print(max(scores))',
    '',
  ].join('\n');
}

describe('loops over literal lists', () => {
  it.each([
    [3, 10],
    [5, 4],
    [7, 3],
    [10, 12],
    [12, 16],
  ])('%i in each other over %i values end, and what is chosen in them is found', async (levels, values) => {
    const { exhausted, findings } = await analyzeInDetail(gridSearch(levels, values));
    expect(exhausted).toBe(false);
    expect(findings.map(({ kind }) => kind)).toContain('selection');
  });

  it('cost steps by their number, not by the product of their lengths', async () => {
    const [few, many] = [await analyzeInDetail(gridSearch(3, 10)), await analyzeInDetail(gridSearch(6, 10))];
    // 1,000 and 1,000,000 rounds.
    expect(many.steps).toBeLessThan(4 * few.steps);
  });

  it('cost steps in proportion to the columns that were written before', async () => {
    const [few, many] = [
      await analyzeInDetail(gridSearch(4, 4)),
      await analyzeInDetail(gridSearch(4, 4, 60)),
    ];
    expect(many.steps - few.steps).toBeLessThan(60 * 12);
    expect(many.work).toBeLessThan(4 * few.work);
  });

  it('of long rounds are not all run', async () => {
    const { exhausted, findings, steps, module } = await analyzeInDetail(longRounds(200, [1, 2, 3, 4, 5, 6]));
    expect(exhausted).toBe(false);
    expect(findings.map(({ kind }) => kind)).toContain('selection');
    // Of 36 rounds, each of which runs most of the script.
    expect(steps).toBeLessThan(6 * module.size);
  });

  it('run each element of short lists', async () => {
    const { findings } = await analyzeInDetail(`import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
t = pd.read_csv("t.csv")
for part in [1, 2]:
    for name in ["u", "v", "w"]:
        t[name + str(part)] = t[name].fillna(t[name].mean()) if name == "v" else t[name]
for name in ["v1", "v2"]:
    t = t.drop(columns=name)
a, b, c, d = train_test_split(t.drop(columns="y"), t["y"])
print(Ridge().fit(a, c).score(b, d))
`);
    expect(findings.map(({ explanation }) => explanation)).toEqual([]);
  });
});
