import { describe, expect, it, onTestFinished } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { AgentError, PayloadError } from '../../src/errors.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';
import { digestOf } from '../../src/queues/digest.js';
import { correction, leaks, runnerFor } from '../support/agent-answers.js';
import { checkWith } from '../support/leakage-check.js';
import {
  errorReply,
  jsonReply,
  refusalReply,
  type Script,
  startMessagesApi,
  textReply,
  truncatedReply,
} from '../support/messages-api.js';

const LEAKY = 'scaler = StandardScaler()\nX = scaler.fit_transform(X)\n';
const SPLIT = 'X_train, X_val = train_test_split(X)\n';
const SCRIPT = `import numpy as np\n${LEAKY}${SPLIT}print(score)\n`;
const FIXED = 'scaler = StandardScaler()\nX = X.copy()';

async function failure(content: string, reply: Script): Promise<AgentError> {
  const thrown = await checkWith(content, reply).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(AgentError);
  return thrown as AgentError;
}

describe('checkAndFixLeakage', () => {
  it('REQ-SF-020: replaces the leaky block by its correction and leaves every other line', async () => {
    const { result, requests } = await checkWith(SCRIPT, [leaks(LEAKY.trimEnd()), correction(FIXED)]);
    expect(result.status).toBe('corrected');
    expect(result.solution.content).toBe(`import numpy as np\n${FIXED}\n${SPLIT}print(score)\n`);
    expect(result.findings).toEqual([
      {
        leakageStatus: 'Yes Data Leakage',
        source: 'agent',
        notes: [
          'the correction no longer calls fit_transform',
          'not shown that the correction changes nothing but the leak: no score was followed in the script',
        ],
        codeBlock: LEAKY.trimEnd(),
        outcome: 'corrected',
        correctedBlock: FIXED,
        correctedAt: 'import numpy as np\n'.length,
        occurrences: 1,
        matched: 'exact',
      },
    ]);
    expect(result.solutionDigest).toBe(digestOf(SCRIPT));
    expect(result.agent).toMatchObject({ runner: 'anthropic', model: 'claude-test' });
    expect(result.usage).toMatchObject({ calls: 2, inputTokens: 200, outputTokens: 40 });
    expect(requests).toHaveLength(2);
  });

  it('REQ-SF-018: without a "Yes" the correction agent is not called and the script is returned unchanged', async () => {
    const { result, requests } = await checkWith(SCRIPT, [leaks()]);
    expect(result.status).toBe('clean');
    expect(result.solution.content).toBe(SCRIPT);
    expect(requests).toHaveLength(1);
  });

  it('REQ-SF-017: the correction agent sees the whole present script and the block', async () => {
    const { requests } = await checkWith(SCRIPT, [leaks(LEAKY.trimEnd()), correction(FIXED)]);
    expect(requests[1]?.text).toContain(SCRIPT);
    expect(requests[1]?.text).toContain(`\n${LEAKY}</block-`);
  });

  it('REQ-SF-013: rejects an empty script before any call', async () => {
    const api = await startMessagesApi({ reply: [] });
    onTestFinished(() => api.close());
    await expect(checkAndFixLeakage({ content: '' }, runnerFor(api))).rejects.toBeInstanceOf(PayloadError);
    expect(api.requests).toHaveLength(0);
  });

  it('every answer counts: two leaks are corrected one after the other in the corrected script', async () => {
    const script = 'a = fit(all)\nb = fit(all)\nc = 1\n';
    const { result, requests } = await checkWith(script, [
      leaks('a = fit(all)', 'b = fit(all)'),
      correction('a = fit(train)'),
      correction('b = fit(train)'),
    ]);
    expect(result.status).toBe('corrected');
    expect(result.solution.content).toBe('a = fit(train)\nb = fit(train)\nc = 1\n');
    expect(requests[2]?.text).toContain('a = fit(train)\nb = fit(all)\n');
  });

  it('a "No" among "Yes" answers is a finding and is not corrected', async () => {
    const { result } = await checkWith('a = 1\nb = fit(all)\n', [
      jsonReply({
        answers: [
          { leakage_status: 'No Data Leakage', code_block: 'a = 1' },
          { leakage_status: 'Yes Data Leakage', code_block: 'b = fit(all)' },
        ],
      }),
      correction('b = fit(train)'),
    ]);
    expect(result.findings.map(({ outcome }) => outcome)).toEqual(['no-leakage', 'corrected']);
    expect(result.status).toBe('corrected');
  });

  it('says what it is doing', async () => {
    const steps: string[] = [];
    const onProgress = (step: string) => steps.push(step);
    const reply = [leaks('a = 1', 'b = 2'), correction('a = 3'), correction('b = 4')];
    await checkWith('a = 1\nb = 2\n', reply, { onProgress });
    expect(steps).toEqual(['detecting', 'correcting 1/2', 'correcting 2/2']);
  });
});

describe('locating the leaky block', () => {
  it('REQ-SF-021: a block that is not in the script is skipped with a warning', async () => {
    const warnings: string[] = [];
    const log = { info: () => undefined, warn: (message: string) => warnings.push(message) };
    const { result, requests } = await checkWith(SCRIPT, [leaks('model.fit(everything)')], { log });
    expect(result.status).toBe('uncorrected');
    expect(result.solution.content).toBe(SCRIPT);
    expect(result.findings[0]).toMatchObject({ outcome: 'not-found', codeBlock: 'model.fit(everything)' });
    expect(warnings.join('\n')).toContain('is not in the script');
    expect(requests).toHaveLength(1);
  });

  it('REQ-SF-021: one bad block does not keep the others from being corrected', async () => {
    const { result } = await checkWith('a = fit(all)\n', [
      leaks('nowhere()', 'a = fit(all)'),
      correction('a = 1'),
    ]);
    expect(result.status).toBe('partly-corrected');
    expect(result.solution.content).toBe('a = 1\n');
  });

  it('REQ-SF-021: a block that differs in trailing white space is found, and the original text is reported', async () => {
    const script = 'x = 1\na = fit(all)   \nb = 2\t\n';
    const { result } = await checkWith(script, [leaks('a = fit(all)\nb = 2'), correction('a = 0\nb = 2')]);
    expect(result.findings[0]).toMatchObject({
      matched: 'whitespace',
      codeBlock: 'a = fit(all)   \nb = 2\t',
    });
    expect(result.solution.content).toBe('x = 1\na = 0\nb = 2\n');
  });

  it('a whitespace match replaces the lines it found, not an earlier text that looks the same', async () => {
    const script = 'max = 1\nx = 1\n';
    const { result } = await checkWith(script, [leaks('x = 1  '), correction('x = 2')]);
    expect(result.solution.content).toBe('max = 1\nx = 2\n');
  });

  it('CRLF stays CRLF although the model answers with LF', async () => {
    const script = 'import os\r\na = fit(all)\r\nb = 2\r\nc = 3\r\n';
    const { result } = await checkWith(script, [leaks('a = fit(all)\nb = 2'), correction('a = 0\nb = 1')]);
    expect(result.solution.content).toBe('import os\r\na = 0\r\nb = 1\r\nc = 3\r\n');
  });

  it('a block swallowed by an earlier correction is superseded', async () => {
    const script = 'a = fit(all)\nb = fit(all)\n';
    const { result, requests } = await checkWith(script, [
      leaks(script.trimEnd(), 'b = fit(all)'),
      correction('c = 1'),
    ]);
    expect(result.findings.map(({ outcome }) => outcome)).toEqual(['corrected', 'superseded']);
    expect(result.status).toBe('corrected');
    expect(requests).toHaveLength(2);
  });

  it('a leak that an earlier, larger correction left in the script is corrected where it now is', async () => {
    const { result, requests } = await checkWith('x = 1\na = fit(all)\nb = 2\n', [
      leaks('x = 1\na = fit(all)\nb = 2', 'a = fit(all)'),
      correction('x = 3\na = fit(all)\nb = 2'),
      correction('a = fit(train)'),
    ]);
    expect(result.findings.map(({ outcome }) => outcome)).toEqual(['corrected', 'corrected']);
    expect(result.solution.content).toBe('x = 3\na = fit(train)\nb = 2\n');
    expect(requests).toHaveLength(3);
  });

  it('a block that an earlier correction only cut into counts as uncorrected', async () => {
    const { result } = await checkWith('a = fit(all)\nb = fit(all)\nc = fit(all)\n', [
      leaks('a = fit(all)\nb = fit(all)', 'b = fit(all)\nc = fit(all)'),
      correction('a = 1\nb = 2'),
    ]);
    expect(result.findings.map(({ outcome }) => outcome)).toEqual(['corrected', 'uncorrected']);
    expect(result.status).toBe('partly-corrected');
    expect(result.solution.content).toBe('a = 1\nb = 2\nc = fit(all)\n');
  });

  it('a block is not inside of a longer name', async () => {
    const script = 'XX = fit(all)\nX = fit(all)\nmax_x = fit(all)\n';
    const { result } = await checkWith(script, [
      leaks('X = fit(all)'),
      leaks('X = fit(all)'),
      correction('X = 1'),
    ]);
    expect(result.solution.content).toBe('XX = fit(all)\nX = 1\nmax_x = fit(all)\n');
    const { result: nowhere } = await checkWith('XX = fit(all)\n', [leaks('X = fit(all)')]);
    expect(nowhere.findings[0]?.outcome).toBe('not-found');
  });

  it('an unusable answer about the surroundings does not cost the check', async () => {
    const script = 'x = fit(a)\nuse(x)\nx = fit(a)\n';
    const { result } = await checkWith(script, [leaks('x = fit(a)'), refusalReply(), correction('x = 0')]);
    expect(result.status).toBe('corrected');
    expect(result.notes?.join()).toContain('occurs 2 times');
  });

  it('a block that occurs twice is requested once more with more context', async () => {
    const script = 'x = fit(a)\nuse(x)\nx = fit(a)\nscore(x)\n';
    const { result, requests } = await checkWith(script, [
      leaks('x = fit(a)'),
      leaks('x = fit(a)\nscore(x)'),
      correction('x = fit(train)\nscore(x)'),
    ]);
    expect(requests[1]?.text).toContain('occurs 2 times');
    expect(result.solution.content).toBe('x = fit(a)\nuse(x)\nx = fit(train)\nscore(x)\n');
    expect(result.findings[0]).toMatchObject({ occurrences: 1, outcome: 'corrected' });
  });

  it('a block that still occurs twice after that is corrected at its first occurrence, and the count is reported', async () => {
    const script = 'x = fit(a)\nuse(x)\nx = fit(a)\n';
    const { result, requests } = await checkWith(script, [
      leaks('x = fit(a)'),
      leaks('x = fit(a)'),
      correction('x = 0'),
    ]);
    expect(requests).toHaveLength(3);
    expect(result.solution.content).toBe('x = 0\nuse(x)\nx = fit(a)\n');
    expect(result.findings[0]).toMatchObject({ occurrences: 2 });
  });

  it('$& and $1 in a correction mean nothing', async () => {
    const { result } = await checkWith('a = fit(all)\n', [
      leaks('a = fit(all)'),
      correction("a = '$& $1 $$'"),
    ]);
    expect(result.solution.content).toBe("a = '$& $1 $$'\n");
  });
});

describe('it never fails open', () => {
  it('a refused detection is an error', async () => {
    expect((await failure(SCRIPT, [refusalReply()])).code).toBe('answer-refused');
  });

  it('a detection that is cut off twice is an error, and its cost is recorded', async () => {
    const error = await failure(SCRIPT, [truncatedReply('{"answers"'), truncatedReply('{"answers"')]);
    expect(error.code).toBe('answer-truncated');
    expect(error.usage).toMatchObject({ calls: 2, inputTokens: 200 });
  });

  it('a detection without an answer is an error that keeps what came', async () => {
    const empty = jsonReply({ answers: [] });
    const error = await failure(SCRIPT, [empty, empty, empty]);
    expect(error.code).toBe('answer-invalid');
    expect(error.rawAnswer).toBe('{"answers":[]}');
  });

  it('a wrong key in the middle is an error that has the cost of what was answered', async () => {
    const error = await failure(SCRIPT, [leaks(LEAKY.trimEnd()), errorReply(401)]);
    expect(error.code).toBe('unauthorized');
    expect(error.usage).toMatchObject({ calls: 1, inputTokens: 100 });
  });

  it('a correction that is refused or cut off leaves its finding uncorrected and the others go on', async () => {
    const { result } = await checkWith('a = fit(all)\nb = fit(all)\n', [
      leaks('a = fit(all)', 'b = fit(all)'),
      refusalReply(),
      correction('b = 1'),
    ]);
    expect(result.status).toBe('partly-corrected');
    expect(result.solution.content).toBe('a = fit(all)\nb = 1\n');
    expect(result.usage.calls).toBe(3);
  });

  it('an answer whose fence is never closed is not put in', async () => {
    const open = textReply('```python\na = fit(tr');
    const { result } = await checkWith('a = fit(all)\n', [leaks('a = fit(all)'), open, open]);
    expect(result.status).toBe('uncorrected');
    expect(result.findings[0]?.reason).toContain('cut off');
  });
});

describe('the offline check never fails open either', () => {
  const leaky = [
    'import pandas as pd',
    'from sklearn.linear_model import Ridge',
    'from sklearn.model_selection import train_test_split',
    'from sklearn.preprocessing import StandardScaler',
    'data = pd.read_csv("train.csv")',
    'X, y = data.drop(columns=["y"]), data["y"]',
    '# scale',
    'X = StandardScaler().fit_transform(X)',
    'X_train, X_val, y_train, y_val = train_test_split(X, y)',
    'model = Ridge().fit(X_train, y_train)',
    'print(f"Final Validation Performance: {model.score(X_val, y_val)}")',
    '',
  ];
  const offline = (content: string) => checkAndFixLeakage({ content }, createOfflineRunner());

  it('a lone carriage return ends a line, as it does for Python', async () => {
    for (const content of [leaky.join('\r'), leaky.join('\n').replace('# scale\n', '# scale\r')]) {
      expect((await offline(content)).status).not.toBe('clean');
    }
  });

  it('a script that the analysis gave up on is an error, not clean', async () => {
    const loops = Array.from({ length: 18 }, (_, depth) => `${' '.repeat(depth)}for i${depth} in range(9):`);
    const content = [...loops, `${' '.repeat(18)}pass`, ...leaky].join('\n');
    const outcome = await offline(content).catch((thrown: AgentError) => thrown);
    if (outcome instanceof AgentError) expect(outcome.code).toBe('analysis-exhausted');
    else expect(outcome.status).not.toBe('clean');
  });
});
