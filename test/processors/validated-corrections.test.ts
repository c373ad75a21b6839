import { describe, expect, it } from 'vitest';
import { parsesAsPython } from '../../src/solution/index.js';
import { correction, leaks } from '../support/agent-answers.js';
import { checkWith } from '../support/leakage-check.js';
import { textReply } from '../support/messages-api.js';

const LEAKY = 'scaler = StandardScaler()\nX = scaler.fit_transform(X)\n';
const SPLIT = 'X_train, X_val = train_test_split(X)\n';
const SCRIPT = `import numpy as np\n${LEAKY}${SPLIT}print(score)\n`;
const FIXED = 'scaler = StandardScaler()\nX = X.copy()';

describe('validating a correction', () => {
  const twice = (first: string, second: string) => [
    leaks('a = fit(all)'),
    correction(first),
    correction(second),
  ];

  it.each([
    ['empty', ''],
    ['the same as the block', 'a = fit(all)'],
    ['the same except for white space', 'a = fit(all)   '],
    ['no Python any more', 'a = fit('],
    ['a placeholder', '# rest unchanged'],
    ['a comment alone', '# the leaky line was removed'],
    ['pass', 'pass'],
    ['a word', 'Unchanged'],
    ['a diff', '-x\n+y'],
  ])('REQ-SF-019: one that is %s is requested once more, with the problem', async (_what, bad) => {
    const { result, requests } = await checkWith('a = fit(all)\nb = 2\n', twice(bad, 'a = fit(train)'));
    expect(result.status).toBe('corrected');
    expect(result.solution.content).toBe('a = fit(train)\nb = 2\n');
    expect(requests[2]?.text).toContain('could not be used');
    expect(requests[1]?.text).not.toContain('could not be used');
  });

  it('REQ-SF-019: a second bad one leaves the block as it is, and says why', async () => {
    const script = 'a = fit(all)\nb = 2\n';
    const { result, requests } = await checkWith(script, twice('a = fit(all)', ''));
    expect(result.status).toBe('uncorrected');
    expect(result.solution.content).toBe(script);
    expect(result.findings[0]).toMatchObject({ outcome: 'uncorrected', reason: 'the correction is empty' });
    expect(result.findings[0]).not.toHaveProperty('correctedBlock');
    expect(requests).toHaveLength(3);
  });

  it('a script that parsed never comes back as one that does not', async () => {
    const script = 'def f():\n    a = fit(all)\n    return a\n';
    const { result } = await checkWith(script, [
      leaks('    a = fit(all)'),
      correction('a = ('),
      correction(')'),
    ]);
    expect(result.status).toBe('uncorrected');
    expect((await parsesAsPython(result.solution.content)).ok).toBe(true);
  });

  it('a uniformly different indentation is fitted to the block before it is checked', async () => {
    const script = 'def f():\n    a = fit(all)\n    return a\n';
    const { result } = await checkWith(script, [
      leaks('    a = fit(all)'),
      correction('a = fit(train)\nb = 1'),
    ]);
    expect(result.solution.content).toBe('def f():\n    a = fit(train)\n    b = 1\n    return a\n');
  });

  it('one that no longer defines what later lines use is requested once more', async () => {
    const reply = [leaks('a = fit(all)'), correction('c = fit(train)'), correction('a = fit(train)')];
    const { result, requests } = await checkWith('a = fit(all)\nprint(a)\n', reply);
    expect(requests[2]?.text).toContain('no longer defines a');
    expect(result.solution.content).toBe('a = fit(train)\nprint(a)\n');
  });

  it('lines around the block that the answer repeats are not doubled', async () => {
    const script = 'frame = load("train.csv")\nx = fit(frame)\nmodel.fit(x, target)\nscore(model, x)\n';
    const answer = 'frame = load("train.csv")\nx = fit(train)\nmodel.fit(x, target)\nscore(model, x)';
    const { result } = await checkWith(script, [leaks('x = fit(frame)'), correction(answer)]);
    expect(result.solution.content).toBe(script.replace('fit(frame)', 'fit(train)'));
    const piece = 'x = fit(train)\nmodel.fit(x, target)';
    const { result: shorter } = await checkWith(script, [leaks('x = fit(frame)'), correction(piece)]);
    expect(shorter.solution.content).toBe(script.replace('fit(frame)', 'fit(train)'));
  });

  it('prose is not put into a script that is no Python', async () => {
    const sorry = textReply('I am sorry, but I cannot help with that.');
    const { result } = await checkWith('x <- fit(all\n', [leaks('x <- fit(all'), sorry, sorry]);
    expect(result.status).toBe('uncorrected');
    expect(result.solution.content).toBe('x <- fit(all\n');
  });

  it('the whole script as the answer: what it changes within the block is taken', async () => {
    const whole = SCRIPT.replace('X = scaler.fit_transform(X)', 'X = X.copy()');
    const { result } = await checkWith(SCRIPT, [leaks(LEAKY.trimEnd()), correction(whole.trimEnd())]);
    expect(result.status).toBe('corrected');
    expect(result.solution.content).toBe(whole);
    expect(result.findings[0]?.correctedBlock).toBe('scaler = StandardScaler()\nX = X.copy()');
  });

  it('the whole script with other lines changed too is requested again as a block', async () => {
    const whole = SCRIPT.replace('X = scaler.fit_transform(X)', 'X = X.copy()').replace(
      'print(score)',
      'print(0)',
    );
    const reply = [leaks(LEAKY.trimEnd()), correction(whole.trimEnd()), correction(FIXED)];
    const { result, requests } = await checkWith(SCRIPT, reply);
    expect(requests[2]?.text).toContain('only the block');
    expect(result.solution.content).toBe(SCRIPT.replace(LEAKY.trimEnd(), FIXED));
  });

  it('a script that is not Python is still checked, and the result says that parsing was off', async () => {
    const { result } = await checkWith('library(caret)\nx <- fit(all\n', [
      leaks('x <- fit(all'),
      correction('x <- ('),
    ]);
    expect(result.status).toBe('corrected');
    expect(result.notes?.join()).toContain('parsing was off');
  });
});

describe('the second opinion on a correction', () => {
  const script = [
    'import pandas as pd',
    'from sklearn.linear_model import Ridge',
    'from sklearn.model_selection import train_test_split',
    'from sklearn.preprocessing import StandardScaler',
    'data = pd.read_csv("train.csv")',
    'X, y = data.drop(columns=["y"]), data["y"]',
    'scaler = StandardScaler()',
    'X = scaler.fit_transform(X)',
    'X_train, X_val, y_train, y_val = train_test_split(X, y)',
    'model = Ridge().fit(X_train, y_train)',
    'print(f"Final Validation Performance: {model.score(X_val, y_val)}")',
    '',
  ].join('\n');
  const block = script.split('\n').slice(6, 9).join('\n');
  const renamed = block.replaceAll('scaler', 'standardizer');
  const repaired = [
    'X_train, X_val, y_train, y_val = train_test_split(X, y)',
    'scaler = StandardScaler()',
    'X_train = scaler.fit_transform(X_train)',
    'X_val = scaler.transform(X_val)',
  ].join('\n');

  it('a correction that leaves the leak in the script is requested once more, with the reason', async () => {
    const { result, requests } = await checkWith(script, [
      leaks(block),
      correction(renamed),
      correction(repaired),
    ]);
    expect(requests[2]?.text).toContain('a leak of the same kind remains');
    expect(result.status).toBe('corrected');
    expect(result.solution.content).toBe(script.replace(block, repaired));
    expect(result.findings[0]).toMatchObject({ severity: 'low', kind: expect.any(String) });
  });

  it('a second one that does so is not put in, and the finding says why', async () => {
    const { result } = await checkWith(script, [
      leaks(block),
      correction(renamed),
      correction(`${renamed}  # again`),
    ]);
    expect(result.status).toBe('uncorrected');
    expect(result.solution.content).toBe(script);
    expect(result.findings[0]?.reason).toContain('a leak of the same kind remains');
  });
});
