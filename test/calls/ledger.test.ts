import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { costsOfDay } from '../../src/calls/budget/read-costs.js';
import type { PlannedCall } from '../../src/calls/call-interceptor.js';
import {
  cutAfter,
  errorReply,
  type MessagesApi,
  type Reply,
  refusalReply,
  resetReply,
  startMessagesApi,
  textReply,
  truncatedReply,
} from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { type FleetOfCalls, fleetOfCalls, type InterceptedTestJob, plannedCall } from './calling-job.js';

const redis = redisOfFile();
let fleet: FleetOfCalls;
let api: MessagesApi | undefined;

beforeEach(() => {
  fleet = fleetOfCalls(redis);
});
afterEach(async () => {
  await fleet.close();
  await closeApi();
});

async function answering(...replies: Reply[]): Promise<MessagesApi> {
  api = await startMessagesApi({ reply: replies });
  return api;
}

const CALL = plannedCall('is there a leak?');

/** A call that reached the server and whose worker then crashed. */
async function dieInMidCall(job: InterceptedTestJob, call: PlannedCall = CALL): Promise<void> {
  const interceptor = job.interceptor();
  await job.perform(interceptor, plannedCall('first'), await answering(textReply('ok')));
  await interceptor.admit(call);
  await closeApi();
}

async function closeApi(): Promise<void> {
  await api?.close();
  api = undefined;
}

describe('an answer', () => {
  it('is in the ledger before it is used, with what it was billed', async () => {
    const server = await answering(textReply('yes', { usage: { input_tokens: 1_000, output_tokens: 100 } }));
    const job = fleet.job();
    await job.perform(job.interceptor(), CALL, server);
    expect(await job.records()).toMatchObject([
      {
        step: 'detect',
        turn: 1,
        digest: CALL.digest,
        state: 'answered',
        sends: 1,
        end: { outcome: 'answered', costUsd: 0.003, tokens: { inputTokens: 1_000, outputTokens: 100 } },
      },
    ]);
  });

  it('is on record as sent while it is on its way', async () => {
    const server = await answering({ kind: 'hang' });
    const job = fleet.job();
    const controller = new AbortController();
    const running = job.perform(job.interceptor(), CALL, server, { signal: controller.signal });
    await server.arrived(1);
    expect(await job.records()).toMatchObject([{ state: 'sent' }]);
    controller.abort();
    await running;
  });

  it('is replayed by the next run of the job, also by one that took it over, and not asked again', async () => {
    const server = await answering(textReply('yes'));
    const job = fleet.job();
    const first = await job.perform(job.interceptor(), CALL, server);
    for (const takeOver of [false, true]) {
      if (takeOver) await job.takeOver();
      const reused: boolean[] = [];
      const outcome = await job.perform(job.interceptor(), CALL, server, {
        onOutcome: (_, isReused) => reused.push(isReused),
      });
      expect(outcome.message).toEqual(first.message);
      expect(reused).toEqual([true]);
    }
    expect(server.requests).toHaveLength(1);
  });

  it('is not replayed for another request, another question, or another number', async () => {
    const server = await answering(...Array.from({ length: 4 }, () => textReply('yes')));
    const job = fleet.job();
    await job.perform(job.interceptor(), CALL, server);
    const interceptor = job.interceptor();
    await job.perform(interceptor, plannedCall('something else'), server);
    await job.perform(interceptor, { ...CALL, step: 'correct-1' }, server);
    await job.perform(interceptor, { ...CALL, turn: 2 }, server);
    expect(server.requests).toHaveLength(4);
  });

  it('to a question that is asked twice in one run is another one each time, in every run', async () => {
    const server = await answering(textReply('one'), textReply('two'));
    const job = fleet.job();
    const texts: unknown[][] = [];
    for (let run = 0; run < 2; run += 1) {
      const interceptor = job.interceptor();
      const outcomes = [
        await job.perform(interceptor, CALL, server),
        await job.perform(interceptor, CALL, server),
      ];
      texts.push(outcomes.map(({ message }) => message?.content[0]?.text));
    }
    expect(texts).toEqual([
      ['one', 'two'],
      ['one', 'two'],
    ]);
    expect(server.requests).toHaveLength(2);
  });

  it.each<[string, Reply, string]>([
    ['truncated', truncatedReply('ye'), 'truncated'],
    ['refused', refusalReply(), 'refused'],
  ])('that is %s is kept for the record and never replayed', async (_, reply, outcome) => {
    const server = await answering(reply, textReply('yes'));
    const job = fleet.job();
    await job.perform(job.interceptor(), CALL, server);
    expect(await job.records()).toMatchObject([{ state: 'unusable', end: { outcome } }]);
    expect((await job.perform(job.interceptor(), CALL, server)).class).toBe('answered');
    expect((await job.records()).map(({ state }) => state)).toEqual(['unusable', 'answered']);
    expect(await fleet.client.hexists(job.key, 'fleet:ledger:1:answer')).toBe(1);
  });

  it('that does not fit the schema is never replayed', async () => {
    const server = await answering(textReply('nonsense'), textReply('yes'));
    const job = fleet.job();
    const checkAnswer = (): { class: 'schema-invalid'; detail: string } => ({
      class: 'schema-invalid',
      detail: '',
    });
    await job.perform(job.interceptor(), CALL, server, { checkAnswer });
    await job.perform(job.interceptor(), CALL, server);
    expect(server.requests).toHaveLength(2);
  });

  it('with any characters in it comes back as it was', async () => {
    const text = 'a\0b\u{1F600}\uD800 "\r\n\t\\';
    const server = await answering(textReply('yes'));
    const job = fleet.job();
    const interceptor = job.interceptor();
    await job.perform(interceptor, plannedCall('first'), server);
    await interceptor.admit(CALL);
    await interceptor.settle(CALL, {
      class: 'answered',
      detail: '',
      message: {
        id: undefined,
        model: 'claude-sonnet-5-5',
        content: [{ type: 'text', text }],
        stopReason: 'end_turn',
        refusal: undefined,
        tokens: {
          inputTokens: 1,
          outputTokens: 1,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
          cacheWrite1hTokens: 0,
        },
      },
    });
    expect((await job.interceptor().admit(CALL))?.message.content).toEqual([{ type: 'text', text }]);
  });

  it('is removed with the job: one that is submitted again under the same id sends its calls again', async () => {
    const server = await answering(textReply('yes'), textReply('again'));
    const job = fleet.job();
    await job.perform(job.interceptor(), CALL, server);
    await job.remove();
    expect(await job.records()).toEqual([]);
    await job.takeOver();
    await job.perform(job.interceptor(), CALL, server);
    expect(server.requests).toHaveLength(2);
  });
});

describe('a call in doubt', () => {
  it('is exactly one unknown call with its likely price; the successor sends it again', async () => {
    const job = fleet.job();
    await dieInMidCall(job);
    await job.takeOver();
    expect((await job.records()).map(({ state }) => state)).toEqual(['answered', 'in-doubt']);
    const server = await answering(textReply('yes'));
    const interceptor = job.interceptor();
    await job.perform(interceptor, CALL, server);
    expect(server.requests).toHaveLength(1);
    const records = await job.records();
    expect(records.map(({ state }) => state)).toEqual(['answered', 'in-doubt', 'answered']);
    expect(records[1]?.likelyUsd).toBeGreaterThan(0);
    expect(job.warnings.join()).toContain('is in doubt');
    const costs = await costsOfDay(fleet.client, fleet.prefix, Date.now());
    expect(costs).toMatchObject({ calls: 2, callsInDoubt: 1, callsUnderWay: 0, reservedUsd: 0 });
    expect(costs.inDoubtUsd).toBeCloseTo(records[1]?.likelyUsd ?? 0, 8);
  });

  it('shows in the costs before anybody has taken the job over, and reading them changes nothing', async () => {
    const job = fleet.job();
    await dieInMidCall(job);
    const read = () => costsOfDay(fleet.client, fleet.prefix, Date.now());
    expect(await read()).toMatchObject({ callsUnderWay: 1, callsInDoubt: 0 });
    await job.lapse();
    expect(await read()).toMatchObject({ callsUnderWay: 0, callsInDoubt: 1, reservedUsd: 0 });
    expect(await read()).toEqual(await read());
  });

  it('parks the job where a person shall decide, once; then it is sent again', async () => {
    const job = fleet.job();
    await dieInMidCall(job);
    await job.takeOver();
    const server = await answering(textReply('yes'));
    const parking = { callsInDoubt: 'park' } as const;
    await expect(job.perform(job.interceptor(parking), CALL, server)).rejects.toMatchObject({
      code: 'call-in-doubt',
    });
    expect(server.requests).toHaveLength(0);
    await job.perform(job.interceptor(parking), CALL, server);
    expect(server.requests).toHaveLength(1);
  });

  it('is also one whose connection broke after it was sent, and its repeat in place is counted', async () => {
    const server = await answering(resetReply, textReply('yes'));
    const job = fleet.job();
    await job.perform(job.interceptor(), CALL, server);
    expect((await job.records()).map(({ state }) => state)).toEqual(['in-doubt', 'answered']);
  });

  it('is not one that was turned away, nor one that found no server', async () => {
    const server = await answering(errorReply(500), errorReply(500), textReply('yes'));
    const job = fleet.job();
    await job.perform(job.interceptor(), CALL, server);
    expect(await job.records()).toMatchObject([{ state: 'answered', sends: 3 }]);
    await closeApi();
    const away = await answering();
    await closeApi();
    const other = plannedCall('nobody hears');
    expect((await job.perform(job.interceptor(), other, away)).class).toBe('unreachable');
    expect((await job.records()).at(-1)).toMatchObject({ state: 'failed', sends: 5 });
  });

  it('is not one that broke off after the provider had said what it costs: that is paid', async () => {
    const server = await answering(cutAfter(textReply('yes'), 3), textReply('yes'));
    const job = fleet.job();
    await job.perform(job.interceptor(), CALL, server);
    expect(await job.records()).toMatchObject([
      { state: 'failed', end: { outcome: 'incomplete', tokens: { inputTokens: 100 } } },
      { state: 'answered' },
    ]);
  });
});

describe('a worker that lost its job', () => {
  it('writes neither answer nor cost, and gets an error', async () => {
    const server = await answering(textReply('late'), textReply('yes'));
    const job = fleet.job();
    const interceptor = job.interceptor();
    await job.perform(interceptor, plannedCall('first'), server);
    await interceptor.admit(CALL);
    await job.takeOver();
    await job.interceptor().admit(plannedCall('successor'));
    const before = await fleet.client.hgetall(job.key);
    const costs = await costsOfDay(fleet.client, fleet.prefix, Date.now());
    const outcome = { class: 'refused', detail: '' } as const;
    await expect(interceptor.settle(CALL, outcome)).rejects.toMatchObject({ code: 'lock-lost' });
    expect(await fleet.client.hgetall(job.key)).toEqual(before);
    expect(await costsOfDay(fleet.client, fleet.prefix, Date.now())).toEqual(costs);
  });

  it('writes nothing either before its successor has begun, or after that has ended', async () => {
    const server = await answering(textReply('ok'), textReply('ok'));
    const outcome = { class: 'bad-request', detail: '', status: 400 } as const;
    for (const ended of [false, true]) {
      const job = fleet.job();
      const interceptor = job.interceptor();
      await job.perform(interceptor, plannedCall('first'), server);
      await interceptor.admit(CALL);
      await job.takeOver();
      if (ended) {
        await job.interceptor().admit(plannedCall('first'));
        await job.lapse();
      }
      const before = await fleet.client.hgetall(job.key);
      await expect(interceptor.settle(CALL, outcome)).rejects.toMatchObject({ code: 'lock-lost' });
      expect(await fleet.client.hgetall(job.key)).toEqual(before);
    }
  });

  it('sends nothing any more', async () => {
    const server = await answering();
    const job = fleet.job();
    const interceptor = job.interceptor();
    await job.takeOver();
    await expect(job.perform(interceptor, CALL, server)).rejects.toMatchObject({ code: 'lock-lost' });
    expect(server.requests).toHaveLength(0);
  });

  it('still writes an answer that it paid for when nobody has taken the job yet', async () => {
    const server = await answering({ ...textReply('yes'), delayMs: 100 });
    const job = fleet.job();
    const running = job.perform(job.interceptor(), CALL, server);
    await server.arrived(1);
    await job.lapse();
    const { message } = await running;
    await job.takeOver();
    expect((await job.perform(job.interceptor(), CALL, server)).message).toEqual(message);
    expect(server.requests).toHaveLength(1);
  });
});

it('leaves no listener on the signal of a job, however many calls it sends', async () => {
  const server = await answering(...Array.from({ length: 50 }, () => textReply('yes')));
  const job = fleet.job();
  const { signal } = new AbortController();
  const interceptor = job.interceptor({}, signal);
  for (let turn = 1; turn <= 50; turn += 1)
    await job.perform(interceptor, { ...CALL, turn }, server, { signal });
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});
