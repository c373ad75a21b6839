import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { AnalysisThread } from '../../src/fleet/analysis-thread.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';
import { correction, leaks, runnerFor } from '../support/agent-answers.js';
import { type MessagesApi, startMessagesApi } from '../support/messages-api.js';

const LEAK = 'X = scaler.fit_transform(df)';
/** A leak, and lines that take the grammar longer than the thread may have. */
const CONTENT = `import pandas as pd
from sklearn.preprocessing import StandardScaler
df = pd.read_csv("a.csv")
scaler = StandardScaler()
${LEAK}
${'\\\n'.repeat(20_000)}print(X)
`;

let thread: AnalysisThread;
let api: MessagesApi;
beforeEach(async () => {
  const corrected = correction('X = df.to_numpy()');
  thread = new AnalysisThread({ timeoutMs: 300, heapMb: 256 });
  api = await startMessagesApi({ reply: [leaks(LEAK), corrected, corrected] });
});
afterEach(async () => {
  await thread.close();
  await api.close();
});

const analyst = () => thread.analystFor({ tenant: 'a', signal: new AbortController().signal });

describe('an analysis that takes more than it may', () => {
  it('fails a check without a model: nothing has checked the script', async () => {
    const checked = checkAndFixLeakage({ content: CONTENT }, createOfflineRunner(), { analyst: analyst() });
    await expect(checked).rejects.toMatchObject({
      code: 'analysis-limit',
      retryable: false,
      message: expect.stringContaining('FLEET_ANALYSIS_TIMEOUT_MS'),
    });
  });

  it('gives no opinion in addition to a model, a note says so, and an unchecked correction is not used', async () => {
    const result = await checkAndFixLeakage({ content: CONTENT }, runnerFor(api), { analyst: analyst() });
    expect(result.solution.content).toBe(CONTENT);
    expect(result.findings).toMatchObject([
      { outcome: 'uncorrected', reason: expect.stringContaining('could not be checked') },
    ]);
    expect(result.notes?.join('\n')).toContain('static analysis gave no second opinion');
    // The detection and one correction: another one could not be checked either, and would be paid for.
    expect(api.requests).toHaveLength(2);
  });
});
