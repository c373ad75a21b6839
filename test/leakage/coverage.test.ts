import { describe, expect, it } from 'vitest';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';
import { labeledScripts } from './labeled-scripts.js';

const HEAD = `import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
t = pd.read_csv("t.csv")
X, y = t.drop(columns="y"), t["y"]
a, b, c, d = train_test_split(X, y, random_state=0)
`;
const TAIL = 'm = LogisticRegression().fit(a, c)\nprint("Final Validation Performance:", m.score(b, d))\n';
const LEAKY = TAIL.replace('fit(a, c)', 'fit(X, y)');

interface Row {
  readonly name: string;
  readonly script: string;
  readonly coverage: 'full' | 'partial' | 'none';
  readonly hasScore?: boolean;
  readonly kinds?: readonly string[];
  readonly notFollowed?: readonly RegExp[];
}

const marimo = (cells: readonly string[]): string =>
  [
    'import marimo\napp = marimo.App()\n',
    ...cells.map((cell) => `@app.cell\n${cell}\n`),
    'if __name__ == "__main__":\n    app.run()\n',
  ].join('\n');
const IMPORTS = `def _():
    import pandas as pd
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    return LogisticRegression, pd, train_test_split`;
const SPLIT = `def _(pd, train_test_split):
    t = pd.read_csv("t.csv")
    X, y = t.drop(columns="y"), t["y"]
    a, b, c, d = train_test_split(X, y)
    return X, a, b, c, d, y`;
const SCORE = `def _(LogisticRegression, X, b, d, y):
    m = LogisticRegression().fit(X, y)
    print("Final Validation Performance:", m.score(b, d))
    return (m,)`;

const BOOSTER = `import lightgbm as lgb\nimport xgboost as xgb\n${HEAD}`;
const magic = (call: string) =>
  `${HEAD.replace(/^a, b.*\n/m, '')}${call}\nprint("Final Validation Performance:", m.score(b, d))\n`;

const rows: readonly Row[] = [
  { name: 'an ordinary script', script: HEAD + TAIL, coverage: 'full' },
  { name: 'a leaky script', script: HEAD + LEAKY, coverage: 'full', kinds: ['training-rows'] },
  {
    name: 'a script without a score',
    script: `${HEAD}m = LogisticRegression().fit(a, c)\np = m.predict(b)\n`,
    coverage: 'none',
    hasScore: false,
    notFollowed: [/^1: no score of a model was found/],
  },
  { name: 'a script without a model', script: 'x = 1\n', coverage: 'none', hasScore: false },
  {
    name: 'a fragment that imports nothing',
    script: 'm = Ridge()\nprint(m.fit(X, y).score(X, y))\n',
    coverage: 'none',
    hasScore: false,
  },
  {
    name: 'functions that nothing calls',
    script: 'from m import accuracy_score\ndef judge(m, X, y):\n    return accuracy_score(y, m.predict(X))\n',
    coverage: 'none',
    hasScore: false,
  },
  {
    name: 'a model of an unknown library',
    script: `from evalml.automl import AutoMLSearch\n${HEAD}search = AutoMLSearch(X_train=a, y_train=c)\nsearch.search()\nprint(accuracy_score(d, search.best_pipeline.predict(b)))\n`,
    coverage: 'none',
    notFollowed: [/^11: how the score comes about/],
  },
  {
    name: 'a score in a line that calls no function',
    script: `from lib import Model\n${HEAD}p = Model(a, c).answer(b)\nprint("Final Validation Performance:", (p == d).sum())\n`,
    coverage: 'none',
    notFollowed: [/^1: how the score comes about/],
  },
  {
    name: 'a network of an unknown class',
    script: `import torch\nfrom nets import Net\n${HEAD}net = Net(9)\nfor i in range(9):\n    loss = criterion(net(a), c)\n    loss.backward()\nright = (net(b).argmax(1) == d).sum()\nprint(f"Accuracy: {right / len(d)}")\n`,
    coverage: 'none',
  },
  {
    name: 'a bracket that is not closed before the leak',
    script: `${HEAD}z = (1,\n${LEAKY}`,
    coverage: 'none',
    notFollowed: [/^8: syntax that could not be read/],
  },
  {
    name: 'a quote that is not closed before the leak',
    script: `${HEAD}z = """abc\n${LEAKY}`,
    coverage: 'none',
  },
  {
    name: 'a syntax error beside the leak',
    script: `${HEAD}z = "abc\n${LEAKY}`,
    coverage: 'partial',
    kinds: ['training-rows'],
    notFollowed: [/syntax that could not be read/],
  },
  {
    name: 'code that is built at run time',
    script: `${HEAD}exec(open("more.py").read())\n${TAIL}`,
    coverage: 'partial',
    notFollowed: [/^8: /],
  },
  {
    name: 'names of a known library by a star',
    script: `from sklearn.metrics import *\nfrom numpy import *\n${HEAD}${TAIL}`,
    coverage: 'full',
  },
  {
    name: 'names of another file by a star',
    script: `from helpers import *\n${HEAD}${TAIL}`,
    coverage: 'partial',
    notFollowed: [/^1: names imported by \* from helpers/],
  },
  {
    name: 'rows that may be the same',
    script: `${HEAD}u, v = t.sample(frac=0.2), t[t.index.isin(list(open("ids")))]\nm = LogisticRegression().fit(u[["x"]], u["y"])\nprint(m.score(v[["x"]], v["y"]))\n`,
    coverage: 'partial',
    notFollowed: [/^10: whether the scored rows are among those of the training is not clear/],
  },
  {
    name: 'the best score of a booster that stopped on the rows',
    script: `${BOOSTER}m = lgb.LGBMClassifier()\nm.fit(a, c, eval_set=[(b, d)], callbacks=[lgb.early_stopping(50)])\nprint(m.best_score_["valid_0"]["auc"])\n`,
    coverage: 'full',
    kinds: ['early-stopping'],
  },
  {
    name: 'the same of a booster that was trained by a function',
    script: `${BOOSTER}m = lgb.train({}, lgb.Dataset(a, c), valid_sets=[lgb.Dataset(b, d)], callbacks=[lgb.early_stopping(50)])\nprint(m.best_score["valid_0"]["auc"])\n`,
    coverage: 'full',
    kinds: ['early-stopping'],
  },
  {
    name: 'a best score of rows that are not known',
    script: `${BOOSTER}m = xgb.XGBClassifier()\nm.fit(a, c)\nprint(m.best_score)\n`,
    coverage: 'none',
  },
  {
    name: 'cells of marimo',
    script: marimo([IMPORTS, SPLIT, SCORE]),
    coverage: 'full',
    kinds: ['training-rows'],
  },
  {
    name: 'cells of marimo in another order',
    script: marimo([SCORE, SPLIT.replace('X, y)', 'X, y, random_state=0)'), IMPORTS]),
    coverage: 'full',
    kinds: ['training-rows'],
  },
  {
    name: 'a timed cell of a converted notebook',
    script: magic(
      String.raw`get_ipython().run_cell_magic('time', '', 'a, b, c, d = train_test_split(X, y)\nm = LogisticRegression().fit(X, t["y"])\n')`,
    ),
    coverage: 'full',
    kinds: ['training-rows'],
  },
  {
    name: 'a captured cell with both quotes and an indented line',
    script: magic(
      String.raw`get_ipython().run_cell_magic('capture', 'out', 'a, b, c, d = train_test_split(X, y)\nfor name in [\'x\', "it\'s"]:\n    print("a\\n", name)\nm = LogisticRegression().fit(X, t[\'y\'])\n')`,
    ),
    coverage: 'full',
    kinds: ['training-rows'],
  },
  {
    name: 'a timed line',
    script: magic(
      "a, b, c, d = train_test_split(X, y)\nget_ipython().run_line_magic('time', 'm = LogisticRegression().fit(X, y)')",
    ),
    coverage: 'full',
    kinds: ['training-rows'],
  },
  {
    name: 'a table whose name stands for another one, since the cells ran in another order',
    script: `${HEAD.replace(/^X, y.*\n.*\n/m, '')}digits = t["u"].value_counts()
t = pd.DataFrame(columns=["x", "n"])
t["x"] = [1, 2, 3]
t["n"] = digits
t["u"] = t["u"] / t["u"].std()
a, b, c, d = train_test_split(t.drop(columns="y"), t["y"])
print(LogisticRegression().fit(a, c).score(b, d))
`,
    coverage: 'none',
    notFollowed: [/how the score comes about/],
  },
  {
    name: 'a cell in another language',
    script: magic(
      String.raw`a, b, c, d = train_test_split(X, y)
get_ipython().run_cell_magic('bash', '', 'python train.py\n')
m = LogisticRegression().fit(a, c)`,
    ),
    coverage: 'partial',
    notFollowed: [/^8: .*run_cell_magic/],
  },
];

describe('what was judged', () => {
  it.each(rows)(
    '$name: $coverage',
    async ({ script, coverage, hasScore = true, kinds = [], notFollowed }) => {
      const analysis = await analyzeLeakage(script);
      expect(analysis.findings.map(({ kind }) => kind)).toEqual(kinds);
      expect({ coverage: analysis.coverage, hasScore: analysis.hasScore }).toEqual({ coverage, hasScore });
      const notes = analysis.notFollowed.map(({ line, reason }) => `${line}: ${reason}`);
      for (const pattern of notFollowed ?? []) expect(notes).toContainEqual(expect.stringMatching(pattern));
      if (coverage === 'full') expect(notes).toEqual([]);
      else expect(notes).not.toEqual([]);
    },
  );

  it('code in the string of a magic is reported by its whole line, and not rewritten', async () => {
    const script = rows.find(({ name }) => name.startsWith('a timed cell'))?.script ?? '';
    const [finding] = (await analyzeLeakage(script)).findings;
    expect(finding?.codeBlock).toMatch(/^get_ipython\(\)\.run_cell_magic\(.*\)\n?$/);
    const repair = await repairLeak(script, finding?.codeBlock ?? '');
    expect(repair).toEqual({ ok: false, reason: 'Not rewritten: the code is in the string of a magic.' });
  });

  it('is all of it in the ordinary scripts of the labeled sets, clean or not', async () => {
    // The two other sets collect unusual divisions and look-alikes.
    const files = [
      'sample.jsonl',
      'first.txt',
      'third.txt',
      'fifth.txt',
      'kinds.txt',
      'sixth.txt',
      'traps.txt',
    ];
    const scripts = files.flatMap(labeledScripts).map(({ script }) => script);
    const analyses = await Promise.all(scripts.map(analyzeLeakage));
    const others = analyses.filter(({ coverage }) => coverage !== 'full');
    expect(others.length / analyses.length).toBeLessThan(0.02);
  });
});
