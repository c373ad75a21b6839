import { afterEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { analystBy, type ScriptAnalyst } from '../../src/agents/script-analyst.js';
import { doInPlace } from '../../src/agents/script-tasks.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';
import { correction, leaks, runnerFor } from '../support/agent-answers.js';
import { featureScript } from '../support/feature-script.js';
import { type MessagesApi, startMessagesApi } from '../support/messages-api.js';

const CONTENT = featureScript(3);
const LEAK = 'X = scaler.fit_transform(df)';

let api: MessagesApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

/** Computes in place, and records which texts it analyzed. */
function recording(): { analyst: ScriptAnalyst; analyzed: string[] } {
  const analyzed: string[] = [];
  const analyst = analystBy((task, input) => {
    if (task === 'analyze') analyzed.push(String(input[0]));
    return doInPlace(task, input);
  });
  return { analyst, analyzed };
}

describe('one check', () => {
  it('analyzes the same text once: for the detection, the description and the second opinion', async () => {
    const { analyst, analyzed } = recording();
    const result = await checkAndFixLeakage({ content: CONTENT }, createOfflineRunner(), { analyst });
    expect(result.status).toBe('corrected');
    expect(analyzed).toEqual([CONTENT, result.solution.content]);
  });

  it("analyzes the script once for all findings of a model's answer, and each correction once", async () => {
    api = await startMessagesApi({
      reply: [
        leaks(LEAK, 'y = df.pop("target")'),
        correction(
          'fit_rows, _ = train_test_split(df, random_state=0)\nX = scaler.fit(fit_rows).transform(df)',
        ),
        correction('y = df.pop("target").astype(int)'),
      ],
    });
    const { analyst, analyzed } = recording();
    const result = await checkAndFixLeakage({ content: CONTENT }, runnerFor(api), { analyst });
    expect(result.findings.map(({ outcome }) => outcome)).toEqual(['corrected', 'corrected']);
    expect(new Set(analyzed).size).toBe(analyzed.length);
    expect(analyzed[0]).toBe(CONTENT);
  });
});

describe('a script of the same leak over and over', () => {
  it('that begins with a blank line is detected, each block widened until it occurs once', async () => {
    const content = `\n${CONTENT}${CONTENT}`;
    const result = await checkAndFixLeakage({ content }, createOfflineRunner());
    expect(result.findings.map(({ occurrences }) => occurrences)).toContain(1);
  });
});
