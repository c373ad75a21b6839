import type { AgentAnswer, AgentRequest, AgentRunner } from '../agents/agent-runner.js';
import { AgentError, UsageError } from '../errors.js';
import { NO_USAGE } from '../queues/usage.js';

/** What a scripted agent answers: a text, an object for an agent with structured output, or an error that is thrown. */
export type ScriptedAnswer = string | Readonly<Record<string, unknown>> | Error;

/** A request as a script sees it. */
export type ScriptedRequest = Pick<AgentRequest<unknown>, 'agent' | 'variables' | 'step' | 'model'>;

/**
 * The answers of a test: by step (`detect`, `correct-1-1`, `summarize`, `extract`, …) or by the agent's type, each an answer for
 * every such request or a list that is used up one after the other; or a function of the request.
 */
export type AgentScript =
  | Readonly<Record<string, ScriptedAnswer | readonly ScriptedAnswer[]>>
  | ((request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptedAgents extends AgentRunner {
  /** All requests so far, in order. */
  readonly requests: readonly ScriptedRequest[];
}

/**
 * Agents that answer by script, for tests of a pipeline. Answers are validated by the agents' schemas, as those of a model.
 *
 * @example
 * const agents = scriptedAgents({
 *   detect: { answers: [{ leakage_status: 'Yes Data Leakage', code_block: 'x = fit(all)' }] },
 *   'correct-1-1': '```python\nx = fit(train)\n```',
 * });
 */
export function scriptedAgents(script: AgentScript): ScriptedAgents {
  const requests: ScriptedRequest[] = [];
  const used = new Map<string, number>();

  async function ask(request: AgentRequest<unknown>): Promise<AgentAnswer<unknown>> {
    const { agent, variables, step, model, schema } = request;
    const seen = { agent, variables, step, ...(model === undefined ? {} : { model }) };
    requests.push(seen);
    const answer = typeof script === 'function' ? await script(seen) : nextAnswer(script, seen, used);
    if (answer instanceof Error) throw answer;
    const usage = { ...NO_USAGE, calls: 1 };
    if (schema === undefined) {
      if (typeof answer !== 'string')
        throw new UsageError('usage', `the script answers ${step} with no text`);
      return { output: answer, usage, model: 'scripted' };
    }
    const parsed = schema.safeParse(answer);
    if (!parsed.success) {
      const problem = parsed.error.issues[0]?.message ?? 'it does not fit';
      throw new AgentError('answer-invalid', `${step}: the scripted answer cannot be used: ${problem}`, {
        usage,
      });
    }
    return { output: parsed.data, usage, model: 'scripted' };
  }

  // The answer is validated by the schema that binds the type of the output.
  return { name: 'anthropic', requests, ask: ask as AgentRunner['ask'] };
}

function nextAnswer(
  script: Readonly<Record<string, ScriptedAnswer | readonly ScriptedAnswer[]>>,
  { agent, step }: ScriptedRequest,
  used: Map<string, number>,
): ScriptedAnswer {
  const name = [step, agent.agentType].find((known) => Object.hasOwn(script, known));
  const answers = name === undefined ? undefined : script[name];
  if (name === undefined || answers === undefined) {
    const known = Object.keys(script).join(', ') || 'nothing';
    throw new UsageError(
      'usage',
      `the script has no answer to ${step} (${agent.agentType}); it answers ${known}`,
    );
  }
  if (!isList(answers)) return answers;
  const at = used.get(name) ?? 0;
  used.set(name, at + 1);
  const answer = answers[at];
  if (answer !== undefined) return answer;
  throw new UsageError(
    'usage',
    `the script has ${answers.length} answers to ${name}, and this is request ${at + 1}`,
  );
}

function isList(answers: ScriptedAnswer | readonly ScriptedAnswer[]): answers is readonly ScriptedAnswer[] {
  return Array.isArray(answers);
}
