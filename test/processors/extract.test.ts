import { afterEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { processExtract } from '../../src/processors/extract.js';
import { processSummarize } from '../../src/processors/summarize.js';
import { digestOf } from '../../src/queues/digest.js';
import { type ExtractPayload, ExtractResultSchema } from '../../src/queues/extract.js';
import { replaceBlock, validateCodeBlock } from '../../src/solution/index.js';
import { runnerFor } from '../support/agent-answers.js';
import {
  jsonReply,
  type MessagesApi,
  refusalReply,
  type Script,
  startMessagesApi,
} from '../support/messages-api.js';
import { workWith } from '../support/work.js';

const SCRIPT = 'scaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)  \nmodel = Ridge()\n';
const BLOCK = 'scaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)';
const PAYLOAD: ExtractPayload = {
  solution: { content: SCRIPT },
  summary: 'The scaler matters most.',
  previousBlocks: [],
};

let api: MessagesApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

const plans = (...blocks: string[]) =>
  jsonReply({ plans: blocks.map((code_block, index) => ({ code_block, plan: `plan ${index}` })) });

async function extract(reply: Script, payload: Partial<ExtractPayload> = {}) {
  api = await startMessagesApi({ reply });
  const work = workWith(runnerFor(api));
  const result = await processExtract({ ...PAYLOAD, ...payload }, work);
  expect(ExtractResultSchema.safeParse(result).error).toBeUndefined();
  if (result.codeBlock !== undefined) {
    expect(validateCodeBlock(result.codeBlock, { content: SCRIPT })).toBe(true);
    expect(() => replaceBlock({ content: SCRIPT }, result.codeBlock ?? '', 'x')).not.toThrow();
  }
  return { result, work, requests: api.requests };
}

describe('extract', () => {
  it('REQ-P2O-015: takes the first plan if its block is in the solution', async () => {
    const { result, requests } = await extract([plans('model = Ridge()', 'scaler = StandardScaler()')]);
    expect(result).toMatchObject({
      outcome: 'selected',
      codeBlock: 'model = Ridge()',
      plan: 'plan 0',
      matched: 'exact',
      planIndex: 0,
      attempts: 1,
      solutionDigest: digestOf(SCRIPT),
    });
    expect(result.plans.map(({ valid }) => valid)).toEqual([true, true]);
    expect(requests).toHaveLength(1);
  });

  it('REQ-P2O-018: a block that differs in trailing white space gives the text of the solution', async () => {
    const { result, requests } = await extract([plans(`${BLOCK}\nmodel = Ridge()  `)]);
    expect(result).toMatchObject({ outcome: 'selected', matched: 'whitespace', attempts: 1 });
    expect(result.codeBlock).toBe(SCRIPT.trimEnd());
    expect(requests).toHaveLength(1);
  });

  it('REQ-P2O-018: a missing block is requested again, with the additional instruction', async () => {
    const { result, work, requests } = await extract([plans('nowhere()'), plans('model = Ridge()')]);
    expect(result).toMatchObject({ outcome: 'selected', attempts: 2, planIndex: 0 });
    expect(requests[0]?.text).not.toContain('not found in the solution');
    expect(requests[1]?.text).toContain('not found in the solution');
    expect(work.warnings).toHaveLength(1);
    expect(work.steps).toEqual(['extracting', 'retrying 1/2']);
  });

  it('REQ-P2O-018: after two retries the first valid plan of the latest answer is used', async () => {
    const { result, requests } = await extract([
      plans('a()', BLOCK.split('\n')[0] ?? ''),
      plans('b()', 'model = Ridge()'),
      plans('c()', 'd()'),
    ]);
    expect(requests).toHaveLength(3);
    expect(result).toMatchObject({
      outcome: 'selected',
      codeBlock: 'model = Ridge()',
      attempts: 3,
      planIndex: 1,
    });
    expect(result.plans.map(({ valid }) => valid)).toEqual([false, true]);
  });

  it('REQ-P2O-018: a model that always returns the same wrong block is called three times, then the job is skipped', async () => {
    const { result, requests } = await extract(() => plans('nowhere()'));
    expect(requests).toHaveLength(3);
    expect(result).toMatchObject({
      outcome: 'skipped',
      attempts: 3,
      reason: expect.stringContaining('no plan of any answer'),
    });
    expect(result).not.toHaveProperty('codeBlock');
    expect(result).not.toHaveProperty('planIndex');
    expect(result.plans).toEqual([{ codeBlock: 'nowhere()', plan: 'plan 0', valid: false }]);
    expect(result.usage.calls).toBe(3);
  });

  it('a block refined before yields at once to another valid plan of the same answer', async () => {
    const reply = [plans('model = Ridge()', 'nowhere()', 'scaler = StandardScaler()')];
    const { result, requests } = await extract(reply, { previousBlocks: ['model  =  Ridge()\n'] });
    expect(result).toMatchObject({ codeBlock: 'scaler = StandardScaler()', planIndex: 2, attempts: 1 });
    expect(requests).toHaveLength(1);
  });

  it('a block refined before is used if the answer has no other', async () => {
    const { result, requests } = await extract([plans('model = Ridge()', 'nowhere()')], {
      previousBlocks: ['model = Ridge()'],
    });
    expect(result).toMatchObject({ codeBlock: 'model = Ridge()', planIndex: 0, attempts: 1 });
    expect(requests).toHaveLength(1);
  });

  it('a re-ask that cannot be used does not spoil what the first answer had', async () => {
    const { result } = await extract([plans('nowhere()', 'model = Ridge()'), refusalReply()]);
    expect(result).toMatchObject({
      outcome: 'selected',
      codeBlock: 'model = Ridge()',
      attempts: 2,
      planIndex: 1,
    });
    expect(result.notes?.join()).toContain('answer 2 could not be used');
  });

  it('REQ-P2O-013: the section of previous blocks is there when there are some, numbered, and absent when not', async () => {
    const { requests: without } = await extract([plans('model = Ridge()')]);
    await api?.close();
    const { requests: with3 } = await extract([plans('model = Ridge()')], {
      previousBlocks: ['b1()', 'b2()', 'b3()'],
    });
    expect(with3[0]?.text).toMatch(/1[.)\]][\s\S]*b1\(\)[\s\S]*3[.)\]][\s\S]*b3\(\)/);
    expect(without[0]?.text.length).toBeLessThan((with3[0]?.text.length ?? 0) - 30);
  });

  it('takes 1,000 previous blocks and a list of 50 plans', async () => {
    const previousBlocks = Array.from({ length: 1_000 }, (_, index) => `block_${index}()`);
    const many = plans(...Array.from({ length: 49 }, (_, index) => `block_${index}()`), 'model = Ridge()');
    const { result } = await extract([many, many, many], { previousBlocks });
    expect(result).toMatchObject({ outcome: 'selected', planIndex: 49 });
    expect(result.plans).toHaveLength(50);
  });

  it('REQ-P2O-016: without a summary it is rejected', async () => {
    const { summary: _left, ...payload } = PAYLOAD;
    await expect(processExtract(payload, workWith(createOfflineRunner()))).rejects.toMatchObject({
      code: 'invalid-payload',
      field: 'summary',
    });
  });
});

describe('extract offline', () => {
  const script = [
    'import pandas as pd',
    'from sklearn.preprocessing import OneHotEncoder, StandardScaler',
    'frame = pd.read_csv("train.csv")',
    'encoder = OneHotEncoder(handle_unknown="ignore")',
    'scaler = StandardScaler()',
    'model = Ridge()',
    '',
  ].join('\n');

  it('REQ-P2O-017: maps the component that the summary names to whole statements of the script', async () => {
    const work = workWith(createOfflineRunner());
    const { summary } = await processSummarize(
      {
        ablationCode: 'print(1)',
        rawOutput:
          'Baseline: 0.8196, No StandardScaler: 0.8102, No OneHotEncoder: 0.7886, No Imputation: 0.8196',
      },
      work,
    );
    const result = await processExtract({ solution: { content: script }, summary, previousBlocks: [] }, work);
    expect(result).toMatchObject({
      outcome: 'selected',
      matched: 'exact',
      attempts: 1,
      agent: { runner: 'offline' },
    });
    expect(result.codeBlock).toContain('encoder = OneHotEncoder(handle_unknown="ignore")');
    expect(script).toContain(result.codeBlock ?? 'nothing');
    expect(result.plan?.match(/[.!?](\s|$)/g)?.length).toBeGreaterThanOrEqual(3);
  });

  it('REQ-P2O-018: skips a script in which it can single nothing out', async () => {
    const payload = { solution: { content: '!!! not python (((\n' }, summary: 'x', previousBlocks: [] };
    const result = await processExtract(payload, workWith(createOfflineRunner()));
    expect(result.outcome).toBe('skipped');
  });
});
