import type { Agent, AgentAnswer, AgentRequest } from '../agents/agent-runner.js';
import type { AskOptions, Work } from './processor.js';
import { UsageMeter } from './usage-meter.js';

/**
 * `work.ask` of one attempt of a job. The steps name the questions in the order in which they are asked, so that a later
 * attempt finds their answers in the ledger. An error has the usage of all questions so far.
 */
export function askAgents(work: () => Work): Work['ask'] {
  const asked = new Map<string, number>();
  const meter = new UsageMeter();
  return <Output>(
    agent: Agent<Output>,
    variables: AgentRequest<Output>['variables'],
    { step, model, workspace }: AskOptions = {},
  ): Promise<AgentAnswer<Output>> => {
    const count = (asked.get(agent.agentType) ?? 0) + 1;
    asked.set(agent.agentType, count);
    const request = {
      agent,
      variables,
      step: step ?? (count === 1 ? agent.agentType : `${agent.agentType}-${count}`),
      ...(model === undefined ? {} : { model }),
      ...(workspace === undefined ? {} : { workspace }),
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
