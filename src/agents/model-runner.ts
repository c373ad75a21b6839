import type { z } from 'zod';
import { type Clock, systemClock } from '../calls/clock.js';
import { outputFormat } from '../calls/output-format.js';
import type { CallSettings } from '../calls/perform-call.js';
import { type OwnPrices, type PriceList, priceListOf } from '../calls/prices.js';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../calls/retry-policy.js';
import { DEFAULT_CALL_LIMITS } from '../calls/send-call.js';
import type { CallRequest, Transport } from '../calls/transport.js';
import { AgentError } from '../errors.js';
import type { OptionNames } from '../known-options.js';
import type { AgentAnswer, AgentRequest, AgentRunner, RunContext } from './agent-runner.js';
import { type AnswerCheck, checkBySchema, checkBySchemaOrFence, checkText } from './check-answer.js';
import { Conversation } from './conversation.js';
import type { RenderedPrompt } from './prompt-template.js';
import { READ_TOOL } from './read-tool.js';
import { wellFormed } from './well-formed.js';
import { JobFiles, type RequestFiles } from './workspace/job-files.js';
import { ANY_WORKSPACE } from './workspace/workspace-policy.js';

/** Room for the thinking of a model and for an answer of some thousand lines. */
const DEFAULT_MAX_TOKENS = 32_000;

/** Options that the runners of all providers have. */
export interface ModelRunnerOptions {
  /** Model for requests that name none. */
  readonly model?: string;
  /** Token limit of an answer; doubled once if one is cut off. */
  readonly maxTokens?: number;
  /** Longest time of one call, in milliseconds. */
  readonly callTimeoutMs?: number;
  /** Longest silence inside an answer, in milliseconds. */
  readonly callIdleMs?: number;
  /** How often a call is sent again after a transient failure. */
  readonly callRetries?: number;
  /** Waits between those. */
  readonly retry?: Partial<RetryPolicy>;
  /** Prices of models in US dollars for a million tokens; they come before those of the built-in list. */
  readonly prices?: Readonly<Record<string, OwnPrices>>;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export const MODEL_RUNNER_OPTIONS: OptionNames<ModelRunnerOptions> = {
  model: true,
  maxTokens: true,
  callTimeoutMs: true,
  callIdleMs: true,
  callRetries: true,
  retry: true,
  prices: true,
  clock: true,
  random: true,
};

const SCHEMA_RETRIES = 2;
const EMPTY_TEXT_RETRIES = 1;

/** What a runner uses where neither the request, the agent nor the options say something else. */
interface RunnerDefaults {
  readonly model?: string | undefined;
  readonly prices?: PriceList;
}

/** A runner that asks a model through a provider's API. */
export function createModelRunner(
  transport: Transport,
  options: ModelRunnerOptions,
  defaults: RunnerDefaults = {},
): AgentRunner {
  const settings = callSettings(transport, options, defaults);

  async function ask(
    request: AgentRequest<unknown>,
    context: RunContext = {},
  ): Promise<AgentAnswer<unknown>> {
    if (context.files !== undefined) return answer(request, { ...context, files: context.files });
    // Outside of a job the caller names the workspace and is trusted with it.
    const files = new JobFiles(ANY_WORKSPACE);
    try {
      return await answer(request, { ...context, files });
    } finally {
      await files.close();
    }
  }

  async function answer(
    request: AgentRequest<unknown>,
    context: RunContext & { readonly files: JobFiles },
  ): Promise<AgentAnswer<unknown>> {
    const prompt = request.agent.render(request.variables);
    const { schema } = request;
    const checkAnswer = answerCheck(request);
    const offered = await offeredFiles(request, context);
    const first = await firstRequest(request, prompt, offered.files !== null, {
      maxTokens: options.maxTokens,
      model: options.model ?? defaults.model,
    });
    const conversation = new Conversation(
      {
        step: request.step,
        request: first,
        checkAnswer,
        retries: schema ? SCHEMA_RETRIES : EMPTY_TEXT_RETRIES,
        once: request.once ?? false,
        independent: request.independent ?? false,
        files: offered.files,
      },
      settings,
      context,
    );
    const result = await conversation.run();
    const notes = [...offered.notes, ...result.notes];
    return {
      output: result.output,
      usage: result.usage.total,
      model: result.model ?? first.model,
      promptDigest: prompt.digest,
      ...(context.interceptors === undefined ? {} : { withdraw: result.withdraw }),
      ...(notes.length === 0 ? {} : { notes }),
    };
  }

  // The overloads bind the output's type to the schema, which `ask` validates against.
  return { name: transport.provider, ask: ask as AgentRunner['ask'] };
}

function answerCheck({ schema, orText }: AgentRequest<unknown>): AnswerCheck<unknown> {
  if (schema === undefined) return checkText;
  return orText ? checkBySchemaOrFence(schema) : checkBySchema(schema);
}

function callSettings(
  transport: Transport,
  options: ModelRunnerOptions,
  defaults: RunnerDefaults,
): CallSettings {
  const { callIdleMs, callTimeoutMs, callRetries } = options;
  const prices = options.prices === undefined ? defaults.prices : priceListOf(options.prices);
  return {
    transport,
    ...(prices === undefined ? {} : { prices }),
    limits: {
      idleMs: callIdleMs ?? DEFAULT_CALL_LIMITS.idleMs,
      totalMs: callTimeoutMs ?? DEFAULT_CALL_LIMITS.totalMs,
    },
    retry: {
      ...DEFAULT_RETRY_POLICY,
      ...options.retry,
      ...(callRetries === undefined ? {} : { retries: callRetries }),
    },
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
}

/** The instructions come first and have the cache control; the API puts tools before them in the cached prefix. */
async function firstRequest(
  { agent, addition, model, schema }: AgentRequest<unknown>,
  prompt: RenderedPrompt,
  withTool: boolean,
  options: { readonly maxTokens: number | undefined; readonly model: string | undefined },
): Promise<CallRequest> {
  const content = addition === undefined ? prompt.variable : `${prompt.variable}\n\n${addition}`;
  const used = model ?? agent.model ?? options.model;
  if (used === undefined)
    throw new AgentError('unknown-model', `No model is named for this request; ${NAME_ONE}`);
  return {
    model: used,
    max_tokens: options.maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(prompt.stable === ''
      ? {}
      : { system: [{ type: 'text', text: prompt.stable, cache_control: { type: 'ephemeral' } }] }),
    messages: [{ role: 'user', content: wellFormed(content) }],
    ...(withTool ? { tools: [READ_TOOL] } : {}),
    ...(schema === undefined ? {} : { output_config: { format: await outputFormat(schema as z.ZodType) } }),
  };
}

const NAME_ONE = 'set FLEET_MODEL, or `model` in the payload or the runner.';

/** What the agent may read; nothing if the tool is not offered. */
async function offeredFiles(
  { agent, workspace, step }: AgentRequest<unknown>,
  { files, log }: RunContext & { readonly files: JobFiles },
): Promise<{ readonly files: RequestFiles | null; readonly notes: readonly string[] }> {
  if (workspace === undefined || !agent.tools?.includes(READ_TOOL.name)) return { files: null, notes: [] };
  const offered = await files.forRequest(workspace);
  if (offered !== null) return { files: offered, notes: [] };
  log?.warn(`${step}: ${NO_FILES}`);
  return { files: null, notes: [NO_FILES] };
}

/** The same for a missing directory and one that is not allowed: it must reveal nothing about files outside. */
const NO_FILES =
  'the agent read no files: the workspace is no directory here, or not below FLEET_WORKSPACE_ROOTS of the worker';
