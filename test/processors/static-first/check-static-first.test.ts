import { describe, expect, it } from 'vitest';
import type { LeakageCheckOptions } from '../../../src/processors/leakage-check/check-and-fix-leakage.js';
import { isAudited } from '../../../src/processors/leakage-check/static-first/audit.js';
import { correction, leaks } from '../../support/agent-answers.js';
import { checkWith } from '../../support/leakage-check.js';
import { errorReply, jsonReply, type Script, textReply } from '../../support/messages-api.js';

const SPLIT = 'X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0)';
const FIT = 'model.fit(X_train, y_train)';
const LEAK = 'model.fit(X, y)';

/** A script that static analysis is certain of; its plots and tables have no part in the score. */
const CLEAN = [
  'import pandas as pd',
  'import matplotlib.pyplot as plt',
  'from sklearn.linear_model import Ridge',
  'from sklearn.model_selection import train_test_split',
  '',
  'data = pd.read_csv("train.csv")',
  'missing = data.isna().sum()',
  'print(missing)',
  'for column in ["a", "b", "c"]:',
  '    plt.figure(figsize=(8, 4))',
  '    plt.hist(data[column], bins=50, color="steelblue")',
  '    plt.title(f"distribution of {column}")',
  '    plt.xlabel(column)',
  '    plt.savefig(f"{column}.png")',
  '    plt.close()',
  'y = data.pop("target")',
  'X = data.fillna(0)',
  SPLIT,
  'model = Ridge()',
  FIT,
  'score = model.score(X_val, y_val)',
  'print(f"Final Validation Performance: {score}")',
  '',
].join('\n');
const LEAKY = CLEAN.replace(FIT, LEAK);
/** What the analysis cannot follow: the fill comes from a module that is not there. */
const UNCERTAIN = CLEAN.replace('X = data.fillna(0)', 'import own\nX = own.prepare(data, y)');

const FIRST: LeakageCheckOptions = { opinion: 'static-first', auditFraction: 0 };
const check = (content: string, reply: Script, options: LeakageCheckOptions = {}) =>
  checkWith(content, reply, { ...FIRST, ...options });

describe('a script of which the analysis is certain', () => {
  it.each([
    ['clean', CLEAN, CLEAN],
    ['corrected', LEAKY, CLEAN],
  ])('is %s without a call, and the result says who decided', async (status, content, corrected) => {
    const { result, requests } = await check(content, []);
    expect(requests).toHaveLength(0);
    expect(result).toMatchObject({
      status,
      solution: { content: corrected },
      checkedBy: ['analysis'],
      coverage: 'full',
      staticFirst: { decidedBy: 'analysis' },
      usage: { calls: 0, costUsd: 0 },
      agent: { runner: 'offline' },
    });
  });
});

describe('a script of which it is not certain', () => {
  it('goes to the agent as the lines that matter, and blocks of the answer are of the whole script', async () => {
    const { result, requests } = await check(UNCERTAIN, [leaks()]);
    expect(result).toMatchObject({
      status: 'clean',
      checkedBy: ['agent', 'analysis'],
      staticFirst: { decidedBy: 'agent', sent: 'slice', why: expect.stringContaining('the module own') },
    });
    expect(requests).toHaveLength(1);
    const [{ text = '' } = {}] = requests;
    expect(text).toContain(SPLIT);
    expect(text).not.toContain('plt.savefig');
    expect(text).toMatch(/# \([0-9a-f]{8}\) lines 7-15 left out/);
    expect(text).toMatch(/- line \d+: what the functions of `own` learn is not known/);
  });

  it('and the agent names a leak in it: the block is corrected in the whole script', async () => {
    const leaky = UNCERTAIN;
    const block = `X = own.prepare(data, y)\n${SPLIT}`;
    const corrected = [
      SPLIT.replace('(X, y', '(data, y'),
      'X_train = own.prepare(X_train, y_train)',
      'X_val = own.prepare(X_val, y_val)',
    ].join('\n');
    const { result, requests } = await check(leaky, [leaks(block), correction(block), correction(corrected)]);
    expect(result).toMatchObject({
      status: 'corrected',
      solution: { content: leaky.replace(block, corrected) },
    });
    // The first request for it has the lines that matter, and the second one the whole script.
    expect(requests[1]?.text).toContain('lines … left out');
    expect(requests[1]?.text).not.toContain('plt.savefig');
    expect(requests[2]?.text).toContain('plt.savefig');
  });

  it.each<[string, Script]>([
    [
      'asks for it',
      [
        jsonReply({
          answers: [{ leakage_status: 'No Data Leakage', code_block: '' }],
          needs_whole_script: true,
        }),
        leaks(),
      ],
    ],
    ['names a block that is not in it', [leaks('plt.hist(gone)'), leaks()]],
  ])('goes to the agent as a whole if it %s: one more call, which counts', async (_what, reply) => {
    const { result, requests } = await check(UNCERTAIN, reply);
    expect(requests).toHaveLength(2);
    expect(requests[1]?.text).toContain('plt.savefig');
    expect(result).toMatchObject({
      status: 'clean',
      usage: { calls: 2 },
      staticFirst: { decidedBy: 'agent', sent: 'whole' },
    });
  });

  it('is checked with what the analysis found, which needs no further call', async () => {
    // The second way to the score is not followed; the leak is certain, and its correction is not all there is.
    const leaky = `${LEAKY}exec(open("more.py").read())\n`;
    const { result, requests } = await check(leaky, [leaks()]);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.text).toMatch(/- lines \d+-\d+ leak: /);
    expect(result).toMatchObject({
      status: 'corrected',
      staticFirst: { decidedBy: 'agent', sent: 'whole' },
      findings: [
        { source: 'agent', outcome: 'no-leakage' },
        { source: 'analysis', outcome: 'corrected', agreedBy: ['analysis'] },
      ],
    });
  });

  it.each([
    ['does not parse', `${CLEAN}def broken(:\n`],
    ['has no score', 'import pandas as pd\ndata = pd.read_csv("train.csv")\nprint(data.mean())\n'],
    ['builds code at run time', `${CLEAN}exec(open("more.py").read())\n`],
    ['has magics that run other code', `%run prepare.ipynb\n${CLEAN}`],
  ])('because it %s, is never clean without a call', async (_what, content) => {
    const { result, requests } = await check(content, [leaks()]);
    expect(requests).toHaveLength(1);
    expect(result.staticFirst?.decidedBy).toBe('agent');
    expect(result.checkedBy).toContain('agent');
  });

  it('fails with the call', async () => {
    await expect(check(UNCERTAIN, [errorReply(401), errorReply(401)])).rejects.toMatchObject({
      name: 'AgentError',
    });
  });
});

describe('a notebook as a script', () => {
  it('is certain with harmless magics', async () => {
    const { result, requests } = await check(`%matplotlib inline\n${CLEAN}`, []);
    expect(requests).toHaveLength(0);
    expect(result.staticFirst).toEqual({ decidedBy: 'analysis' });
  });
});

describe('the sample that the agent is asked about all the same', () => {
  const all = { auditFraction: 1 };
  it.each<[string, string, Script, object]>([
    ['clean, and both say so', CLEAN, [leaks()], { agrees: true, analysis: 'clean', agent: 'clean' }],
    [
      'leaky, and both say so',
      LEAKY,
      [leaks(LEAK), correction(FIT)],
      { agrees: true, analysis: 'leaky', agent: 'leaky' },
    ],
    [
      'clean, and the agent names a leak',
      CLEAN,
      [leaks(SPLIT), correction(SPLIT), correction(SPLIT)],
      { agrees: false, analysis: 'clean', agent: 'leaky' },
    ],
    [
      'leaky, and the agent denies it',
      LEAKY,
      [leaks(), leaks()],
      { agrees: false, analysis: 'leaky', agent: 'clean' },
    ],
  ])('%s: checked as by both', async (_what, content, reply, audit) => {
    const { result, requests } = await check(content, reply, all);
    expect(result.staticFirst).toEqual({ decidedBy: 'agent', sent: 'whole', audit });
    expect(requests[0]?.text).toContain('plt.savefig');
    const both = await checkWith(content, reply, { opinion: 'both' });
    const { staticFirst: _, ...rest } = result;
    expect(rest).toEqual(both.result);
  });

  it('keeps the certain result if there is no usable answer, with what that cost', async () => {
    const { result } = await check(CLEAN, [textReply('no'), textReply('no'), textReply('no')], all);
    expect(result).toMatchObject({
      status: 'clean',
      staticFirst: { decidedBy: 'analysis' },
      usage: { calls: 3 },
    });
    expect(result.notes?.join()).toContain('gave no usable answer about this script');
  });

  it('fails with a call that may succeed later', async () => {
    await expect(check(CLEAN, [errorReply(503), errorReply(503)], all)).rejects.toMatchObject({
      retryable: true,
    });
  });

  it('has the share that was asked for, and the same scripts each time', () => {
    const scripts = Array.from({ length: 10_000 }, (_, at) => `print(${at})`);
    const audited = scripts.filter((script) => isAudited(script, 0.02));
    expect(audited.length).toBeGreaterThan(140);
    expect(audited.length).toBeLessThan(260);
    expect(scripts.filter((script) => isAudited(script, 0.02))).toEqual(audited);
    expect(audited.every((script) => isAudited(script, 0.1))).toBe(true);
    expect(scripts.some((script) => isAudited(script, 0))).toBe(false);
    expect(scripts.every((script) => isAudited(script, 1))).toBe(true);
  });
});
