import { describe, expect, it } from 'vitest';
import { analyzeInDetail } from '../../src/leakage/analyze.js';
import { labeledScripts } from './labeled-scripts.js';

const HEAD = `import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, train_test_split
t = pd.read_csv("t.csv")
`;
const TAIL = `a, b, c, d = train_test_split(t.drop(columns="y"), t["y"])
print(Ridge().fit(a, c).score(b, d))
`;

function times(count: number, line: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => `${line(at)}\n`).join('');
}
const indented = (depth: number, text: string): string => '    '.repeat(depth) + text;

/** Functions that call others twice: run one by one, there would be two to the power of their number. */
const CALL_TREES: Readonly<Record<string, (size: number) => string>> = {
  'functions that call the one before twice': (size) =>
    `def f0(x):\n    x["a"] = x["a"].fillna(0)\n    return x\n${times(
      size,
      (at) => `def f${at + 1}(x):\n    u = f${at}(x)\n    return f${at}(u)`,
    )}t = f${size}(t)\n`,
  'functions that add up two calls': (size) =>
    `def f0(x):\n    return x["a"] + 1\n${times(
      size,
      (at) => `def f${at + 1}(x):\n    return f${at}(x) + f${at}(x)`,
    )}t["b"] = f${size}(t)\n`,
  'functions that call each other in a circle': (size) =>
    `${times(size, (at) => `def f${at}(x):\n    return f${(at + 1) % size}(f${(at + 2) % size}(x))`)}t = f0(t)\n`,
  'functions in functions': (size) =>
    `${times(size, (at) => indented(at, `def f${at}(x):`))}${indented(size, 'return x\n')}${times(
      size - 1,
      (at) => indented(size - 1 - at, `return f${size - 1 - at}(f${size - 1 - at}(x))`),
    )}t = f0(t)\n`,
  'functions made of functions': (size) =>
    `f = lambda x: x\n${times(size, () => 'f = (lambda g: lambda x: g(g(x)))(f)')}t["a"] = f(t["a"])\n`,
  'functions that hand on functions': (size) =>
    `${times(
      size,
      (at) =>
        `def f${at}(x, h=None):\n    def inner(y):\n        return ${at > 0 ? `f${at - 1}(y, inner)` : 'y'}\n    return inner(inner(x))`,
    )}t = f${size - 1}(t)\n`,
};

const LONG: Readonly<Record<string, (size: number) => string>> = {
  'loops over literals, one after the other': (size) =>
    times(
      size,
      (at) =>
        `for k in ["a", "b", "c", "d"]:\n    for j in [1, 2, 3, 4]:\n        t[k + str(j)] = t[k].clip(j, ${at})`,
    ),
  'functions in nested loops': (size) =>
    `def g(x, k):\n    for c in ["a", "b", "c"]:\n        x[c] = x[c] * k\n    return x\n${times(
      size,
      () => 'for k in [1, 2, 3]:\n    for m in ["u", "v", "w"]:\n        t = g(t, k)',
    )}`,
  'branches in each other': (size) =>
    times(
      size,
      (at) => `${indented(at % 40, `if t.shape[0] > ${at}:`)}\n${indented((at % 40) + 1, 't["a"] = 2')}`,
    ),
  'a chain of methods': (size) =>
    `t = t${times(size, (at) => `.assign(c=lambda x: x["a"] * ${at})`).replaceAll('\n', '')}\n`,
  'filled columns': (size) => times(size, (at) => `t["c${at}"] = t["c${at}"].fillna(t["c${at}"].median())`),
  'the best of many models': (size) =>
    `a, b, c, d = train_test_split(t.drop(columns="y"), t["y"])\nbest = 9\n${times(
      size,
      (at) =>
        `m = Ridge(alpha=${at}).fit(a, c)\ns = ((m.predict(b) - d) ** 2).mean()\nif s < best:\n    best, keep = s, m`,
    )}print(best)\n`,
  'loops over folds': (size) =>
    `X, y = t.drop(columns="y").values, t["y"].values\n${times(
      size,
      (at) =>
        `for tr, va in KFold(5).split(X):\n    m = Ridge(alpha=${at}).fit(X[tr], y[tr])\n    print(m.score(X[va], y[va]))`,
    )}`,
  'parts of parts': (size) => times(size, (at) => `t, u${at} = train_test_split(t, random_state=${at})`),
  'tables under tables': (size) =>
    times(size, (at) => `t = pd.concat([t, pd.read_csv("u${at}.csv"), t.sample(frac=0.1)])`),
};

describe.each(Object.entries(CALL_TREES))('%s', (_, make) => {
  it('are followed to the end of the script, in steps that grow no faster than it', async () => {
    const [small, large] = [
      await analyzeInDetail(HEAD + make(25) + TAIL),
      await analyzeInDetail(HEAD + make(100) + TAIL),
    ];
    expect([small.exhausted, large.exhausted]).toEqual([false, false]);
    expect(large.steps / small.steps).toBeLessThan(large.module.size / small.module.size);
    // What was left out is named.
    for (const { coverage, notFollowed } of [small, large]) {
      if (coverage !== 'full') expect(notFollowed).not.toEqual([]);
    }
  });
});

// Those in a circle never return.
const RETURNING = Object.entries(CALL_TREES).filter(([name]) => !name.endsWith('in a circle'));
describe.each(RETURNING)('few %s', (_, make) => {
  it('are all run', async () => {
    const leaky = `t["a"] = t["a"].fillna(t["a"].mean())\n`;
    const { findings, coverage } = await analyzeInDetail(HEAD + leaky + make(4) + TAIL);
    expect({ kinds: findings.map(({ kind }) => kind), coverage }).toEqual({
      kinds: ['statistics'],
      coverage: 'full',
    });
  });
});

describe.each(Object.entries(LONG))('%s', (_, make) => {
  it('take steps and work in proportion to their number', async () => {
    const [small, large] = [
      await analyzeInDetail(HEAD + make(25) + TAIL),
      await analyzeInDetail(HEAD + make(100) + TAIL),
    ];
    expect([small.exhausted, large.exhausted]).toEqual([false, false]);
    expect(large.steps / small.steps).toBeLessThan(4.5);
    // Sets of facts are full from 48 elements on; until then they grow.
    expect(large.work / small.work).toBeLessThan(12);
  });
});

describe('files of 1,700 lines and more, made of labeled scripts', () => {
  const scripts = ['tenth.jsonl', 'twelfth.jsonl', 'fourteenth.jsonl', 'first.txt'].flatMap((file) =>
    labeledScripts(file).map(({ script, fixed }, at) => (at % 2 === 0 ? script : (fixed ?? script))),
  );
  const asFunction = (script: string, at: number): string =>
    `def part_${at}():\n${script.replaceAll(/^/gm, '    ')}\npart_${at}()\n`;

  it.each([
    ['one after the other', (script: string) => script],
    ['each in a function', asFunction],
  ])('%s, are followed to their end, in fewer steps than they have nodes', async (_name, write) => {
    const parts: string[] = [];
    for (const [at, script] of scripts.entries()) {
      parts.push(write(script, at));
      if (parts.join('\n').split('\n').length > 1_700) break;
    }
    const { exhausted, steps, work, module } = await analyzeInDetail(parts.join('\n'));
    expect(exhausted).toBe(false);
    expect(steps).toBeLessThan(module.size);
    expect(work).toBeLessThan(20 * module.size);
  });
});
