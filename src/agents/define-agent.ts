import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { KindError } from '../errors.js';
import { definitionProblem } from '../queues/definition-problem.js';
import type { Agent } from './agent-runner.js';
import { parseOwnPromptFile, readPromptText } from './prompt-file.js';
import { type PromptVariables, parseTemplate, renderTemplate } from './prompt-template.js';
import { READ_TOOL } from './read-tool.js';

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

const OptionsSchema = z.strictObject({
  promptFile: z.union([z.instanceof(URL), z.string().min(1)], 'must be the path or URL of a Markdown file'),
  outputSchema: z
    .custom(
      (value) => typeof value === 'object' && value !== null && '_zod' in value,
      'must be a schema of zod 4',
    )
    .optional(),
  tools: z.array(z.literal(READ_TOOL.name, `the only tool is "${READ_TOOL.name}"`)).optional(),
  model: z.string().min(1).optional(),
  offline: z.custom((value) => typeof value === 'function', 'must be a function').optional(),
});

/**
 * Defines an agent with a prompt of one's own, for `work.ask`.
 * @throws KindError if the options cannot be used; PromptError if the prompt cannot be read or used.
 *
 * @example
 * const scorer = defineAgent({ promptFile: new URL('./scorer.md', import.meta.url) });
 */
export function defineAgent<Output = string>(options: AgentOptions<Output>): Agent<Output> {
  const { promptFile, outputSchema = null, tools = null, model = null, offline } = options;
  const { error } = OptionsSchema.safeParse(options);
  if (error !== undefined) {
    const { field, message } = definitionProblem(OptionsSchema, error);
    throw new KindError(`agent ${nameForMessages(promptFile)}: ${field}: ${message}`, { field });
  }
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

/** The agent of options that may be wrong. */
function nameForMessages(promptFile: unknown): string {
  if (promptFile instanceof URL || typeof promptFile === 'string')
    return JSON.stringify(basename(String(promptFile), '.md'));
  return 'without a prompt file';
}
