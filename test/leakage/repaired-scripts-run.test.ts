import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { pythonWithSklearn } from '../../scripts/repairs/run-pairs.js';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';
import { labeledScripts } from './labeled-scripts.js';

/** Runs each script of the list on standard input by itself, and prints what each printed. */
const DRIVER = `
import contextlib, io, json, sys, traceback, warnings
warnings.simplefilter("ignore")
outputs = []
for source in json.load(sys.stdin):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        try:
            exec(compile(source, "script", "exec"), {"__name__": "__main__"})
        except Exception:
            print(traceback.format_exc())
    outputs.append(text.getvalue())
json.dump(outputs, sys.stdout)
`;

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

describe.skipIf(python === undefined)('repaired scripts run under real scikit-learn', () => {
  const scripts = [
    'runnable.txt',
    'runnable-later-split.txt',
    'runnable-choice.txt',
    'runnable-pipeline.txt',
    'runnable-folds.txt',
  ].flatMap(labeledScripts);
  const texts = new Map<string, string>();
  const outputs = new Map<string, string>();

  beforeAll(async () => {
    for (const { id, script } of scripts) texts.set(id, await repaired(script));
    texts.set('seeds', SEEDS);
    // One start of scikit-learn for all of them.
    const input = JSON.stringify([...texts.values()]);
    const printed = execFileSync(python ?? '', ['-c', DRIVER], { input, encoding: 'utf8' });
    const ids = [...texts.keys()];
    (JSON.parse(printed) as string[]).forEach((output, at) => {
      outputs.set(ids[at] ?? '', output);
    });
  });

  it.each(scripts)('REQ-SF-019: $id ($kind) is repaired, is clean, runs and prints a score', ({ id }) => {
    expect(outputs.get(id)).toMatch(/Final Validation Performance: -?\d/);
  });

  it('one seed divides the positions of rows as it divides the rows', () => {
    expect(outputs.get('seeds')).toBe('equal\n');
  });
});
