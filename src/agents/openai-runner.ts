import { type ChatTransportOptions, chatTransport } from '../calls/openai/chat-transport.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import type { AgentRunner } from './agent-runner.js';
import { createModelRunner, MODEL_RUNNER_OPTIONS, type ModelRunnerOptions } from './model-runner.js';

export interface OpenAiRunnerOptions extends ModelRunnerOptions, ChatTransportOptions {}

const RUNNER_OPTIONS: OptionNames<OpenAiRunnerOptions> = {
  ...MODEL_RUNNER_OPTIONS,
  apiKey: true,
  baseURL: true,
  tokenLimit: true,
  format: true,
};

/**
 * The runner that calls a Chat Completions API: OpenAI's, or that of any server that is compatible (Gemini, LiteLLM,
 * vLLM, Ollama). It has no default model. The SDK is loaded at the first request.
 * @throws PayloadError `invalid-payload` for an option that does not exist.
 *
 * @example
 * const runner = createOpenAiRunner({ model: 'gpt-5', prices: { 'gpt-5': { input: 1.25, output: 10 } } });
 */
export function createOpenAiRunner(options: OpenAiRunnerOptions = {}): AgentRunner {
  rejectUnknownOptions(options, RUNNER_OPTIONS);
  const { apiKey, baseURL, tokenLimit, format, ...rest } = options;
  const transport = chatTransport({
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(tokenLimit === undefined ? {} : { tokenLimit }),
    ...(format === undefined ? {} : { format }),
  });
  return createModelRunner(transport, rest);
}
