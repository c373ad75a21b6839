import { sdkBatches } from '../calls/batches/sdk-batches.js';
import { priceListOf } from '../calls/prices.js';
import { sdkTransport } from '../calls/sdk-transport.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import type { AgentRunner } from './agent-runner.js';
import { DEFAULT_MODEL } from './default-model.js';
import { createModelRunner, MODEL_RUNNER_OPTIONS, type ModelRunnerOptions } from './model-runner.js';

export interface AnthropicRunnerOptions extends ModelRunnerOptions {
  /** Default: what the SDK finds in the environment (`ANTHROPIC_API_KEY`). */
  readonly apiKey?: string;
  /** Default: `ANTHROPIC_BASE_URL`. */
  readonly baseURL?: string;
}

const RUNNER_OPTIONS: OptionNames<AnthropicRunnerOptions> = {
  ...MODEL_RUNNER_OPTIONS,
  apiKey: true,
  baseURL: true,
};

/**
 * The runner that calls the Messages API. The SDK is loaded at the first request.
 * @throws PayloadError `invalid-payload` for an option that does not exist.
 *
 * @example
 * const runner = createAnthropicRunner({ maxTokens: 16_000 });
 * const { output } = await runner.ask({ agent, variables: { code }, step: 'detect', schema });
 */
export function createAnthropicRunner(options: AnthropicRunnerOptions = {}): AgentRunner {
  rejectUnknownOptions(options, RUNNER_OPTIONS);
  const { apiKey, baseURL, ...rest } = options;
  const connection = {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseURL === undefined ? {} : { baseURL }),
  };
  const runner = createModelRunner(sdkTransport(connection), rest, { model: DEFAULT_MODEL });
  const prices = rest.prices === undefined ? undefined : priceListOf(rest.prices);
  return { ...runner, batches: sdkBatches(connection, prices) };
}
