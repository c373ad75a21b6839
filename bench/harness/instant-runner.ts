import type { AgentAnswer, AgentRunner } from '../../src/agents/agent-runner.js';
import { NO_USAGE } from '../../src/queues/usage.js';

/** A runner that answers at once with what it is given, so that a row measures everything around the agent. */
export function instantRunner(answers: { readonly structured: unknown; readonly text: string }): AgentRunner {
  const ask = async ({ schema }: { schema?: unknown }): Promise<AgentAnswer<unknown>> => ({
    output: schema === undefined ? answers.text : answers.structured,
    usage: NO_USAGE,
  });
  return { name: 'offline', ask: ask as AgentRunner['ask'] };
}

export const CLEAN = { answers: [{ leakage_status: 'No Data Leakage', code_block: '' }] };
