import type { z } from 'zod';
import type { AgentRequest, AgentRunner, RunContext } from '../agents/agent-runner.js';
import type { CallGate } from '../calls/call-gate.js';

/** The runner for one run of one job: whatever the processor asks, its calls pass the job's gates. */
export function gatedRunner(runner: AgentRunner, gates: readonly CallGate[]): AgentRunner {
  const ask = (request: AgentRequest<unknown> & { schema: z.ZodType }, context?: RunContext) =>
    runner.ask(request, { ...context, gates });
  // A question and its answer pass unchanged, so the overloads of the runner hold for this one too.
  return { name: runner.name, ask: ask as AgentRunner['ask'] };
}
