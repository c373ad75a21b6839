import { beforeAll, describe, expect, it } from 'vitest';
import { rewrittenScript } from '../../scripts/repairs/rewritten-script.js';
import {
  damageOf,
  type PairResult,
  pythonWithSklearn,
  runScripts,
  type ScriptPair,
} from '../../scripts/repairs/run-pairs.js';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';
import { labeledScripts } from './labeled-scripts.js';

const SEEDS = [
  'import numpy as np, pandas as pd',
  'from sklearn.model_selection import train_test_split',
  'table = pd.DataFrame({"a": np.arange(97), "t": np.arange(97) % 3}, index=range(500, 597))',
  'for options in ({}, {"stratify": table["t"]}, {"shuffle": False}):',
  '    seeded = {"test_size": 0.3, "random_state": None if "shuffle" in options else 6, **options}',
  '    rows, _ = train_test_split(range(len(table)), **seeded)',
  '    train, _, array, _ = train_test_split(table, table["a"].to_numpy(), **seeded)',
  '    assert list(train.index) == list(table.index[rows]), options',
  '    assert list(array) == list(rows), options',
  'print("equal")',
].join('\n');

const python = pythonWithSklearn();
if (python === undefined) {
  console.warn(
    'SKIPPED: no python3 with scikit-learn and pandas; install python3-sklearn and python3-pandas.',
  );
}

/** The script when no leak is found any more. */
async function repaired(source: string): Promise<string> {
  let text = source;
  // One rewrite may end several leaks.
  for (;;) {
    const [finding] = (await analyzeLeakage(text)).findings;
    if (finding === undefined) return text;
    const repair = await repairLeak(text, finding.codeBlock);
    if (!repair.ok) throw new Error(repair.reason);
    text = text.replace(repair.codeBlock, () => repair.replacement);
  }
}

/** Scripts of every kind of rewrite that read files, and run in a second; all others: npm run eval:repairs. */
const SAMPLE: readonly (readonly [string, readonly string[]])[] = [
  [
    'kinds.txt',
    ['target-encoding', 'group-statistics', 'encoding', 'clustering', 'vocabulary', 'statistics'],
  ],
  ['first.txt', ['A04', 'A10', 'A42', 'A46']],
];

/** Rewrites that damage their script, each in a way of its own. */
function damagedPairs(): ScriptPair[] {
  const original = [
    'import pandas as pd',
    'rows = pd.read_csv("test.csv")',
    'print("Final Validation Performance:", rows["km"].mean())',
    'rows.to_csv("submission.csv")',
  ].join('\n');
  const pair = (id: string, from: string, to: string): ScriptPair => ({
    id,
    original,
    rewritten: original.replace(from, () => to),
  });
  const trained = [
    'import numpy as np',
    'import pandas as pd',
    'from sklearn.linear_model import LinearRegression',
    'rows = pd.read_csv("rows.csv")',
    'X = np.log1p(rows[["km", "kg"]])',
    'model = LinearRegression().fit(X, rows["fare"])',
    'print("Final Validation Performance:", model.score(X, rows["fare"]))',
  ].join('\n');
  const retrained = (id: string, from: string, to: string): ScriptPair => ({
    id,
    original: trained,
    rewritten: trained.replace(from, () => to),
  });
  const vectorized = [
    'import pandas as pd',
    'from scipy.sparse import csr_matrix, hstack',
    'from sklearn.feature_extraction.text import CountVectorizer',
    'from sklearn.linear_model import Ridge',
    'rows = pd.read_csv("rows.csv")',
    'rows["word"] = rows["km"].round(0).astype(str)',
    'fitted = CountVectorizer().fit(rows["word"])',
    'X = hstack([fitted.transform(rows["word"]), csr_matrix(rows[["km", "kg"]].values)])',
    'model = Ridge().fit(X, rows["fare"])',
    'print("Final Validation Performance:", model.score(X, rows["fare"]))',
  ].join('\n');
  const fewerWords = vectorized.replace('.fit(rows["word"])', () => '.fit(rows["word"].head(200))');
  return [
    { id: 'fewer words', original: vectorized, rewritten: fewerWords },
    {
      id: 'fewer words, a column lost',
      original: vectorized,
      rewritten: fewerWords.replace('["km", "kg"]', () => '["km"]'),
    },
    {
      id: 'no words',
      original: vectorized,
      rewritten: vectorized.replace(/hstack\(.*\)/, 'rows[["km", "kg"]]'),
    },
    retrained('step lost', 'np.log1p(rows[["km", "kg"]])', 'rows[["km", "kg"]]'),
    retrained('column lost', '["km", "kg"]', '["km"]'),
    pair('same', '', ''),
    pair('fails', '["km"]', '["miles"]'),
    pair('silent', 'rows["km"].mean()', '""'),
    pair('fewer', 'rows.to_csv', 'rows.head(9).to_csv'),
  ];
}

const scripts = [
  'runnable.txt',
  'runnable-later-split.txt',
  'runnable-choice.txt',
  'runnable-other-folds.txt',
  'runnable-pipeline.txt',
  'runnable-folds.txt',
  'runnable-helpers.txt',
].flatMap(labeledScripts);
const damaged = damagedPairs();
let outputs: ReadonlyMap<string, string> = new Map();
let results: readonly PairResult[] = [];

async function rewrittenPairs(): Promise<ScriptPair[]> {
  const pairs: ScriptPair[] = [];
  for (const [file, ids] of SAMPLE) {
    for (const { id, script } of labeledScripts(file)) {
      if (!ids.includes(id)) continue;
      const { text } = await rewrittenScript(script);
      if (text !== script) pairs.push({ id, original: script, rewritten: text });
    }
  }
  return pairs;
}

beforeAll(async () => {
  if (python === undefined) return;
  const texts = [{ id: 'seeds', script: SEEDS }];
  for (const { id, script } of scripts) texts.push({ id, script: await repaired(script) });
  // One start of scikit-learn for all of them.
  ({ outputs, results } = await runScripts(python, texts, [...damaged, ...(await rewrittenPairs())]));
});

describe.skipIf(python === undefined)('repaired scripts run under real scikit-learn', () => {
  it.each(scripts)('REQ-SF-019: $id ($kind) is repaired, is clean, runs and prints a score', ({ id }) => {
    expect(outputs.get(id)).toMatch(/Final Validation Performance: -?\d/);
  });

  it('one seed divides the positions of rows as it divides the rows', () => {
    expect(outputs.get('seeds')).toBe('equal\n');
  });
});

describe.skipIf(python === undefined)('rewritten scripts on made-up data', () => {
  it('REQ-SF-019: run, print a score and write as many rows wherever the original did', () => {
    const ran = results.slice(damaged.length).filter((result) => result.ran);
    expect(ran.length).toBeGreaterThanOrEqual(10);
    expect(
      ran.flatMap((result) =>
        [damageOf(result)].flatMap((damage) => (damage === undefined ? [] : [`${result.id}: ${damage}`])),
      ),
    ).toEqual([]);
  });

  it('a rewrite that fails, loses its score or loses rows is told', () => {
    const said = results
      .slice(0, damaged.length)
      .map((result) => (result.ran ? damageOf(result) : 'not run'));
    expect(said).toEqual([
      undefined,
      expect.stringMatching(/its model predicts other rows: \d+ columns instead of/),
      expect.stringMatching(/its model predicts other rows: 2 columns instead of/),
      expect.stringMatching(/its model predicts other rows: column km around/),
      expect.stringMatching(/its model predicts other rows: 1 columns instead of 2/),
      undefined,
      expect.stringMatching(/KeyError/),
      'it prints no score any more',
      expect.stringMatching(/submission\.csv",9/),
    ]);
  });
});
