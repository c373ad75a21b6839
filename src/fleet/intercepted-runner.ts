import type { z } from 'zod';
import type { AgentRequest, AgentRunner, RunContext } from '../agents/agent-runner.js';
import type { CallInterceptor } from '../calls/call-interceptor.js';

/**
 * The runner for one attempt of one job: all calls of the processor pass the job's interceptors.
 * @param createInterceptors Makes the interceptors; called with the first request, if there is one.
 * @param returned Makes the promise that the processor gets.
 */
export function interceptedRunner(
  runner: AgentRunner,
  createInterceptors: () => readonly CallInterceptor[],
  returned: <T>(answer: Promise<T>) => Promise<T> = (answer) => answer,
): AgentRunner {
  let interceptors: readonly CallInterceptor[] | undefined;
  const ask = (request: AgentRequest<unknown> & { schema: z.ZodType }, context?: RunContext) => {
    interceptors ??= createInterceptors();
    return returned(runner.ask(request, { ...context, interceptors }));
  };
  // Requests and answers pass unchanged, so the overloads of the runner are valid for this one too.
  return { ...runner, ask: ask as AgentRunner['ask'] };
}
