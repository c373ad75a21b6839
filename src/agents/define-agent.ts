import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import type { Agent } from './agent-runner.js';
import { parseOwnPromptFile, readPromptText } from './prompt-file.js';
import { type PromptVariables, parseTemplate, renderTemplate } from './prompt-template.js';

export interface AgentOptions<Output> {
  /** Markdown file with the prompt; its front matter lists the variables. Its name is the name of the agent. */
  readonly promptFile: URL | string;
  /** What the answer must be; default: plain text. */
  readonly outputSchema?: z.ZodType<Output>;
  /** `['Read']`: the agent may read files of the job's workspace; default: none. */
  readonly tools?: readonly string[];
  /** Default: the configured model. */
  readonly model?: string;
  /** The answer without a model, where no key is set; default: the job fails. */
  readonly offline?: (variables: PromptVariables) => Output | Promise<Output>;
}

/**
 * Defines an agent with a prompt of one's own, for `work.ask`.
 * @throws PromptError if the prompt cannot be read or used.
 *
 * @example
 * const scorer = defineAgent({ promptFile: new URL('./scorer.md', import.meta.url) });
 */
export function defineAgent<Output = string>(options: AgentOptions<Output>): Agent<Output> {
  const { promptFile, outputSchema = null, tools = null, model = null, offline } = options;
  const path = promptFile instanceof URL ? fileURLToPath(promptFile) : promptFile;
  const {
    agent = basename(path, '.md'),
    variant,
    variables,
    body,
  } = parseOwnPromptFile(path, readPromptText(path));
  const template = parseTemplate(agent, body, variables);
  return {
    agentType: agent,
    variant: variant ?? 'default',
    tools,
    outputSchema,
    model,
    render: (values) => renderTemplate(template, values),
    ...(offline === undefined ? {} : { offline }),
  };
}
