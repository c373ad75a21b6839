import { z } from 'zod';
import type { ScriptRuns } from '../../examples/pipeline-ts/script-runs.js';
import { messageOf } from '../../src/errors.js';

const LEASE_MS = 300_000;
const ClaimSchema = z.looseObject({
  id: z.string(),
  queue: z.string(),
  lease: z.string(),
  solution: z.object({ content: z.string() }),
});

/** Claims evaluations over HTTP until none is left, runs the checked scripts, and reports their scores or why they failed. */
export async function evaluateAll(url: string, queue: string, runs: ScriptRuns): Promise<void> {
  for (;;) {
    const answer = await send(`${url}/v1/evaluations/claim?wait=10`, { queue, leaseMs: LEASE_MS });
    if (answer.status === 204) return;
    const { id, lease, solution } = ClaimSchema.parse(await answer.json());
    const claimed = { queue, id, lease };
    try {
      const result = { score: scoreIn(await runs.run(solution.content)) };
      await send(`${url}/v1/evaluations/complete`, { ...claimed, result });
    } catch (thrown) {
      await send(`${url}/v1/evaluations/fail`, { ...claimed, message: messageOf(thrown), retryable: false });
    }
  }
}

function scoreIn(printed: string): number {
  const score = /^Final Validation Performance: ([0-9.]+)$/m.exec(printed)?.[1];
  if (score === undefined) throw new Error('the script printed no "Final Validation Performance"');
  return Number(score);
}

async function send(url: string, body: unknown): Promise<Response> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response;
}
