import { afterEach, describe, expect, it } from 'vitest';
import { AgentConfig } from '../../src/agents/agent-config.js';
import type { RunContext } from '../../src/agents/agent-runner.js';
import { AgentType } from '../../src/agents/agent-type.js';
import { MAX_PAUSES, MAX_TOOL_TURNS } from '../../src/agents/conversation.js';
import type { ModelRunnerOptions } from '../../src/agents/model-runner.js';
import { LeakageDetectionOutputSchema } from '../../src/agents/outputs.js';
import { AgentError } from '../../src/errors.js';
import { HastyClock } from '../support/manual-clock.js';
import {
  cutAfter,
  errorReply,
  hangReply,
  jsonReply,
  type MessagesApi,
  messageReply,
  overloadedReply,
  pausedReply,
  refusalReply,
  type Script,
  startMessagesApi,
  textReply,
  toolUseReply,
  truncatedReply,
} from '../support/messages-api.js';
import { PROVIDERS } from '../support/providers.js';

const CLEAN = { answers: [{ leakage_status: 'No Data Leakage', code_block: 'x = 1' }] };
const ENDLESS_FAILURE: Script = () => overloadedReply();

let api: MessagesApi;
afterEach(() => api.close());

describe.each(PROVIDERS)('$provider', ({ provider, runner: createRunner }) => {
  async function runnerFor(reply: Script, options: ModelRunnerOptions = {}) {
    api = await startMessagesApi({ reply });
    return createRunner({
      apiKey: 'k',
      baseURL: api.url,
      clock: new HastyClock(),
      maxTokens: 1_000,
      ...options,
    });
  }

  async function detect(reply: Script, context: RunContext = {}, options: ModelRunnerOptions = {}) {
    const runner = await runnerFor(reply, options);
    return runner.ask(
      {
        agent: new AgentConfig({ agentType: AgentType.leakage }),
        variables: { code: 'x = 1' },
        step: 'detect',
        schema: LeakageDetectionOutputSchema,
      },
      context,
    );
  }

  async function summarize(reply: Script) {
    const runner = await runnerFor(reply);
    return runner.ask({
      agent: new AgentConfig({ agentType: AgentType.summarize }),
      variables: { ablation_code: 'print(1)', raw_result: '' },
      step: 'summarize',
    });
  }

  async function errorOf(asked: Promise<unknown>): Promise<AgentError> {
    const error = await asked.then(
      (answer) => new Error(`answered: ${JSON.stringify(answer)}`),
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(AgentError);
    return error as AgentError;
  }

  describe('an answer that does not fit the schema', () => {
    it('REQ-SF-014: is asked for again with what was wrong', async () => {
      const { output, usage, notes } = await detect([
        textReply('Sure! {"answers": []}'),
        jsonReply({ answers: [{ leakage_status: 'Maybe', code_block: 'x' }] }),
        jsonReply(CLEAN),
      ]);
      expect(output).toEqual(CLEAN);
      expect(usage).toMatchObject({ calls: 3, inputTokens: 300, outputTokens: 60 });
      expect(notes).toHaveLength(2);
      const messages = api.requests[2]?.body.messages ?? [];
      expect(messages.map((message) => message.role)).toEqual([
        'user',
        'assistant',
        'user',
        'assistant',
        'user',
      ]);
      expect(messages[2]?.content).toContain('not one JSON document');
      expect(messages[4]?.content).toContain('answers[0].leakage_status');
    });

    it('is an error after the second time, which keeps the raw answer and the usage of all three calls', async () => {
      const error = await errorOf(detect([textReply('a'), textReply('b'), textReply('c'), jsonReply(CLEAN)]));
      expect(error).toMatchObject({ code: 'answer-invalid', retryable: false, rawAnswer: 'c' });
      expect(error.usage).toMatchObject({ calls: 3, inputTokens: 300 });
      expect(api.requests).toHaveLength(3);
    });

    it.each([
      ['prose before a fence', `Here it is:\n\`\`\`json\n${JSON.stringify(CLEAN)}\n\`\`\``],
      ['prose behind a fence', `\`\`\`json\n${JSON.stringify(CLEAN)}\n\`\`\`\nThat is all.`],
      ['a fence inside a fence', `\`\`\`\n\`\`\`json\n${JSON.stringify(CLEAN)}\n\`\`\`\n\`\`\``],
      ['two fences', `\`\`\`json\n${JSON.stringify(CLEAN)}\n\`\`\`\n\`\`\`json\n{}\n\`\`\``],
      ['JSON twice', `${JSON.stringify(CLEAN)}${JSON.stringify(CLEAN)}`],
      ['no answers at all', '{"answers":[]}'],
      ['another type', 'null'],
      ['nesting without end', '['.repeat(200_000)],
    ])('is never searched for something that fits: %s', async (_, text) => {
      const error = await errorOf(detect(() => textReply(text, { deltaSize: 50_000 })));
      expect(error.code).toBe('answer-invalid');
      if (text.includes('```')) expect(error.message).toContain('does not keep to structured output');
    });

    const fenced = `\`\`\`json\n${JSON.stringify(CLEAN, undefined, 2)}\n\`\`\``;
    it.each([
      ['one fence of JSON', fenced, 'was one fence of JSON'],
      [
        'one fence without a language, in blank lines',
        `\n\`\`\`\n${JSON.stringify(CLEAN)}\n\`\`\`\n\n`,
        'was one fence of JSON',
      ],
      ['a byte order mark', `\uFEFF${JSON.stringify(CLEAN)}`, 'began with a byte order mark'],
      ['a byte order mark and one fence', `\uFEFF${fenced}`, 'began with a byte order mark'],
    ])('is unwrapped once, noted and paid once: %s', async (_, text, note) => {
      const { output, usage, notes } = await detect([textReply(text)]);
      expect([output, usage.calls]).toEqual([CLEAN, 1]);
      expect(notes).toEqual([expect.stringContaining(note)]);
    });
  });

  describe('an answer that was cut off', () => {
    it('is asked for once more with twice the token limit', async () => {
      const { output, usage } = await detect([truncatedReply('{"answers": [{"leak'), jsonReply(CLEAN)]);
      expect(output).toEqual(CLEAN);
      expect(usage.calls).toBe(2);
      expect(api.requests.map((request) => request.body.max_tokens)).toEqual([1_000, 2_000]);
      expect(api.requests[1]?.body.messages).toHaveLength(1);
    });

    it('is final the second time, even where the text would fit', async () => {
      const error = await errorOf(detect(() => truncatedReply(JSON.stringify(CLEAN))));
      expect(error).toMatchObject({
        code: 'answer-truncated',
        retryable: false,
        rawAnswer: JSON.stringify(CLEAN),
      });
      expect(error.usage?.calls).toBe(2);
      expect(api.requests).toHaveLength(2);
    });
  });

  describe('other ends of an answer', () => {
    it('a refusal is final and says why', async () => {
      const error = await errorOf(detect([refusalReply('cyber'), jsonReply(CLEAN)]));
      expect(error).toMatchObject({ code: 'answer-refused', retryable: false });
      expect(error.message).toContain('cyber');
      expect(error.usage?.calls).toBe(1);
    });

    it('a full context window and an unknown stop reason are errors of their own', async () => {
      const full = await errorOf(detect([jsonReply(CLEAN, { stopReason: 'model_context_window_exceeded' })]));
      expect(full.code).toBe('context-exceeded');
      await api.close();
      const unknown = await errorOf(detect([jsonReply(CLEAN, { stopReason: 'of_tomorrow' })]));
      expect(unknown).toMatchObject({ code: 'answer-unknown-stop', retryable: false });
    });

    it('an empty text is asked for once more, then is an error', async () => {
      expect((await summarize([textReply(' \n'), textReply('fine')])).output).toBe('fine');
      expect(api.requests[1]?.body.messages.map((message) => message.role)).toEqual(['user', 'user']);
      await api.close();
      const error = await errorOf(summarize([messageReply([]), textReply(''), textReply('late')]));
      expect(error.code).toBe('answer-invalid');
      expect(api.requests).toHaveLength(2);
    });

    it('a paused turn is continued, and its text is part of the answer', async () => {
      const { output } = await summarize([pausedReply('One, '), pausedReply('two, '), textReply('three.')]);
      expect(output).toBe('One, two, three.');
      expect(api.requests[2]?.body.messages.map((message) => message.role)).toEqual([
        'user',
        'assistant',
        'assistant',
      ]);
    });

    it('pauses without end are a tool loop', async () => {
      const error = await errorOf(summarize(() => pausedReply('…')));
      expect(error.code).toBe('tool-loop');
      expect(api.requests).toHaveLength(MAX_PAUSES + 1);
    });

    it('tool calls without end are a tool loop; the last turn forbids tools', async () => {
      const error = await errorOf(detect(() => toolUseReply('Bash', { command: 'ls' }), {}));
      expect(error.code).toBe('tool-loop');
      expect(api.requests).toHaveLength(MAX_TOOL_TURNS + 1);
      expect(error.usage?.calls).toBe(MAX_TOOL_TURNS + 1);
    });
  });

  describe('calls that fail', () => {
    it('in passing are sent again in place; answers that were received are not asked for again', async () => {
      const { usage } = await detect([
        toolUseReply('Read', { file_path: 'x' }),
        overloadedReply(),
        cutAfter(jsonReply(CLEAN), 3),
        jsonReply(CLEAN),
      ]);
      // The first request is sent once; the second three times, including the broken answer. Its tokens are known where the
      // API counts the prompt at the start of a stream.
      expect(api.requests.map((request) => request.body.messages.length)).toEqual([1, 3, 3, 3]);
      expect(usage).toMatchObject(
        provider === 'anthropic'
          ? { calls: 3, inputTokens: 300, outputTokens: 41 }
          : { calls: 2, inputTokens: 200, outputTokens: 40 },
      );
    });

    it.each([
      ['401', errorReply(401, 'invalid bearer token'), 'unauthorized'],
      ['404', errorReply(404, 'model: nope'), 'unknown-model'],
      ['400', errorReply(400, 'bad'), 'bad-request'],
    ] as const)('with %s are not sent again', async (_, reply, code) => {
      const error = await errorOf(detect([reply, jsonReply(CLEAN)]));
      expect(error).toMatchObject({ code, retryable: false });
      expect(api.requests).toHaveLength(1);
    });

    it('end after the bounded number of retries, and say that trying later can help', async () => {
      const error = await errorOf(detect(ENDLESS_FAILURE, {}, { callRetries: 2 }));
      expect(error).toMatchObject({ code: 'overloaded', retryable: true });
      expect(error.usage).toMatchObject({ calls: 0, costUsd: 0 });
      expect(api.requests).toHaveLength(3);
    });

    it('are cancelled by the signal, and the socket is closed', async () => {
      const controller = new AbortController();
      const running = errorOf(detect([hangReply], { signal: controller.signal }));
      while (api === undefined || api.requests.length === 0)
        await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      expect((await running).code).toBe('call-cancelled');
      await api.requests[0]?.aborted;
    });

    it('keep the usage of the calls before the one that failed', async () => {
      const error = await errorOf(detect([textReply('nonsense'), errorReply(401)]));
      expect(error.code).toBe('unauthorized');
      expect(error.usage).toMatchObject({ calls: 1, inputTokens: 100, outputTokens: 20 });
      expect(error.message).toContain('call 2 of the request');
    });
  });

  it('every call passes the interceptors of the context, with an identity that is the same in a second attempt', async () => {
    const calls: string[][] = [[], []];
    for (const seen of calls) {
      const interceptor = {
        name: 'spy',
        record: async (call: { step: string; turn: number; digest: string }) => {
          seen.push(`${call.step} ${call.turn} ${call.digest}`);
        },
      };
      await detect([textReply('nonsense'), jsonReply(CLEAN)], { interceptors: [interceptor] });
      await api.close();
    }
    expect(calls[0]).toHaveLength(2);
    expect(calls[0]).toEqual(calls[1]);
    api = await startMessagesApi({ reply: [] });
  });
});
