import type { Config } from '../config/settings.js';
import type { AgentRunner } from './agent-runner.js';
import { DEFAULT_MODEL } from './default-model.js';
import type { ModelRunnerOptions } from './model-runner.js';

export interface RunnerChoice {
  readonly name: AgentRunner['name'];
  /** One sentence for the log: which runner answers, and why. */
  readonly reason: string;
}

/** The model for requests that name none; undefined where there is no default. */
export function configuredModel({ agent, model }: Pick<Config, 'agent' | 'model'>): string | undefined {
  return model ?? (agent === 'openai' ? undefined : DEFAULT_MODEL);
}

/** Which runner answers: the configured one; with `auto` the Messages API if a key is set. */
export function chooseRunner(
  agent: Config['agent'],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): RunnerChoice {
  if (agent !== 'auto') return { name: agent, reason: `agents: ${agent} (FLEET_AGENT)` };
  const keyed = Boolean(environment.ANTHROPIC_API_KEY || environment.ANTHROPIC_AUTH_TOKEN);
  return keyed
    ? { name: 'anthropic', reason: 'agents: anthropic (a key is set)' }
    : { name: 'offline', reason: 'agents: offline static analysis (no ANTHROPIC_API_KEY is set)' };
}

/** Creates the configured runner; the code of the others is not loaded. */
export async function createRunner(config: Config, choice: RunnerChoice): Promise<AgentRunner> {
  const { name } = choice;
  if (name === 'offline') return (await import('./offline-runner.js')).createOfflineRunner();
  const options = runnerOptions(config);
  const runner =
    name === 'openai'
      ? (await import('./openai-runner.js')).createOpenAiRunner({
          ...options,
          tokenLimit: config.openaiTokenLimit,
          format: config.openaiFormat,
        })
      : (await import('./anthropic-runner.js')).createAnthropicRunner(options);
  const { opinion, auditFraction, corrections } = config;
  return { ...runner, opinion, auditFraction, corrections };
}

function runnerOptions(config: Config): ModelRunnerOptions {
  return {
    maxTokens: config.maxTokens,
    callTimeoutMs: config.callTimeoutMs,
    callIdleMs: config.callIdleMs,
    callRetries: config.callRetries,
    ...(config.model === undefined ? {} : { model: config.model }),
    ...(config.modelPrices === undefined ? {} : { prices: config.modelPrices }),
  };
}
