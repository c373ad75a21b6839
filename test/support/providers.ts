import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { createAnthropicRunner } from '../../src/agents/anthropic-runner.js';
import type { ModelRunnerOptions } from '../../src/agents/model-runner.js';
import { createOpenAiRunner } from '../../src/agents/openai-runner.js';
import { chatTransport } from '../../src/calls/openai/chat-transport.js';
import { sdkTransport } from '../../src/calls/sdk-transport.js';
import type { Provider, Transport } from '../../src/calls/transport.js';

interface Address {
  readonly apiKey?: string;
  readonly baseURL?: string;
}

export interface TestedProvider {
  readonly provider: Provider;
  transport(address: Address): Transport;
  runner(options: ModelRunnerOptions & Address): AgentRunner;
}

const TEST_MODEL = 'claude-sonnet-5-5';

/** Every provider; what the fleet promises of agent calls holds for all. */
export const PROVIDERS: readonly TestedProvider[] = [
  { provider: 'anthropic', transport: sdkTransport, runner: createAnthropicRunner },
  {
    provider: 'openai',
    transport: chatTransport,
    runner: (options) => createOpenAiRunner({ model: TEST_MODEL, ...options }),
  },
];
