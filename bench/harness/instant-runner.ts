import { createHash } from 'node:crypto';
import type { AgentAnswer, AgentRequest, AgentRunner, RunContext } from '../../src/agents/agent-runner.js';
import { DEFAULT_MODEL } from '../../src/agents/default-model.js';
import type { PlannedCall } from '../../src/calls/call-interceptor.js';
import type { ReceivedMessage } from '../../src/calls/message.js';

const TOKENS = {
  inputTokens: 500,
  outputTokens: 100,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
};

/**
 * A runner that returns a prepared answer at once, so that a row measures everything around the agent. Each answer is a call:
 * it passes the job's interceptors, so the measurement includes ledger, limiter and budget.
 */
export function instantRunner(answers: { readonly structured: unknown; readonly text: string }): AgentRunner {
  const structured = messageOf(JSON.stringify(answers.structured));
  const text = messageOf(answers.text);
  const ask = async (
    { schema, step, variables }: AgentRequest<unknown>,
    { interceptors = [] }: RunContext = {},
  ): Promise<AgentAnswer<unknown>> => {
    const content = JSON.stringify(variables);
    const request = {
      model: DEFAULT_MODEL,
      max_tokens: 1_000,
      messages: [{ role: 'user' as const, content: content }],
    };
    const digest = createHash('sha256').update(content).digest('hex');
    const call: PlannedCall = { step, turn: 1, model: DEFAULT_MODEL, request, digest };
    for (const interceptor of interceptors) await interceptor.admit?.(call);
    const message = schema === undefined ? text : structured;
    for (const interceptor of interceptors.toReversed())
      await interceptor.settle?.(call, {
        class: 'answered',
        detail: 'answered',
        status: 200,
        message,
        tokens: TOKENS,
      });
    const { inputTokens, outputTokens } = TOKENS;
    return {
      output: schema === undefined ? answers.text : answers.structured,
      usage: {
        calls: 1,
        reusedCalls: 0,
        inputTokens,
        outputTokens,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        costUsd: null,
      },
    };
  };
  return { name: 'offline', ask: ask as AgentRunner['ask'] };
}

function messageOf(text: string): ReceivedMessage {
  return {
    id: 'msg_bench',
    model: DEFAULT_MODEL,
    content: [{ type: 'text', text }],
    stopReason: 'end_turn',
    refusal: undefined,
    tokens: TOKENS,
  };
}

export const CLEAN = { answers: [{ leakage_status: 'No Data Leakage', code_block: '' }] };
