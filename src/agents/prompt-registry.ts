import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { messageOf, PromptError } from '../errors.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import { packagePath } from '../package-root.js';
import { type FrontMatter, parsePromptFile, readPromptText } from './prompt-file.js';
import {
  type PromptTemplate,
  type PromptVariables,
  parseTemplate,
  type RenderedPrompt,
  renderTemplate,
} from './prompt-template.js';

/** Variant of a prompt that has only one. */
export const DEFAULT_VARIANT = 'default';

interface PromptRegistryOptions {
  /** Folder with files that replace shipped prompts. */
  readonly overrides?: string;
}
const REGISTRY_OPTIONS: OptionNames<PromptRegistryOptions> = { overrides: true };

interface RegisteredPrompt {
  readonly frontMatter: FrontMatter;
  readonly template: PromptTemplate;
  /** The template as written, without front matter. */
  readonly body: string;
}

/**
 * The prompts of the agents (REQ-DM-032, REQ-DM-034). They ship as one Markdown file each in `prompts/`; a
 * file of the same name in the folder `overrides` replaces one. All are read and checked at construction.
 */
export class PromptRegistry {
  static #shared: { readonly overrides: string | undefined; readonly registry: PromptRegistry } | undefined;
  readonly #prompts: ReadonlyMap<string, RegisteredPrompt>;

  /** @throws {PayloadError} an option that does not exist. @throws {PromptError} a folder or file that cannot be read, or a prompt that cannot be used. */
  constructor(options: PromptRegistryOptions = {}) {
    rejectUnknownOptions(options, REGISTRY_OPTIONS);
    const prompts = readShipped();
    if (options.overrides !== undefined && options.overrides !== '') {
      applyOverrides(prompts, options.overrides);
    }
    this.#prompts = new Map([...prompts.values()].map((prompt) => [keyOf(prompt.frontMatter), prompt]));
  }

  /** The process's registry: the shipped prompts and the overrides of `FLEET_PROMPTS`. */
  static shared(): PromptRegistry {
    const overrides = process.env.FLEET_PROMPTS;
    if (PromptRegistry.#shared?.overrides !== overrides || !PromptRegistry.#shared) {
      const registry = new PromptRegistry(overrides === undefined ? {} : { overrides });
      PromptRegistry.#shared = { overrides, registry };
    }
    return PromptRegistry.#shared.registry;
  }

  /** `PromptRegistry.shared().render(…)`. */
  static render(name: string, variant: string | undefined, variables: PromptVariables): string {
    return PromptRegistry.shared().render(name, variant, variables);
  }

  /**
   * The whole text of a prompt with its values put in.
   *
   * @param name agent that the prompt is for, as in `leakage`
   * @param variant as in `detection`; may be left out if the agent has only one
   * @throws {PromptError} unknown prompt; missing, unknown or wrongly typed variable
   */
  render(name: string, variant: string | undefined, variables: PromptVariables): string {
    return this.renderParts(name, variant, variables).text;
  }

  /** Like `render`, with the stable part separate from the part that holds the values. */
  renderParts(name: string, variant: string | undefined, variables: PromptVariables): RenderedPrompt {
    return renderTemplate(this.#find(name, variant).template, variables);
  }

  /** A prompt as it is written, with its placeholders. */
  template(name: string, variant?: string): string {
    return this.#find(name, variant).body;
  }

  /** Renders the caller's own text with the variables of a registered prompt. */
  renderOwn(text: string, name: string, variant: string, variables: PromptVariables): RenderedPrompt {
    const { frontMatter } = this.#find(name, variant);
    return renderTemplate(
      parseTemplate(`${labelOf(frontMatter)} (own text)`, text, frontMatter.variables),
      variables,
    );
  }

  /** Front matter of all prompts. */
  list(): FrontMatter[] {
    return [...this.#prompts.values()].map((prompt) => prompt.frontMatter);
  }

  #find(name: string, variant = DEFAULT_VARIANT): RegisteredPrompt {
    const prompt = this.#prompts.get(keyOf({ agent: name, variant }));
    if (prompt) return prompt;
    const known = this.list().map(labelOf).join(', ');
    throw new PromptError(
      'prompt-not-found',
      `There is no prompt "${labelOf({ agent: name, variant })}". The prompts are: ${known}.`,
    );
  }
}

function readShipped(): Map<string, RegisteredPrompt> {
  const folder = packagePath('prompts');
  const prompts = new Map<string, RegisteredPrompt>();
  for (const path of promptFilesIn(folder)) {
    const { frontMatter, body } = parsePromptFile(path, readPromptText(path));
    if (!frontMatter)
      throw new PromptError('prompt-not-found', `The prompt file ${path} has no front matter.`);
    prompts.set(basename(path), register(frontMatter, body));
  }
  return prompts;
}

function applyOverrides(prompts: Map<string, RegisteredPrompt>, folder: string): void {
  const paths = promptFilesIn(folder);
  if (paths.length === 0) {
    throw new PromptError(
      'prompt-not-found',
      `The prompt folder ${folder} has no prompt file. The prompts are: ${[...prompts.keys()].join(', ')}.`,
    );
  }
  for (const path of paths) {
    const shipped = prompts.get(basename(path));
    if (!shipped) {
      throw new PromptError(
        'prompt-not-found',
        `FLEET_PROMPTS holds ${basename(path)}, which replaces no prompt. The prompts are: ${[...prompts.keys()].join(', ')}.`,
      );
    }
    const { frontMatter, body } = parsePromptFile(path, readPromptText(path));
    if (frontMatter && contractOf(frontMatter) !== contractOf(shipped.frontMatter)) {
      throw new PromptError(
        'prompt-variable',
        `The front matter of ${path} differs from the prompt's (${contractOf(shipped.frontMatter)}). Leave it out, or keep agent, variant and variables.`,
      );
    }
    prompts.set(basename(path), register(frontMatter ?? shipped.frontMatter, body));
  }
}

function register(frontMatter: FrontMatter, body: string): RegisteredPrompt {
  return { frontMatter, body, template: parseTemplate(labelOf(frontMatter), body, frontMatter.variables) };
}

function promptFilesIn(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (cause) {
    throw new PromptError(
      'prompt-not-found',
      `The prompt folder ${folder} cannot be read: ${messageOf(cause)}.`,
      {
        cause,
      },
    );
  }
  return names
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort()
    .map((name) => join(folder, name));
}

function keyOf(prompt: { readonly agent: string; readonly variant: string }): string {
  return `${prompt.agent}\n${prompt.variant}`;
}

function labelOf(prompt: { readonly agent: string; readonly variant: string }): string {
  return prompt.variant === DEFAULT_VARIANT ? prompt.agent : `${prompt.agent}-${prompt.variant}`;
}

function contractOf({ agent, variant, variables }: FrontMatter): string {
  const written = variables.map(
    ({ name, list, optional }) => `${name}${list ? '[]' : ''}${optional ? '?' : ''}`,
  );
  return `agent: ${agent}, variant: ${variant}, variables: ${written.sort().join(', ')}`;
}
