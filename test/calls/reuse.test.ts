import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentConfig } from '../../src/agents/agent-config.js';
import { AgentType } from '../../src/agents/agent-type.js';
import { LeakageDetectionOutputSchema } from '../../src/agents/outputs.js';
import { costsOfDay, costsOfRun } from '../../src/calls/budget/read-costs.js';
import { CallDeferred } from '../../src/calls/call-deferred.js';
import type { PlannedCall } from '../../src/calls/call-interceptor.js';
import { chatTransport } from '../../src/calls/openai/chat-transport.js';
import { sdkTransport } from '../../src/calls/sdk-transport.js';
import { runnerFor } from '../support/agent-answers.js';
import {
  errorReply,
  jsonReply,
  type MessagesApi,
  type Reply,
  refusalReply,
  startMessagesApi,
  textReply,
  truncatedReply,
} from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { type FleetOfCalls, fleetOfCalls, plannedCall } from './calling-job.js';

const redis = redisOfFile();
let fleet: FleetOfCalls;
let api: MessagesApi | undefined;

beforeEach(() => {
  fleet = fleetOfCalls(redis);
});
afterEach(async () => {
  await fleet.close();
  await api?.close();
  api = undefined;
});

async function answering(...reply: Reply[]): Promise<MessagesApi> {
  api = await startMessagesApi({ reply });
  return api;
}

const CALL = plannedCall('is there a leak?');
const BOTH = [textReply('the first answer'), textReply('the second answer')];

type Submitted = Parameters<FleetOfCalls['job']>[0];

/** Performs a call in a job of its own. */
async function ask(server: MessagesApi, submitted: Submitted = { reuse: 'fleet' }, call = CALL) {
  const job = fleet.job(submitted);
  return { job, outcome: await job.perform(job.interceptor(), call, server) };
}

describe('an answer of another job', () => {
  it('is used by a job that allows it, stands in its ledger, and costs nothing', async () => {
    const server = await answering(...BOTH);
    const first = await ask(server, { run: 'night-1' });
    const second = await ask(server, { run: 'night-2', runBudgetUsd: 0, reuse: 'fleet' });
    expect(second.outcome.message).toEqual(first.outcome.message);
    expect(server.requests).toHaveLength(1);
    const [paid] = await first.job.records();
    expect(await second.job.records()).toMatchObject([
      {
        step: 'detect',
        state: 'answered',
        end: { reused: { jobId: first.job.key.split(':').at(-1), costUsd: paid?.end?.costUsd } },
      },
    ]);
    const costs = await costsOfRun(fleet.client, fleet.prefix, 'night-2');
    expect(costs).toMatchObject({ calls: 0, spentUsd: 0, reservedUsd: 0, reusedCalls: 1 });
    expect(costs.reusedUsd).toBe(paid?.end?.costUsd);
    expect(await costsOfDay(fleet.client, fleet.prefix, Date.now())).toMatchObject({
      calls: 1,
      reusedCalls: 1,
    });
    // A later attempt has it in its own ledger, whatever became of the first job.
    await first.job.remove();
    await second.job.takeOver();
    const later = await second.job.perform(second.job.interceptor(), CALL, server);
    expect(later.message).toEqual(first.outcome.message);
    expect(server.requests).toHaveLength(1);
  });

  it('is used by a job that says nothing where the worker is so configured, unless the job wants its own', async () => {
    const server = await answering(...BOTH, textReply('the third answer'));
    await ask(server);
    const said: Submitted[] = [{ reuse: 'none' }, {}];
    for (const submitted of said) {
      const job = fleet.job(submitted);
      await job.perform(job.interceptor({ reuse: 'fleet' }), CALL, server);
      expect(server.requests).toHaveLength(2);
    }
    await ask(server, {});
    expect(server.requests).toHaveLength(3);
  });

  it.each<[string, Submitted, Submitted]>([
    ['another tenant', { namedTenant: 'a', reuse: 'fleet' }, { namedTenant: 'b', reuse: 'fleet' }],
    ['a tenant, for none', { namedTenant: 'a', reuse: 'fleet' }, { reuse: 'fleet' }],
    ['none, for a tenant', { reuse: 'fleet' }, { namedTenant: 'null', reuse: 'fleet' }],
  ])('is not used if it is that of %s', async (_, one, other) => {
    const server = await answering(...BOTH);
    await ask(server, one);
    await ask(server, other);
    expect(server.requests).toHaveLength(2);
    await ask(server, one);
    expect(server.requests).toHaveLength(2);
  });

  const changed = (request: Partial<PlannedCall['request']>): PlannedCall => {
    const whole = { ...CALL.request, ...request };
    const digest = createHash('sha256').update(JSON.stringify(whole)).digest('hex');
    return { ...CALL, model: whole.model, request: whole, digest };
  };
  it.each<[string, PlannedCall]>([
    ['another model', changed({ model: 'claude-opus-5-5' })],
    ['another text', changed({ messages: [{ role: 'user', content: 'Is there a leak?' }] })],
    ['other instructions', changed({ system: [{ type: 'text', text: 'be brief' }] })],
    ['another token limit', changed({ max_tokens: 999 })],
    ['another effort', changed({ output_config: { effort: 'low' } })],
    ['a schema', changed({ output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } })],
    ['tools', changed({ tools: [{ name: 'Read', input_schema: { type: 'object' } }] })],
    ['thinking', changed({ thinking: { type: 'enabled', budget_tokens: 1_024 } })],
    ['another provider', { ...CALL, provider: 'openai' }],
    ['another server', { ...CALL, server: 'http://other' }],
    ['an answer of its own', { ...CALL, independent: true }],
  ])('is not used by a call with %s', async (_, call) => {
    const server = await answering(...BOTH);
    await ask(server);
    await ask(server, { reuse: 'fleet' }, call);
    expect(server.requests).toHaveLength(2);
  });

  it.each<[string, Reply]>([
    ['cut off', truncatedReply('the fir')],
    ['refused', refusalReply()],
    ['an error', errorReply(400)],
  ])('is not used if it was %s', async (_, reply) => {
    const server = await answering(reply, textReply('yes'));
    await ask(server);
    expect((await ask(server)).outcome.class).toBe('answered');
    expect(server.requests).toHaveLength(2);
  });

  it('is not used if it did not fit, or proved unusable later', async () => {
    const server = await answering(...BOTH, textReply('the third answer'));
    const job = fleet.job();
    const interceptor = job.interceptor();
    const checkAnswer = () => ({ class: 'schema-invalid' as const, detail: 'no JSON' });
    await job.perform(interceptor, CALL, server, { checkAnswer });
    const second = await ask(server);
    expect(server.requests).toHaveLength(2);
    await second.job.interceptor().withdraw(CALL);
    await ask(server);
    expect(server.requests).toHaveLength(3);
  });

  it('is not used for the second time that a job asks the same', async () => {
    const server = await answering(...BOTH, textReply('the third answer'));
    await ask(server);
    const job = fleet.job({ reuse: 'fleet' });
    const interceptor = job.interceptor();
    const again: PlannedCall = { ...CALL, step: 'detect-2' };
    const [first, second] = await Promise.all([
      job.perform(interceptor, CALL, server),
      job.perform(interceptor, again, server),
    ]);
    expect(first.message?.content).not.toEqual(second.message?.content);
    expect(server.requests).toHaveLength(2);
    await job.perform(interceptor, { ...CALL, step: 'detect-3' }, server);
    expect(server.requests).toHaveLength(3);
    // In the order of the first attempt, without asking.
    await job.takeOver();
    const next = job.interceptor();
    expect((await job.perform(next, CALL, server)).message).toEqual(first.message);
    expect((await job.perform(next, again, server)).message).toEqual(second.message);
    expect(server.requests).toHaveLength(3);
  });

  it('is not used once its job is gone, or after the time for which jobs are kept', async () => {
    const server = await answering(...BOTH, textReply('the third answer'));
    const first = await ask(server);
    await first.job.remove();
    await ask(server);
    expect(server.requests).toHaveLength(2);
    const [key = ''] = await fleet.client.keys(`${fleet.prefix}::answer:*`);
    const left = await fleet.client.pttl(key);
    expect(left).toBeGreaterThan(6 * 86_400_000);
    expect(left).toBeLessThanOrEqual(7 * 86_400_000);
    const third = fleet.job({ reuse: 'fleet' });
    await third.perform(third.interceptor({ answerTtlMs: 1 }), { ...CALL, independent: true }, server);
    await expect.poll(() => fleet.client.exists(key)).toBe(0);
  });

  it('is not used if the job that paid was removed, and another one has its key', async () => {
    const server = await answering(...BOTH, textReply('the third answer'));
    const first = await ask(server);
    await first.job.remove();
    await fleet.client.hset(first.job.key, 'timestamp', 1);
    await first.job.takeOver();
    // As if it had been submitted again for another tenant: its own answer is not for this one.
    const [key = ''] = await fleet.client.keys(`${fleet.prefix}::answer:*`);
    const before = await fleet.client.get(key);
    await first.job.perform(first.job.interceptor(), CALL, server);
    await fleet.client.set(key, before ?? '');
    await ask(server);
    expect(server.requests).toHaveLength(3);
  });

  it('is not used by a job that lost its lock, and not written', async () => {
    const server = await answering(...BOTH);
    await ask(server);
    const job = fleet.job({ reuse: 'fleet' });
    const late = job.interceptor();
    await job.takeOver();
    await expect(job.perform(late, CALL, server)).rejects.toMatchObject({ code: 'lock-lost' });
    expect(await job.records()).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it('is used although a call like it is in doubt, and the job is to be parked for that', async () => {
    const server = await answering({ kind: 'hang' }, textReply('yes'));
    const job = fleet.job({ reuse: 'fleet' });
    const controller = new AbortController();
    const stopped = job.perform(job.interceptor({}, controller.signal), CALL, server, {
      signal: controller.signal,
    });
    await server.arrived(1);
    controller.abort(new Error('stopped'));
    await stopped;
    await job.takeOver();
    await ask(server);
    const outcome = await job.perform(job.interceptor({ callsInDoubt: 'park' }), CALL, server);
    expect(outcome.class).toBe('answered');
    expect(server.requests).toHaveLength(2);
  });
});

describe('a call that another job makes now', () => {
  /** A job whose call has arrived and is not answered. */
  async function asking(server: MessagesApi) {
    const job = fleet.job({ reuse: 'fleet' });
    const controller = new AbortController();
    const running = job.perform(job.interceptor({}, controller.signal), CALL, server, {
      signal: controller.signal,
    });
    await server.arrived(1);
    return { job, running, abort: () => controller.abort(new Error('stopped')) };
  }

  const deferred = (server: MessagesApi) => {
    const job = fleet.job({ reuse: 'fleet' });
    const next = () => job.perform(job.interceptor({ shortWaitMs: 0 }), CALL, server);
    return { job, next };
  };

  it('is waited for, without a slot, and its answer serves the others', async () => {
    let answer: (reply: Reply) => void = () => undefined;
    const answered = new Promise<Reply>((resolve) => {
      answer = resolve;
    });
    api = await startMessagesApi({ reply: () => answered });
    const server = api;
    const { running } = await asking(server);
    const { job, next } = deferred(server);
    await expect(next()).rejects.toBeInstanceOf(CallDeferred);
    await expect(next()).rejects.toThrow('another job asks the same');
    answer(textReply('yes'));
    const { message } = await running;
    expect((await next()).message).toEqual(message);
    expect(server.requests).toHaveLength(1);
    expect(await fleet.client.hget(job.key, 'fleet:awaitsAnswerSince')).toBeNull();
    expect(await fleet.client.keys(`${fleet.prefix}::answer:*:under-way`)).toEqual([]);
  });

  it.each<[string, (asked: Awaited<ReturnType<typeof asking>>) => unknown]>([
    ['crashed', ({ job }) => job.lapse()],
    ['was taken over', ({ job }) => job.takeOver()],
    ['was removed', ({ job }) => job.remove()],
    [
      'was cancelled',
      async ({ job, running, abort }) => {
        abort();
        await running;
        await job.lapse();
      },
    ],
  ])('is made by the next one if its job %s', async (_, ends) => {
    const server = await answering({ kind: 'hang' }, textReply('yes'));
    const asked = await asking(server);
    const { next } = deferred(server);
    await expect(next()).rejects.toBeInstanceOf(CallDeferred);
    await ends(asked);
    expect((await next()).class).toBe('answered');
    expect(server.requests).toHaveLength(2);
    asked.abort();
    await asked.running.catch(() => undefined);
  });

  it('is waited for in the queue only once no other call of the job is under way: nobody would take its answer', async () => {
    const replies = new Map<string, (reply: Reply) => void>();
    api = await startMessagesApi({
      reply: ({ text }) => new Promise((resolve) => replies.set(text, resolve)),
    });
    const server = api;
    const { running } = await asking(server);
    const job = fleet.job({ reuse: 'fleet' });
    const interceptor = job.interceptor({ shortWaitMs: 0 });
    const order: string[] = [];
    const own = plannedCall('what else is wrong?', { step: 'review' });
    const review = job.perform(interceptor, own, server).then(() => order.push('answered'));
    await server.arrived(2);
    const waiting = expect(
      job.perform(interceptor, CALL, server).finally(() => order.push('deferred')),
    ).rejects.toBeInstanceOf(CallDeferred);
    await expect.poll(() => fleet.client.hget(job.key, 'fleet:awaitsAnswerSince')).not.toBeNull();
    replies.get(own.request.messages[0]?.content as string)?.(textReply('nothing'));
    await Promise.all([review, waiting]);
    expect(order).toEqual(['answered', 'deferred']);
    replies.get(CALL.request.messages[0]?.content as string)?.(textReply('yes'));
    await running;
    const next = job.interceptor();
    for (const call of [own, CALL]) expect((await job.perform(next, call, server)).class).toBe('answered');
    expect(server.requests).toHaveLength(2);
  });

  it('is waited for in the queue only once no other conversation of the job is under way: what did not fit is not recorded', async () => {
    const fit = jsonReply({ answers: [{ leakage_status: 'No Data Leakage', code_block: '' }] });
    const answerLater: ((reply: Reply) => void)[] = [];
    api = await startMessagesApi({
      reply: (_request, index) => (index < 2 ? new Promise((resolve) => answerLater.push(resolve)) : fit),
    });
    const server = api;
    const { running } = await asking(server);
    const job = fleet.job({ reuse: 'fleet' });
    const interceptor = job.interceptor({ shortWaitMs: 0 });
    const order: string[] = [];
    const review = runnerFor(server)
      .ask(
        {
          agent: new AgentConfig({ agentType: AgentType.leakage }),
          variables: { code: 'x = 1' },
          step: 'review',
          schema: LeakageDetectionOutputSchema,
        },
        { interceptors: [interceptor] },
      )
      .then(() => order.push('answered'));
    await server.arrived(2);
    // The only call of a conversation of its own.
    const end = interceptor.converse();
    const asked = job.perform(interceptor, CALL, server).finally(() => order.push('deferred'));
    const waiting = expect(asked.finally(end)).rejects.toBeInstanceOf(CallDeferred);
    await expect.poll(() => fleet.client.hget(job.key, 'fleet:awaitsAnswerSince')).not.toBeNull();
    answerLater[1]?.(textReply('This is no JSON.'));
    await Promise.all([review, waiting]);
    expect(order).toEqual(['answered', 'deferred']);
    expect(server.requests).toHaveLength(3);
    answerLater[0]?.(textReply('yes'));
    await running;
  });

  it('is waited for no longer than ten minutes', async () => {
    const server = await answering({ kind: 'hang' }, textReply('yes'));
    const { running, abort } = await asking(server);
    const { job, next } = deferred(server);
    await expect(next()).rejects.toBeInstanceOf(CallDeferred);
    const since = Number(await fleet.client.hget(job.key, 'fleet:awaitsAnswerSince'));
    await fleet.client.hset(job.key, 'fleet:awaitsAnswerSince', since - 600_000);
    expect((await next()).class).toBe('answered');
    expect(server.requests).toHaveLength(2);
    abort();
    await running;
  });
});

it('the server and the dialect are part of what decides an answer', () => {
  const servers = [
    sdkTransport({ apiKey: 'k', baseURL: 'http://one' }),
    sdkTransport({ apiKey: 'k', baseURL: 'http://two' }),
    chatTransport({ apiKey: 'k', baseURL: 'http://one' }),
    chatTransport({ apiKey: 'k', baseURL: 'http://one', format: 'json_object' }),
  ].map(({ server }) => server);
  expect(new Set(servers).size).toBe(servers.length);
  expect(sdkTransport({ apiKey: 'k', baseURL: 'http://one' }).server).toBe(servers[0]);
});
