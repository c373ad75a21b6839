import { z } from 'zod';
import type { Agent, AgentAnswer, AgentRequest } from '../agents/agent-runner.js';
import { UsageError } from '../errors.js';
import { definitionProblem } from '../queues/definition-problem.js';
import type { AskOptions, Work } from './processor.js';
import { UsageMeter } from './usage-meter.js';

/**
 * `work.ask` of one attempt of a job. The steps name the requests in the order in which they are made, so that a later
 * attempt finds their answers in the ledger. An error has the usage of all requests so far.
 */
export function askAgents(work: () => Work): Work['ask'] {
  const counts = new Map<string, number>();
  const meter = new UsageMeter();
  return async <Output>(
    agent: Agent<Output>,
    variables: AgentRequest<Output>['variables'] = {},
    options: AskOptions = {},
  ): Promise<AgentAnswer<Output>> => {
    checkOptions(agent, options);
    const { step, model, workspace, independent } = options;
    const count = (counts.get(agent.agentType) ?? 0) + 1;
    counts.set(agent.agentType, count);
    const request = {
      agent,
      variables,
      step: step ?? (count === 1 ? agent.agentType : `${agent.agentType}-${count}`),
      ...(model === undefined ? {} : { model }),
      ...(workspace === undefined ? {} : { workspace }),
      ...(independent ? { independent } : {}),
    };
    const { runner } = work();
    if (agent.outputSchema !== null)
      return meter.count(runner.ask({ ...request, schema: agent.outputSchema }, work()));
    // Without a schema the answer is a text, and the agent's type says so.
    return meter.count(runner.ask(request, work())) as Promise<AgentAnswer<unknown>> as Promise<
      AgentAnswer<Output>
    >;
  };
}

const AskOptionsSchema = z.strictObject({
  step: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  workspace: z.string().min(1).optional(),
  independent: z.boolean().optional(),
});

/** @throws UsageError if an option does not exist or has another type. */
function checkOptions({ agentType }: Agent, options: AskOptions): void {
  const { error } = AskOptionsSchema.safeParse(options);
  if (error === undefined) return;
  const { field, message } = definitionProblem(AskOptionsSchema, error);
  throw new UsageError(
    'usage',
    `the options of work.ask for the agent "${agentType}": ${field}: ${message}`,
    {
      field,
    },
  );
}
