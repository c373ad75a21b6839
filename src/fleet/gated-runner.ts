import type { z } from 'zod';
import type { AgentRequest, AgentRunner, RunContext } from '../agents/agent-runner.js';
import type { CallGate } from '../calls/call-gate.js';

/**
 * The runner for one run of one job: whatever the processor asks, its calls pass the job's gates.
 * @param gatesOfRun Makes the gates; called with the first question, if there is one.
 */
export function gatedRunner(runner: AgentRunner, gatesOfRun: () => readonly CallGate[]): AgentRunner {
  let gates: readonly CallGate[] | undefined;
  const ask = (request: AgentRequest<unknown> & { schema: z.ZodType }, context?: RunContext) => {
    gates ??= gatesOfRun();
    return runner.ask(request, { ...context, gates });
  };
  // A question and its answer pass unchanged, so the overloads of the runner hold for this one too.
  return { name: runner.name, ask: ask as AgentRunner['ask'] };
}
