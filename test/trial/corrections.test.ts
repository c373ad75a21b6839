import { describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';
import { RecentMap } from '../../src/trial/recent-map.js';
import { type SandboxProgram, ScriptTrial, type TrialOutcome } from '../../src/trial/script-trial.js';
import { Trials } from '../../src/trial/trials.js';
import { correction, leaks } from '../support/agent-answers.js';
import { checkWith } from '../support/leakage-check.js';
import { sandboxOfMachine, TRIAL_SETTINGS } from '../support/trials.js';

const found = await sandboxOfMachine();

const LEAK = 'X = StandardScaler().fit_transform(X)\n';
const SPLIT = 'a, b, c, d = train_test_split(X, y, random_state=0)\n';
const SCRIPT = [
  'import pandas as pd',
  'from sklearn.linear_model import LogisticRegression',
  'from sklearn.model_selection import train_test_split',
  'from sklearn.preprocessing import StandardScaler',
  'df = pd.read_csv("train.csv")',
  'X = df[["age", "fare"]]',
  'y = df["survived"]',
  `${LEAK}${SPLIT}model = LogisticRegression().fit(a, c)`,
  'print("Final Validation Performance:", model.score(b, d))\n',
].join('\n');
const GOOD = `${SPLIT}scaler = StandardScaler()\na = scaler.fit_transform(a)\nb = scaler.transform(b)\n`;
/** It reads as well as the one above, and fails: the parts are not tables any more. */
const CRASHES = `${SPLIT}scaler = StandardScaler()\na = scaler.fit_transform(a.to_frame())\nb = scaler.transform(b.to_frame())\n`;

describe.skipIf(found === undefined)('a check with trials', () => {
  const trials = new Trials(TRIAL_SETTINGS);

  it('tells the model how its correction fails, and takes one that runs', async () => {
    const reply = [leaks(`${LEAK}${SPLIT}`), correction(CRASHES), correction(GOOD)];
    const { result, requests } = await checkWith(SCRIPT, reply, { trials });
    expect(requests[2]?.text).toContain(
      "on made-up data the original runs, and the corrected script fails with AttributeError: 'DataFrame' object has no attribute 'to_frame'",
    );
    expect(result).toMatchObject({
      status: 'corrected',
      trial: { passed: 1, refused: 1, notPossible: 0 },
      solution: { content: SCRIPT.replace(`${LEAK}${SPLIT}`, GOOD) },
    });
  });

  it('refuses a correction that fails twice, and gives the line of the traceback', async () => {
    const reply = [leaks(`${LEAK}${SPLIT}`), correction(CRASHES), correction(CRASHES)];
    const { result } = await checkWith(SCRIPT, reply, { trials });
    expect(result).toMatchObject({
      status: 'uncorrected',
      solution: { content: SCRIPT },
      trial: { passed: 0, refused: 1 },
      findings: [
        { outcome: 'uncorrected', reason: expect.stringContaining("'to_frame' in line 10: a = scaler") },
      ],
    });
  });

  it('tries rewrites of static analysis out as well; without its library a script stays corrected, with a note', async () => {
    const check = (content: string) => checkAndFixLeakage({ content }, createOfflineRunner(), { trials });
    expect(await check(SCRIPT)).toMatchObject({ status: 'corrected', trial: { passed: 1, refused: 0 } });
    const result = await check(`import a_library_that_is_not_there\n${SCRIPT}`);
    const reason = expect.stringContaining(
      "ModuleNotFoundError: No module named 'a_library_that_is_not_there'",
    );
    expect(result).toMatchObject({
      status: 'corrected',
      trial: { passed: 0, refused: 0, notPossible: 1, reason },
    });
    expect(result.findings[0]?.notes).toEqual([expect.stringMatching(/^not tried out: .*is_not_there/)]);
  });

  it('ends with its job', async () => {
    const abort = new AbortController();
    const reply = [leaks(`${LEAK}${SPLIT}`), correction(GOOD)];
    const onProgress = (step: string) => {
      if (step.startsWith('correcting')) abort.abort(new Error('cancelled'));
    };
    const check = checkWith(SCRIPT, reply, { trials, signal: abort.signal, onProgress });
    await expect(check).rejects.toThrow('cancelled');
  });
});

describe('a check with trials on a machine without a sandbox', () => {
  it('fails before any request, and does not leave it at a note', async () => {
    const check = checkWith(SCRIPT, () => leaks(), { trials: new Trials({ sandbox: 'off' }) });
    await expect(check).rejects.toMatchObject({ code: 'trial-unavailable', retryable: false });
  });
});

describe('the outcome of a trial', () => {
  const ran = (printed: string) => ({ ok: true, error: '', line: 0, text: '', printed });
  const failed = (error: string) => ({ ok: false, error, line: 3, text: 'x = y', printed: '' });
  const program =
    (answer: unknown): SandboxProgram =>
    async () =>
      answer;
  const partsWith = (program: SandboxProgram) => ({
    sandbox: 'unshare' as const,
    program,
    isAborted: () => false,
    remembered: new RecentMap<string, TrialOutcome>(10),
  });
  const outcomeOf = (answer: unknown) => new ScriptTrial('x = 1', partsWith(program(answer))).tryOut('x = 2');
  const spec = {};

  it.each([
    ['both print a score', { spec, original: ran('0.9'), corrected: ran('0.8') }, 'passed', undefined],
    ['neither prints one', { spec, original: ran('done'), corrected: ran('') }, 'passed', undefined],
    [
      'the score is gone',
      { spec, original: ran('0.9'), corrected: ran('done') },
      'refused',
      'prints no score',
    ],
    [
      'the score is no number',
      { spec, original: ran('0.9'), corrected: ran('nan 1') },
      'refused',
      'no score',
    ],
    [
      'the corrected script fails, and the original does not',
      { spec, original: ran('0.9'), corrected: failed('KeyError: a\nlast'), again: ran('0.9') },
      'refused',
      'fails with last in line 3: x = y',
    ],
    [
      'the original fails the next time',
      { spec, original: ran('0.9'), corrected: failed('KeyError: a'), again: failed('KeyError: b') },
      'not-possible',
      'does not run each time: KeyError: b',
    ],
    [
      'the corrected script exceeds a limit',
      { spec, original: ran('0.9'), corrected: failed('MemoryError: ') },
      'not-possible',
      'had to be ended: MemoryError',
    ],
    ['the original does not run', { original: failed('ImportError: a') }, 'not-possible', 'ImportError: a'],
    ['no data can be made up', { unfit: 'SyntaxError: a' }, 'not-possible', 'SyntaxError: a'],
    ['the answer is forged', { original: 7 }, 'not-possible', 'no answer'],
  ] as const)('where %s', async (_what, answer, outcome, reason) => {
    expect(await outcomeOf(answer)).toEqual({
      outcome,
      ...(reason === undefined ? {} : { reason: expect.stringContaining(reason) }),
    });
  });

  it('is found once for each corrected script, and the original runs once for all of them', async () => {
    const tasks: Readonly<Record<string, unknown>>[] = [];
    const parts = partsWith(async (task) => {
      tasks.push(task);
      return { spec: { columns: {} }, original: ran('1'), corrected: ran('1') };
    });
    const trial = new ScriptTrial('x = 1', parts);
    for (const corrected of ['x = 2', 'x = 3', 'x = 2']) await trial.tryOut(corrected);
    expect(tasks).toHaveLength(2);
    expect(tasks[0]).not.toHaveProperty('spec');
    expect(tasks[1]).toMatchObject({ spec: { columns: {} }, ran: { printed: '1' } });
    expect(trial.summary).toEqual({ sandbox: 'unshare', passed: 2, refused: 0, notPossible: 0 });
    // A job that waited for a child comes here again.
    const again = new ScriptTrial('x = 1', parts);
    await again.tryOut('x = 3');
    expect(tasks).toHaveLength(2);
    expect(again.summary).toEqual({ sandbox: 'unshare', passed: 1, refused: 0, notPossible: 0 });
  });
});
