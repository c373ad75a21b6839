/**
 * An isolated process whose agent misbehaves as the script says: `KILL` kills its process, `DEAF` never ends and ignores its abort.
 * With `TEST_NEVER_READY` it never gets as far as to take a job.
 * Other questions go to the Messages API at `TEST_API_URL`.
 */
import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { serveIsolatedProcess } from '../../src/fleet/isolation/serve-isolated-process.js';
import { runnerFor } from '../support/agent-answers.js';

const anthropic = runnerFor({ url: process.env.TEST_API_URL ?? '' });
const ask = async (request: { variables: Record<string, unknown> }, context: unknown) => {
  const code = JSON.stringify(request.variables);
  if (code.includes('KILL')) process.kill(process.pid, 'SIGKILL');
  if (code.includes('DEAF')) await new Promise(() => setInterval(() => undefined, 1_000));
  return anthropic.ask(request as never, context as never);
};

serveIsolatedProcess(async () => {
  if (process.env.TEST_NEVER_READY !== undefined) await new Promise(() => undefined);
  return { runner: { name: 'anthropic', ask: ask as AgentRunner['ask'] } };
});
