import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { createAnthropicRunner } from '../../src/agents/anthropic-runner.js';
import { jsonReply, type MessageReply, type MessagesApi, textReply } from './messages-api.js';

/** The Anthropic runner, talking to a Messages-API test server, with no waits between tries worth the name. */
export function runnerFor(api: Pick<MessagesApi, 'url'>): AgentRunner {
  return createAnthropicRunner({
    baseURL: api.url,
    apiKey: 'test-key',
    model: 'claude-test',
    maxTokens: 1_000,
    callRetries: 1,
    retry: { baseDelayMs: 1, maxDelayMs: 2 },
  });
}

/** A detection answer: each block a leak, an empty list "no leakage". */
export function leaks(...blocks: string[]): MessageReply {
  if (blocks.length === 0) {
    return jsonReply({ answers: [{ leakage_status: 'No Data Leakage', code_block: '' }] });
  }
  return jsonReply({
    answers: blocks.map((code_block) => ({ leakage_status: 'Yes Data Leakage', code_block })),
  });
}

/** A correction answer: prose around one fenced block. */
export function correction(code: string): MessageReply {
  return textReply(`Here are the corrected lines.\n\n\`\`\`python\n${code}\n\`\`\`\n`);
}
