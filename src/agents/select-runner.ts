import type { Config } from '../config/settings.js';
import type { AgentRunner } from './agent-runner.js';

export interface RunnerChoice {
  readonly name: AgentRunner['name'];
  /** One sentence for the log: which runner answers, and why. */
  readonly reason: string;
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

/** Creates the configured runner; the other one's code is not loaded. */
export async function createRunner(config: Config, choice: RunnerChoice): Promise<AgentRunner> {
  if (choice.name === 'offline') return (await import('./offline-runner.js')).createOfflineRunner();
  const { createAnthropicRunner } = await import('./anthropic-runner.js');
  const runner = createAnthropicRunner({
    maxTokens: config.maxTokens,
    callTimeoutMs: config.callTimeoutMs,
    callIdleMs: config.callIdleMs,
    callRetries: config.callRetries,
    ...(config.model === undefined ? {} : { model: config.model }),
  });
  return { ...runner, opinion: config.opinion };
}
