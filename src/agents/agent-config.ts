import type { z } from 'zod';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import type { Agent } from './agent-runner.js';
import { AgentType } from './agent-type.js';
import { ExtractorOutputSchema, LeakageDetectionOutputSchema } from './outputs.js';
import { DEFAULT_VARIANT, PromptRegistry } from './prompt-registry.js';
import type { PromptVariables, RenderedPrompt } from './prompt-template.js';

interface AgentDefaults {
  readonly description: string;
  readonly tools: readonly string[] | null;
  readonly outputSchema: z.ZodType | null;
}

/** REQ-SF-011, REQ-SF-016, REQ-P2O-008, REQ-P2O-012. The first variant of an agent is its default. */
const AGENTS: Readonly<Record<AgentType, Readonly<Record<string, AgentDefaults>>>> = {
  [AgentType.leakage]: {
    detection: {
      description: 'Agent that detects data leakage in solution preprocessing code',
      tools: ['Read'],
      outputSchema: LeakageDetectionOutputSchema,
    },
    correction: {
      description: 'Agent that corrects data leakage in solution preprocessing code',
      tools: ['Read'],
      outputSchema: null,
    },
  },
  [AgentType.summarize]: {
    [DEFAULT_VARIANT]: {
      description: 'Agent that summarizes raw ablation study output into a concise textual summary',
      tools: null,
      outputSchema: null,
    },
  },
  [AgentType.extractor]: {
    [DEFAULT_VARIANT]: {
      description: 'Agent that identifies the most impactful code block and proposes a refinement plan',
      tools: ['Read'],
      outputSchema: ExtractorOutputSchema,
    },
  },
};

export interface AgentConfigInput {
  readonly agentType: AgentType;
  /** `detection` (default) or `correction` for the leakage agent; the others have one variant. */
  readonly variant?: string;
  readonly description?: string;
  /** A template with the variables of the agent's prompt. */
  readonly prompt?: string;
  /** null: no tools needed. */
  readonly tools?: readonly string[] | null;
  /** null: the answer is plain text. */
  readonly outputSchema?: z.ZodType | null;
  /** null: inherited from the caller. */
  readonly model?: string | null;
}

const CONFIG_FIELDS: OptionNames<AgentConfigInput> = {
  agentType: true,
  variant: true,
  description: true,
  prompt: true,
  tools: true,
  outputSchema: true,
  model: true,
};

/** The shape that the Claude Agent SDK takes in `options.agents`. */
export interface AgentDefinition {
  description: string;
  prompt: string;
  tools: string[];
  model: string;
}

/**
 * What an agent is: its prompt, tools, output and model. Missing fields get their defaults.
 *
 * @example
 * new AgentConfig({ agentType: AgentType.leakage, variant: 'correction' }).description
 */
export class AgentConfig implements Agent {
  readonly agentType: AgentType;
  readonly variant: string;
  readonly description: string;
  readonly tools: readonly string[] | null;
  readonly outputSchema: z.ZodType | null;
  readonly model: string | null;
  readonly #registry: PromptRegistry | undefined;
  readonly #ownPrompt: string | undefined;

  /** @throws {TypeError} unknown agent type or variant. @throws {PayloadError} a field that does not exist. */
  constructor(input: AgentConfigInput, registry?: PromptRegistry) {
    rejectUnknownOptions(input, CONFIG_FIELDS);
    const { variant, defaults } = defaultsOf(input.agentType, input.variant);
    this.agentType = input.agentType;
    this.variant = variant;
    this.description = input.description ?? defaults.description;
    this.tools = input.tools === undefined ? defaults.tools : input.tools;
    this.outputSchema = input.outputSchema === undefined ? defaults.outputSchema : input.outputSchema;
    this.model = input.model ?? null;
    this.#registry = registry;
    this.#ownPrompt = input.prompt;
  }

  /** Static analysis needs no prompt, so the files are read when one is asked for. */
  get #prompts(): PromptRegistry {
    return this.#registry ?? PromptRegistry.shared();
  }

  /** The template; `render` puts the values in. @throws {PromptError} prompts that cannot be read. */
  get prompt(): string {
    return this.#ownPrompt ?? this.#prompts.template(this.agentType, this.variant);
  }

  /** @throws {PromptError} prompts that cannot be read; a missing, unknown or wrongly typed variable. */
  render(variables: PromptVariables): RenderedPrompt {
    return this.#ownPrompt === undefined
      ? this.#prompts.renderParts(this.agentType, this.variant, variables)
      : this.#prompts.renderOwn(this.#ownPrompt, this.agentType, this.variant, variables);
  }

  /**
   * The agent for a pipeline that runs on the Claude Agent SDK. There an omitted `tools` inherits all tools,
   * so "no tools" is an empty list; "inherit the model" is the word `inherit`.
   *
   * @param variables values of the prompt; left out, `prompt` is the template
   */
  toAgentDefinition(variables?: PromptVariables): AgentDefinition {
    return {
      description: this.description,
      prompt: variables === undefined ? this.prompt : this.render(variables).text,
      tools: [...(this.tools ?? [])],
      model: this.model ?? 'inherit',
    };
  }
}

function defaultsOf(
  agentType: AgentType,
  wanted: string | undefined,
): { variant: string; defaults: AgentDefaults } {
  const variants = Object.hasOwn(AGENTS, agentType) ? AGENTS[agentType] : undefined;
  if (!variants) {
    throw new TypeError(`Unknown agent type "${agentType}". Use one of: ${Object.keys(AGENTS).join(', ')}.`);
  }
  const variant = wanted ?? Object.keys(variants)[0] ?? DEFAULT_VARIANT;
  const defaults = Object.hasOwn(variants, variant) ? variants[variant] : undefined;
  if (!defaults) {
    throw new TypeError(
      `The agent "${agentType}" has no variant "${variant}". Use one of: ${Object.keys(variants).join(', ')}.`,
    );
  }
  return { variant, defaults };
}
