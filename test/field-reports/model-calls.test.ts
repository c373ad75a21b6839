import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAnthropicRunner } from '../../src/agents/anthropic-runner.js';
import { addExtract } from '../../src/producers/extract.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { readCallRecords } from '../../src/queues/call-record.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import {
  jsonReply,
  type MessagesApi,
  type Script,
  startMessagesApi,
  textReply,
  toolUseReply,
  truncatedReply,
} from '../support/messages-api.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const SCRIPT = 'a = fit(all)\nprint(a)\n';
const script = { solution: { content: SCRIPT } };

let redis: TestRedis;
let test: TestFleet;
let api: MessagesApi;
let fleets = 0;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());
afterEach(async () => {
  await test.close();
  await api.close();
});

async function startFleet(reply: Script) {
  fleets += 1;
  test = await startTestFleet(redis, `model-calls-${fleets}`);
  api = await startMessagesApi({ reply });
  return { ...test, server: api };
}

describe('a call that takes long', () => {
  it('is made once, though it takes many times the lock duration and another worker looks for jobs', async () => {
    // Longer than a busy machine delays a worker, which must not lose its lock for that.
    const LEASE_MS = 5_000;
    const { fleet, worker, server } = await startFleet(() => ({ ...leaks(), delayMs: 3 * LEASE_MS }));
    await worker(runnerFor(server), { lockMs: LEASE_MS });
    await worker(runnerFor(server), { lockMs: LEASE_MS });
    const handle = await addSolutionCheck(fleet, script);
    expect((await handle.result()).usage.calls).toBe(1);
    expect(server.requests).toHaveLength(1);
    expect(await handle.view()).toMatchObject({ state: 'completed', attempts: 1 });
  });

  it.each([32_000, 64_000])('and may have %d tokens is streamed, and sent once', async (maxTokens) => {
    const { fleet, worker, server } = await startFleet([leaks()]);
    await worker(createAnthropicRunner({ baseURL: server.url, apiKey: 'test-key', maxTokens }));
    const handle = await addSolutionCheck(fleet, script);
    expect((await handle.result()).status).toBe('clean');
    expect(server.requests.map(({ body }) => [body.max_tokens, body.stream])).toEqual([[maxTokens, true]]);
  });
});

describe('a connection that is cut after the model has answered', () => {
  it('is tried again a bounded number of times, and every one of them shows in the cost of the job', async ({
    onTestFinished,
  }) => {
    const { fleet, worker, server } = await startFleet(async () => {
      // The answer exists and is billed; nothing of it comes through.
      proxy.cut();
      return leaks();
    });
    const proxy = await TcpProxy.start({ host: '127.0.0.1', port: Number(new URL(server.url).port) });
    onTestFinished(() => proxy.stop());
    const runner = createAnthropicRunner({
      baseURL: `http://127.0.0.1:${proxy.port}`,
      apiKey: 'test-key',
      model: 'claude-sonnet-5-5',
      callRetries: 1,
      retry: { baseDelayMs: 1, maxDelayMs: 2 },
    });
    await worker(runner);
    const handle = await addSolutionCheck(fleet, script);
    const view = await handle.wait();
    expect(view).toMatchObject({ state: 'failed', attempts: 3 });
    // Three attempts with two sends each.
    expect(server.requests).toHaveLength(6);
    expect(view.callsInDoubt).toHaveLength(6);
    expect(view.callsInDoubt?.every(({ likelyUsd }) => (likelyUsd ?? 0) > 0)).toBe(true);
  });
});

describe('an answer that is cut off', () => {
  it('is reported with its budget, requested once more with twice of it, and not again by any attempt', async () => {
    const { fleet, worker, server } = await startFleet(() =>
      truncatedReply('{"plans": [{"code_block": "a ='),
    );
    await worker(createAnthropicRunner({ baseURL: server.url, apiKey: 'test-key', maxTokens: 64 }));
    const handle = await addExtract(fleet, { ...script, summary: 'a matters', previousBlocks: [] });
    const view = await handle.wait();
    expect(view).toMatchObject({
      state: 'failed',
      attempts: 1,
      error: { code: 'answer-truncated', retryable: false, message: expect.stringContaining('128') },
    });
    expect(server.requests.map(({ body }) => body.max_tokens)).toEqual([64, 128]);
  });

  it.each([
    { name: 'nothing at all', reply: textReply('') },
    { name: 'a tool that there is not', reply: toolUseReply('pay', { amount: 5 }) },
    { name: 'half of a JSON text', reply: textReply('{"plans": [') },
  ])('or is $name fails with a specific code, in one attempt', async ({ reply }) => {
    const { fleet, worker, server } = await startFleet(() => reply);
    await worker(runnerFor(server));
    const handle = await addExtract(fleet, { ...script, summary: 'a matters', previousBlocks: [] });
    const view = await handle.wait();
    expect(view).toMatchObject({ state: 'failed', attempts: 1, error: { retryable: false } });
    expect(view.error?.code).toMatch(/^(answer-invalid|tool-loop)$/);
    expect(server.requests.length).toBeLessThanOrEqual(12);
  });
});

describe('an agent that is in the middle of its tool steps when its worker goes', () => {
  it('does not take the steps again that are done', async ({ onTestFinished }) => {
    const workspace = mkdtempSync(join(tmpdir(), 'workspace-'));
    onTestFinished(() => rmSync(workspace, { recursive: true, force: true }));
    for (const name of ['one.txt', 'two.txt']) writeFileSync(join(workspace, name), `this is ${name}\n`);
    const { fleet, worker, server } = await startFleet([
      toolUseReply('Read', { file_path: 'one.txt' }),
      toolUseReply('Read', { file_path: 'two.txt' }),
      { kind: 'hang' },
      jsonReply({ plans: [{ code_block: 'a = fit(all)', plan: 'fit on the training rows' }] }),
    ]);
    const first = await worker(runnerFor(server), { workspaces: { roots: [workspace] } });
    const handle = await addExtract(fleet, {
      ...script,
      summary: 'a matters',
      previousBlocks: [],
      workspace,
    });
    await server.arrived(3);
    await first.stop(0);
    await worker(runnerFor(server), { workspaces: { roots: [workspace] } });
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'selected', usage: { calls: 1, reusedCalls: 2 } });
    // Both steps once, the last call twice: it was on its way when the worker went.
    expect(server.requests).toHaveLength(4);
    expect(server.requests[3]?.text).toContain('this is two.txt');
    const key = fleet.queue('extract').toKey(handle.id);
    expect((await readCallRecords(fleet.client, key)).map(({ state }) => state)).toEqual([
      'answered',
      'answered',
      'in-doubt',
      'answered',
    ]);
  });
});
