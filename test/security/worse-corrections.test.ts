import { afterEach, describe, expect, it } from 'vitest';
import { IN_PLACE_ANALYST } from '../../src/agents/script-analyst.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';
import { CorrectedScript } from '../../src/processors/leakage-check/corrected-script.js';
import { validateCorrection } from '../../src/processors/leakage-check/validate-correction.js';
import { correctionScope, locateBlock } from '../../src/solution/index.js';
import { labeledScripts } from '../leakage/labeled-scripts.js';
import { correction, leaks, runnerFor } from '../support/agent-answers.js';
import { type MessagesApi, startMessagesApi } from '../support/messages-api.js';

const CLEAN = `import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split

data = pd.read_csv("train.csv")
y = data.pop("target")
X = data.fillna(0)
X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0)
model = Ridge()
model.fit(X_train, y_train)
score = model.score(X_val, y_val)
print(f"Final Validation Performance: {score}")
`;
const FILL = 'X = data.fillna(0)';
const FIT = 'model.fit(X_train, y_train)';
const SCORE = 'score = model.score(X_val, y_val)';
const PRINT = 'print(f"Final Validation Performance: {score}")';

let api: MessagesApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

/** Checks a script with a model that calls each block a leak and always answers with its correction. */
async function check(content: string, changes: readonly (readonly [block: string, correction: string])[]) {
  api = await startMessagesApi({
    reply: (request, index) => {
      if (index === 0) return leaks(...changes.map(([block]) => block));
      const requested = changes.find(([block]) => request.text.includes(`\n${block}\n</block-`));
      return correction(requested?.[1] ?? 'nothing()');
    },
  });
  return checkAndFixLeakage({ content }, runnerFor(api));
}

describe('a correction that makes a script worse is taken back', () => {
  it.each([
    ['the label among the features', FILL, `${FILL}\nX["copy"] = y`, 'adds another leak'],
    [
      'a scaler over all rows',
      FILL,
      'from sklearn.preprocessing import MinMaxScaler\nX = MinMaxScaler().fit_transform(data.fillna(0))',
      'adds another leak',
    ],
    ['a mean over all rows', FILL, 'X = data.fillna(data.mean())', 'adds another leak'],
    ['training on the scored rows', FIT, 'model.fit(X_val, y_val)', 'adds another leak'],
    [
      'training on all rows',
      FIT,
      'model.fit(pd.concat([X_train, X_val]), pd.concat([y_train, y_val]))',
      'adds another leak',
    ],
    ['a constant for the score', SCORE, 'score = float("0.99")', 'scores no predictions'],
    [
      'labels scored against themselves',
      SCORE,
      'from sklearn.metrics import r2_score\nscore = r2_score(y_val, y_val)',
      'scores no predictions',
    ],
    [
      'a printed constant',
      PRINT,
      'print("Final Validation Performance: 0.999")',
      'prints a number that is written into it',
    ],
    [
      'another score beside the printed one',
      FILL,
      `${FILL}\nprint("Final Validation Performance: 0.999")`,
      'prints a number that is written into it',
    ],
    [
      'the same in parts',
      FILL,
      `${FILL}\nprint(f"Performance: {0.9 + 0.09}", end="")`,
      'prints a number that is written into it',
    ],
    ['marks that turn the direction of text', FILL, `${FILL} # \u202e`, 'direction marks'],
    ['a line break that Python does not know', FILL, `${FILL} # \u2028import os`, 'direction marks'],
    ['commands to a terminal', FILL, `${FILL} # \u001b[2J`, 'control characters'],
    [
      'a print that prints nothing',
      FIT,
      `${FIT}\nprint = lambda *a: None`,
      'prints no score of its predictions',
    ],
    ['a model that learns nothing', FIT, 'model.alpha = 3', 'scores no predictions'],
    ['an end before the score', FIT, `${FIT}\nraise ValueError(score_of)`, 'scores no predictions'],
    ['another method of the model', FIT, `${FIT}\nmodel.score = lambda X, y: 0.99`, 'replaces score'],
    ['a line that continues after the block', FILL, `${FILL}\nif len(X): \\`, 'lines outside of the block'],
  ])('%s', async (_what, block, corrected, reason) => {
    const result = await check(CLEAN, [[block, corrected]]);
    expect(result.status).toBe('uncorrected');
    expect(result.solution.content).toBe(CLEAN);
    expect(result.findings[0]?.reason).toContain(reason);
  });

  it('so static analysis can no longer follow it', async () => {
    const located = locateBlock(FILL, CLEAN);
    if (located === null) throw new Error('the block is in the script');
    const checked = validateCorrection(
      `\`\`\`\n${FILL}.copy()\n\`\`\``,
      located,
      new CorrectedScript(CLEAN),
      {
        parsedBefore: true,
        runner: { name: 'anthropic' },
        analyst: {
          ...IN_PLACE_ANALYST,
          analyze: async (source) => ({
            ...(await IN_PLACE_ANALYST.analyze(CLEAN)),
            exhausted: source !== CLEAN,
          }),
        },
      },
    );
    expect(await checked).toMatchObject({ ok: false, problem: expect.stringContaining('cannot follow') });
  });

  it('piece by piece: all corrections together leave half of the script', async () => {
    const script = Array.from({ length: 12 }, (_, at) => `step_${at}(first_${at}, second_${at})`);
    const changes = script.map((line, at) => [line, `other_${at}(third_${at}, fourth_${at})`] as const);
    const { status, solution } = await check(`${script.join('\n')}\n`, changes);
    expect(status).toBe('partly-corrected');
    expect(script.filter((line) => solution.content.includes(line))).toHaveLength(6);
  });

  it.each([['0.5 + model.score(X_val, y_val) / 2'], ['model.score(X_val, y_val) ** 0.01']])(
    'or has a note, if it changes the score to %s',
    async (expression) => {
      const { findings } = await check(CLEAN, [[SCORE, `score = ${expression}`]]);
      expect(findings[0]?.notes).toEqual([
        `the correction changes how a score is computed or printed: ${SCORE}`,
        'not shown that the correction changes nothing but the leak: something else is done with the predictions or the score',
      ]);
    },
  );
});

it('a score of other rows has a note that says so', async () => {
  const { findings } = await check(CLEAN, [[SCORE, 'score = model.score(X_val[:1], y_val[:1])']]);
  expect(findings[0]?.notes).toContainEqual(expect.stringMatching(/^not shown .* would hold other rows/));
});

describe('names in disguise', () => {
  it.each([
    ['the frame of a generator', 'g = (x for x in [1])\ng.gi_frame.f_builtins["ex" + "ec"]("1")'],
    ['a library that evaluates texts', 'import numpy as np\nnp.testing.runstring("1", {})'],
    ['annotations that are evaluated', 'import typing\ndef f(a: "g()"): pass\ntyping.get_type_hints(f)'],
    ['a query that calls a module', 'data.query("@pd.io.common.os.getcwd()")'],
    ['a query that calls a method', 'data.query("@data.max()")'],
    ['a query that writes', 'data.query("a.to_csv(\'x\')")'],
    ['a query of a text put together', 'data.query("@" + "pd.x")'],
    ['a query under another name', 'q = data.query\nq("a")'],
    ['a method by its name', 'data.apply("to_csv", path_or_buf="x")'],
    ['attributes in a format', '"{0.__class__}".format(1)'],
    ['a writer of another format', 'data.to_html("x")'],
    ['a picture', 'import matplotlib.pyplot as plt\nplt.savefig("x")'],
    ['a download', 'from sklearn.datasets import fetch_openml as f\nf("x")'],
    ['an address in escapes', 'pd.read_csv("http:\\x2f\\57evil")'],
    ['an address in named escapes', 'pd.read_csv("http:\\N{SOLIDUS}\\N{SOLIDUS}evil")'],
    ['a file of the system', 'pd.read_csv("/proc/self/environ")'],
    ['a file outside', 'pd.read_table("a/../../b")'],
  ])('%s is rejected', async (_what, code) => {
    const located = locateBlock(FIT, CLEAN);
    if (located === null) throw new Error('the block is in the script');
    expect((await correctionScope(located, `${code}\n${FIT}`, CLEAN)).problem).toBeDefined();
  });

  it.each([
    ['a plain query', 'X_train = X_train.query("a > 3 and b == @limit")'],
    ['a query of texts', 'X_train = X_train.query("name.str.contains(\'x\')")'],
    ['columns with the names of functions', 'X_train = X_train[["open", "system", "load"]]'],
    ['a file beside the script', 'more = pd.read_csv("data/more.csv")'],
  ])('%s is no harm', async (_what, code) => {
    const located = locateBlock(FIT, CLEAN);
    if (located === null) throw new Error('the block is in the script');
    expect((await correctionScope(located, `${code}\n${FIT}`, CLEAN)).problem).toBeUndefined();
  });
});

/** Each corrected by hand: what differs between a leaky script and its clean twin, as one block. */
const ALL_TWINS = ['first.txt', 'kinds.txt', 'ninth.jsonl'].flatMap((file) =>
  labeledScripts(file).flatMap(({ id, script, fixed }) =>
    fixed === undefined || fixed === null ? [] : [{ id: `${file} ${id}`, script, fixed }],
  ),
);

/** Every fourth one: a proof takes longer than an analysis. */
const TWINS = ALL_TWINS.filter((_, at) => at % 4 === 0);

it('an honest correction is not rejected', async () => {
  const rejected: string[] = [];
  for (const { id, script, fixed } of TWINS) {
    const [old, now] = [script.split('\n'), fixed.split('\n')];
    let head = 0;
    while (old[head] === now[head]) head += 1;
    let tail = 0;
    const most = Math.min(old.length, now.length) - head;
    while (tail < most && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
    // Lines that are only added go with the line before them.
    const from = tail === old.length - head ? head - 1 : head;
    const located = locateBlock(old.slice(from, old.length - tail).join('\n'), script);
    if (located === null) throw new Error(`${id}: the block is in the script`);
    const answer = `\`\`\`python\n${now.slice(from, now.length - tail).join('\n')}\n\`\`\``;
    const checked = await validateCorrection(answer, located, new CorrectedScript(script), {
      parsedBefore: true,
      analyst: IN_PLACE_ANALYST,
      runner: { name: 'anthropic' },
    });
    if (!checked.ok) rejected.push(`${id}: ${checked.problem}`);
  }
  expect(TWINS.length).toBeGreaterThan(20);
  expect(rejected).toEqual([]);
});
