import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { AgentConfig } from '../../src/agents/agent-config.js';
import { AgentType } from '../../src/agents/agent-type.js';
import { createAnthropicRunner } from '../../src/agents/anthropic-runner.js';
import { DEFAULT_MODEL } from '../../src/agents/default-model.js';
import { createOpenAiRunner } from '../../src/agents/openai-runner.js';
import {
  ExtractorOutputSchema,
  type LeakageDetectionOutput,
  LeakageDetectionOutputSchema,
} from '../../src/agents/outputs.js';
import { PromptRegistry } from '../../src/agents/prompt-registry.js';
import {
  jsonReply,
  type MessagesApi,
  type Script,
  startMessagesApi,
  textReply,
  toolUseReply,
} from '../support/messages-api.js';
import { PROVIDERS } from '../support/providers.js';

const CODE = 'scaler = StandardScaler()\nX = scaler.fit_transform(X)\n';
const YES: LeakageDetectionOutput = {
  answers: [{ leakage_status: 'Yes Data Leakage', code_block: 'X = scaler.fit_transform(X)' }],
};
const detection = new AgentConfig({ agentType: AgentType.leakage });
const correction = new AgentConfig({ agentType: AgentType.leakage, variant: 'correction' });
const summarize = new AgentConfig({ agentType: AgentType.summarize });
const extractor = new AgentConfig({ agentType: AgentType.extractor });
const ABLATION = { ablation_code: 'print(1)', raw_result: 'Baseline: 0.8196' };

let api: MessagesApi;
afterEach(() => api.close());

function detectRequest() {
  return {
    agent: detection,
    variables: { code: CODE },
    step: 'detect',
    schema: LeakageDetectionOutputSchema,
  };
}

describe.each(PROVIDERS)('$provider', ({ provider, runner: createRunner }) => {
  const isMessages = provider === 'anthropic';

  async function serve(reply: Script) {
    api = await startMessagesApi({ reply });
    return createRunner({ apiKey: 'k', baseURL: api.url });
  }

  describe('structured output', () => {
    it('REQ-SF-015: the detection is asked with the JSON schema of its output', async () => {
      const runner = await serve([jsonReply(YES)]);
      const { output } = await runner.ask(detectRequest());
      expect(output).toEqual(YES);
      const format = api.requests[0]?.body.output_config?.format;
      expect(format?.type).toBe('json_schema');
      const text = JSON.stringify(format?.schema);
      expect(text).toContain('"enum":["Yes Data Leakage","No Data Leakage"]');
      expect(text).toContain('"required":["leakage_status","code_block"]');
      expect(text).toContain('"additionalProperties":false');
    });

    it('REQ-SF-014: the answer is parsed; its block is an exact substring of the solution', async () => {
      const runner = await serve([jsonReply(YES, { deltaSize: 3 })]);
      const { output } = await runner.ask(detectRequest());
      expect(output.answers[0]?.leakage_status).toBe('Yes Data Leakage');
      expect(CODE).toContain(output.answers[0]?.code_block);
    });

    it('REQ-P2O-014: the extractor is asked with the JSON schema of its output', async () => {
      const plans = { plans: [{ code_block: 'scaler = StandardScaler()', plan: 'Use a robust scaler.' }] };
      const runner = await serve([jsonReply(plans)]);
      const { output } = await runner.ask({
        agent: extractor,
        variables: {
          solution_script: CODE,
          ablation_summary: 'The scaler matters.',
          previous_code_blocks: [],
        },
        step: 'extract',
        schema: ExtractorOutputSchema,
      });
      expect(output).toEqual(plans);
      expect(JSON.stringify(api.requests[0]?.body.output_config?.format?.schema)).toContain(
        '"required":["code_block","plan"]',
      );
    });

    it('REQ-SF-019: the correction is free text, asked without a schema', async () => {
      const answer = 'Here:\n```python\nX = scaler.transform(X)\n```';
      const runner = await serve([textReply(answer)]);
      const { output } = await runner.ask({
        agent: correction,
        variables: { code: CODE, code_block: 'X = scaler.fit_transform(X)' },
        step: 'correct-1',
      });
      expect(output).toBe(answer);
      expect(api.requests[0]?.body.output_config).toBeUndefined();
    });

    it('REQ-SF-018: the correction gets the whole solution and the leaky block', async () => {
      const runner = await serve([textReply('```python\npass\n```')]);
      const code_block = 'X = scaler.fit_transform(X)';
      await runner.ask({ agent: correction, variables: { code: CODE, code_block }, step: 'correct-1' });
      expect(api.requests[0]?.text).toContain(`>\n${CODE}\n</script-`);
      expect(api.requests[0]?.text).toContain(`>\n${code_block}\n</block-`);
      await expect(
        runner.ask({ agent: correction, variables: { code: CODE }, step: 'correct-1' }),
      ).rejects.toMatchObject({
        code: 'prompt-variable',
        field: 'code_block',
      });
    });

    it('REQ-P2O-011: the summary is the whole text of the answer, as it is', async () => {
      const text = '  OneHotEncoder matters most.\n\n- Imputation: none\n';
      const runner = await serve([textReply(text)]);
      expect((await runner.ask({ agent: summarize, variables: ABLATION, step: 'summarize' })).output).toBe(
        text,
      );
    });
  });

  describe('the request', () => {
    it('REQ-SF-012: instructions go into the system text with cache control, the script into the message', async () => {
      const runner = await serve([jsonReply(YES)]);
      await runner.ask(detectRequest());
      const body = api.requests[0]?.body;
      const parts = PromptRegistry.shared().renderParts('leakage', 'detection', { code: CODE });
      const cached = { type: 'text', cache_control: { type: 'ephemeral' } };
      expect(body?.system).toEqual([{ text: parts.stable, ...(isMessages ? cached : {}) }]);
      expect(body?.messages).toEqual([{ role: 'user', content: parts.variable }]);
    });

    it('an addition follows the prompt', async () => {
      const runner = await serve([jsonReply(YES)]);
      await runner.ask({ ...detectRequest(), addition: 'The block was not found in the solution.' });
      expect(String(api.requests[0]?.body.messages[0]?.content)).toMatch(
        /JSON object\.\n\nThe block was not found in the solution\.$/,
      );
    });

    it("the model is the request's, else the agent's, else the runner's", async () => {
      api = await startMessagesApi({ reply: () => textReply('x') });
      const configured = createRunner({ apiKey: 'k', baseURL: api.url, model: 'from-runner' });
      const ofAgent = new AgentConfig({ agentType: AgentType.summarize, model: 'from-agent' });
      const request = { agent: summarize, variables: ABLATION, step: 's' };
      await configured.ask(request);
      await configured.ask({ ...request, agent: ofAgent });
      await configured.ask({ ...request, agent: ofAgent, model: 'from-request' });
      expect(api.requests.map((request) => request.body.model)).toEqual([
        'from-runner',
        'from-agent',
        'from-request',
      ]);
    });

    it('half a surrogate pair in a script does not spoil the request', async () => {
      const runner = await serve([jsonReply(YES)]);
      await runner.ask({ ...detectRequest(), variables: { code: 'x = "\ud800"\n' } });
      expect(api.requests[0]?.text).toContain('x = "\uFFFD"');
    });

    it('a missing variable is an error before anything is sent', async () => {
      const runner = await serve([]);
      await expect(runner.ask({ ...detectRequest(), variables: {} })).rejects.toMatchObject({
        code: 'prompt-variable',
      });
      expect(api.requests).toHaveLength(0);
    });
  });

  describe('the answer', () => {
    it("names the model that answered, the prompt's digest and the usage with its cost", async () => {
      const usage = {
        input_tokens: 1_000,
        output_tokens: 100,
        cache_read_input_tokens: 2_000,
        cache_creation_input_tokens: 400,
      };
      const runner = await serve([jsonReply(YES, { usage, model: 'claude-opus-5-5' })]);
      const answer = await runner.ask({ ...detectRequest(), model: 'claude-opus-5-5' });
      expect(answer.model).toBe('claude-opus-5-5');
      expect(answer.promptDigest).toBe(detection.render({ code: CODE }).digest);
      expect(answer.usage).toEqual({
        calls: 1,
        reusedCalls: 0,
        inputTokens: 1_000,
        outputTokens: 100,
        cacheReadTokens: 2_000,
        cacheWriteTokens: isMessages ? 400 : 0,
        costUsd: expect.closeTo((1_000 * 4 + 100 * 20 + 2_000 * 0.2 + (isMessages ? 400 * 5 : 0)) / 1e6, 12),
      });
      expect(answer.notes).toBeUndefined();
    });

    it('has no cost where the model has no known price, and that of the configuration where it has one', async () => {
      api = await startMessagesApi({ reply: () => textReply('x', { model: 'served-name' }) });
      const request = { agent: summarize, variables: ABLATION, step: 's', model: 'my-own' };
      const address = { apiKey: 'k', baseURL: api.url };
      expect((await createRunner(address).ask(request)).usage.costUsd).toBeNull();
      const priced = createRunner({ ...address, prices: { 'my-own': { input: 3, output: 5 } } });
      const { usage, model } = await priced.ask(request);
      expect(model).toBe('served-name');
      expect(usage.costUsd).toBeCloseTo((100 * 3 + 20 * 5) / 1e6, 12);
    });
  });

  describe('the Read tool', () => {
    it('REQ-SF-011: is offered where the request names a workspace, and only to agents that have it', async () => {
      const workspace = mkdtempSync(join(tmpdir(), 'fleet-workspace-'));
      try {
        const runner = await serve((_, index) => (index < 3 ? jsonReply(YES) : textReply('x')));
        await runner.ask({ ...detectRequest(), workspace });
        await runner.ask(detectRequest());
        await runner.ask({ ...detectRequest(), workspace: join(workspace, 'nowhere') });
        await runner.ask({ agent: summarize, variables: ABLATION, step: 's', workspace });
        expect(api.requests.map((request) => request.body.tools?.map((tool) => tool.name))).toEqual([
          ['Read'],
          undefined,
          undefined,
          undefined,
        ]);
      } finally {
        rmSync(workspace, { recursive: true });
      }
    });

    it('reads a file for the agent and continues to the answer', async () => {
      const workspace = mkdtempSync(join(tmpdir(), 'fleet-workspace-'));
      writeFileSync(join(workspace, 'prep.py'), 'def prep(): ...\n');
      try {
        const thinking = { type: 'thinking', thinking: 'look', signature: 'c2ln' };
        const use = { type: 'tool_use', id: 'toolu_x', name: 'Read', input: { file_path: 'prep.py' } };
        const climbing = toolUseReply('Read', { file_path: '../../etc/passwd' });
        const runner = await serve([{ ...climbing, content: [thinking, use] }, climbing, jsonReply(YES)]);
        const log: string[] = [];
        const record = (line: string) => log.push(line);
        const { output, usage } = await runner.ask(
          { ...detectRequest(), workspace },
          { log: { info: record, warn: record } },
        );
        expect(output).toEqual(YES);
        expect(usage).toMatchObject({ calls: 3, inputTokens: 300, outputTokens: 60 });
        const [, first, second, third, fourth] = api.requests[2]?.body.messages ?? [];
        expect(first).toEqual({ role: 'assistant', content: isMessages ? [thinking, use] : [use] });
        expect(second).toEqual({
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_x',
              content: expect.stringMatching(/^<file-(\w{16})>\ndef prep\(\): \.\.\.\n<\/file-\1>$/),
            },
          ],
        });
        expect(third?.role).toBe('assistant');
        expect(fourth?.content).toMatchObject([
          { type: 'tool_result', content: expect.stringContaining('passwd') },
        ]);
        expect(log).toHaveLength(2);
      } finally {
        rmSync(workspace, { recursive: true });
      }
    });
  });
});

it('a request without a model goes to the default of the Messages API, and nowhere else', async () => {
  api = await startMessagesApi({ reply: () => textReply('x') });
  const address = { apiKey: 'k', baseURL: api.url };
  const request = { agent: summarize, variables: ABLATION, step: 's' };
  await createAnthropicRunner(address).ask(request);
  expect(api.requests.map(({ body }) => body.model)).toEqual([DEFAULT_MODEL]);
  const error = { code: 'unknown-model', message: expect.stringContaining('FLEET_MODEL') };
  await expect(createOpenAiRunner(address).ask(request)).rejects.toMatchObject(error);
  expect(api.requests).toHaveLength(1);
});
