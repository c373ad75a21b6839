import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { createAnthropicRunner } from '../../src/agents/anthropic-runner.js';
import type { MessagesApi } from '../support/messages-api.js';

/** As short as tests need it. */
export const BATCH_TIMING = {
  collectMs: 30,
  pollMs: 50,
  marginMs: 60_000,
  minMs: 0,
  requestMs: 1_000,
  leaseMs: 300,
};

/** A runner of a model that costs 10 dollars for a million tokens of input and 50 of output. */
export function batchRunner(api: Pick<MessagesApi, 'url'>): AgentRunner {
  return createAnthropicRunner({
    baseURL: api.url,
    apiKey: 'test-key',
    model: 'claude-test',
    maxTokens: 1_000,
    callRetries: 0,
    prices: { 'claude-test': { input: 10, output: 50 } },
  });
}

/** Where in the life of a batch the worker of a fleet is stopped. */
export interface BatchCrash {
  readonly prefix: string;
  /** Of its Messages API. */
  readonly url: string;
  readonly point: string;
}

/** The point at which the process kills itself: there it cannot wait. */
export const KILLS_ITSELF = 'before jobs are woken';
