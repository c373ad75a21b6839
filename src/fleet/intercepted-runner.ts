import type { z } from 'zod';
import type { AgentRequest, AgentRunner, RunContext } from '../agents/agent-runner.js';
import type { CallInterceptor } from '../calls/call-interceptor.js';

/**
 * The runner for one run of one job: whatever the processor asks, its calls pass the job's interceptors.
 * @param makeInterceptors Makes the interceptors; called with the first question, if there is one.
 */
export function interceptedRunner(
  runner: AgentRunner,
  makeInterceptors: () => readonly CallInterceptor[],
): AgentRunner {
  let interceptors: readonly CallInterceptor[] | undefined;
  const ask = (request: AgentRequest<unknown> & { schema: z.ZodType }, context?: RunContext) => {
    interceptors ??= makeInterceptors();
    return runner.ask(request, { ...context, interceptors });
  };
  // A question and its answer pass unchanged, so the overloads of the runner hold for this one too.
  return { name: runner.name, ask: ask as AgentRunner['ask'] };
}
