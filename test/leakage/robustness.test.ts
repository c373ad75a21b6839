import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyzeInDetail } from '../../src/leakage/analyze.js';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';
import { parseModule } from '../../src/leakage/syntax/parse-module.js';
import { labeledScripts } from './labeled-scripts.js';

const scripts = ['sample.jsonl', 'first.txt', 'second.txt'].flatMap((file) => labeledScripts(file));
const sources = scripts.map(({ script }) => script);

/** What must hold for any text: it ends, the blocks are real spans, the lines are theirs. */
async function holds(source: string): Promise<void> {
  const { findings, notFollowed } = await analyzeLeakage(source);
  // Python ends a line at each of these.
  const lines = source.split(/\r\n|\r|\n/).length;
  for (const { codeBlock, start, end, line, endLine } of findings) {
    expect(source.slice(start, end)).toBe(codeBlock);
    expect(line).toBeGreaterThanOrEqual(1);
    expect(endLine).toBeGreaterThanOrEqual(line);
    const repair = await repairLeak(source, codeBlock);
    expect(repair.ok ? repair.replacement : repair.reason).not.toBe('');
  }
  for (const { line } of notFollowed) expect(line).toBeLessThanOrEqual(lines + 1);
}

const mutation = fc.oneof(
  fc.record({ type: fc.constant('delete' as const), at: fc.nat(), length: fc.integer({ min: 1, max: 40 }) }),
  fc.record({
    type: fc.constant('insert' as const),
    at: fc.nat(),
    text: fc.string({ unit: 'binary', maxLength: 12 }),
  }),
  fc.record({
    type: fc.constant('insert' as const),
    at: fc.nat(),
    text: fc.constantFrom(
      '(',
      ')',
      '\n',
      '\t',
      ':',
      '"""',
      "'",
      '\\\n',
      '\r',
      '\u0000',
      '\ud83d',
      '😀',
      'lambda x: ',
      ' for x in y',
      '**',
      '=',
      '@',
      'await ',
    ),
  }),
  fc.record({ type: fc.constant('swap' as const), at: fc.nat(), to: fc.nat() }),
  fc.record({ type: fc.constant('repeat' as const), at: fc.nat(), times: fc.integer({ min: 2, max: 5 }) }),
);
type Mutation = typeof mutation extends fc.Arbitrary<infer M> ? M : never;

function mutate(source: string, change: Mutation): string {
  const lines = source.split('\n');
  switch (change.type) {
    case 'delete': {
      const at = change.at % (source.length + 1);
      return source.slice(0, at) + source.slice(at + change.length);
    }
    case 'insert': {
      const at = change.at % (source.length + 1);
      return source.slice(0, at) + change.text + source.slice(at);
    }
    case 'swap': {
      const [a, b] = [change.at % lines.length, change.to % lines.length];
      [lines[a], lines[b]] = [lines[b] ?? '', lines[a] ?? ''];
      return lines.join('\n');
    }
    case 'repeat': {
      const at = change.at % lines.length;
      lines.splice(at, 0, ...Array.from({ length: change.times }, () => lines[at] ?? ''));
      return lines.join('\n');
    }
  }
}

describe('any text', () => {
  it('mutated scripts are analyzed and repaired without a crash', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...sources),
        fc.array(mutation, { minLength: 1, maxLength: 6 }),
        (source, changes) => holds(changes.reduce(mutate, source)),
      ),
      { numRuns: 80 },
    );
  });

  it('random text is analyzed without a crash', async () => {
    await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), holds), { numRuns: 80 });
  });

  it.each([
    ['empty', ''],
    ['only a byte order mark', '\ufeff'],
    ['NUL', 'x = 1\u0000\ny = 2'],
    ['a lone surrogate', 'x = "\ud800"'],
    ['carriage returns alone', 'import pandas as pd\rdf = pd.read_csv("a")\rprint(df)'],
    ['deep brackets', `${'('.repeat(5000)}1${')'.repeat(5000)}`],
    ['deep blocks', Array.from({ length: 90 }, (_, at) => `${' '.repeat(at)}if x:`).join('\n')],
    ['a long sum', `x = ${Array.from({ length: 5000 }, () => 'a').join(' + ')}`],
    [
      'endless recursion',
      'def f(x):\n    return f(x)\nf(1)\ndef g():\n    return h()\ndef h():\n    return g()\ng()',
    ],
    [
      'functions that double',
      Array.from({ length: 40 }, (_, at) => `def f${at + 1}(x):\n    return f${at}(x) + f${at}(x)`)
        .join('\n')
        .concat('\nf40(1)'),
    ],
    [
      'a list that holds itself',
      'a = []\na.append(a)\nd = {}\nd["d"] = d\nprint(a, d)\nfor x in a:\n    print(x[0][0])',
    ],
    [
      'a class that inherits itself',
      'class A(A):\n    pass\nA().fit(1)\nclass B:\n    def __init__(self):\n        self.b = self\nprint(B().b.b.b)',
    ],
    ['astral names', 'données = 1\n名 = données\n𝒙 = 名'],
  ])('%s', async (_name, source) => {
    await holds(source);
  });
});

/** Syntax nodes walked and steps taken must grow with the text, not faster. */
describe('growth', () => {
  const unit = (at: number): string =>
    [
      `df${at} = pd.read_csv("part${at}.csv")`,
      `df${at}["a"] = df${at}["a"].fillna(df${at}["a"].median())`,
      `for c in ["a", "b"]:`,
      `    if df${at}[c].isna().any():`,
      `        df${at}[c] = df${at}[c].clip(0, 1)`,
      `X${at}, V${at}, y${at}, w${at} = train_test_split(df${at}.drop(columns="t"), df${at}["t"])`,
      `m${at} = Ridge().fit(X${at}, y${at})`,
      `print(m${at}.score(V${at}, w${at}))`,
    ].join('\n');
  const script = (units: number): string =>
    `import pandas as pd\nfrom sklearn.linear_model import Ridge\nfrom sklearn.model_selection import train_test_split\n${Array.from({ length: units }, (_, at) => unit(at)).join('\n')}\n`;

  it('ten times the script is about ten times the syntax and ten times the findings', async () => {
    const [small, large] = [await parseModule(script(4)), await parseModule(script(40))];
    expect(large.size / small.size).toBeLessThan(10.5);
    const findings = await Promise.all(
      [script(4), script(40)].map(async (text) => (await analyzeLeakage(text)).findings.length),
    );
    expect(findings).toEqual([4, 40]);
  });

  it('ten times the script takes at most about ten times the steps, calls and all', async () => {
    const calls = (units: number): string =>
      `def g(x):\n    return x\n\ndef f(x):\n    return g(x) + g(x)\n\n${Array.from({ length: units }, (_, at) => `v${at} = f(f(${at}))`).join('\n')}\n`;
    for (const make of [script, calls]) {
      const [small, large] = [await analyzeInDetail(make(20)), await analyzeInDetail(make(200))];
      expect(large.steps / small.steps).toBeLessThan(13);
    }
  });
});
