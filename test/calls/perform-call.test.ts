import { afterEach, describe, expect, it } from 'vitest';
import type { CallInterceptor, PlannedCall } from '../../src/calls/call-interceptor.js';
import { receivedMessage } from '../../src/calls/message.js';
import type { CallOutcome } from '../../src/calls/outcome.js';
import { type CallHooks, performCall } from '../../src/calls/perform-call.js';
import { DEFAULT_RETRY_POLICY } from '../../src/calls/retry-policy.js';
import { sdkTransport } from '../../src/calls/sdk-transport.js';
import { DEFAULT_CALL_LIMITS } from '../../src/calls/send-call.js';
import { HastyClock, ManualClock } from '../support/manual-clock.js';
import {
  cutAfter,
  errorReply,
  htmlReply,
  type MessagesApi,
  overloadedReply,
  type Reply,
  rateLimitReply,
  resetReply,
  startMessagesApi,
  textReply,
} from '../support/messages-api.js';

const CALL: PlannedCall = {
  step: 'detect',
  turn: 1,
  model: 'claude-sonnet-5-5',
  request: { model: 'claude-sonnet-5-5', max_tokens: 10, messages: [{ role: 'user', content: 'hello' }] },
  digest: 'd',
};

let api: MessagesApi;
afterEach(() => api.close());

async function perform(replies: readonly Reply[], hooks: CallHooks = {}, clock = new HastyClock()) {
  api = await startMessagesApi({ reply: replies });
  const transport = sdkTransport({ apiKey: 'k', baseURL: api.url });
  const settings = {
    transport,
    limits: DEFAULT_CALL_LIMITS,
    retry: DEFAULT_RETRY_POLICY,
    clock,
    random: () => 0,
  };
  return {
    outcome: await performCall(CALL, settings, hooks),
    requests: api.requests.length,
    waits: clock.waits,
  };
}

describe('a failure in passing is tried again in place', () => {
  it.each<[string, Reply]>([
    ['429', rateLimitReply()],
    ['500', errorReply(500)],
    ['529', overloadedReply()],
    ['408', errorReply(408)],
    ['a reset', resetReply],
    ['a stream without its end', cutAfter(textReply('hi'), 3)],
    ['a page of a proxy', htmlReply(200)],
  ])('%s', async (_, failure) => {
    const { outcome, requests } = await perform([failure, textReply('hi')]);
    expect(outcome.class).toBe('answered');
    expect(requests).toBe(2);
  });

  it('at most four times, with growing waits', async () => {
    const { outcome, requests, waits } = await perform(Array.from({ length: 6 }, overloadedReply));
    expect(outcome.class).toBe('overloaded');
    expect(requests).toBe(5);
    expect(waits).toEqual([500, 1_000, 2_000, 4_000]);
  });

  it('a usable retry-after is obeyed up to a cap, any other is ignored', async () => {
    const asked = ['7', '-1', 'soon', '864000'];
    const { waits } = await perform([...asked.map((value) => rateLimitReply(value)), textReply('hi')]);
    expect(waits).toEqual([7_000, 1_000, 2_000, 60_000]);
  });

  it('not where the server says that trying again is useless', async () => {
    const spent = errorReply(429, 'spend limit reached', { 'x-should-retry': 'false' });
    const { outcome, requests } = await perform([spent, textReply('hi')]);
    expect(outcome.class).toBe('rate-limited');
    expect(requests).toBe(1);
  });

  it.each<[string, Reply]>([
    ['400', errorReply(400)],
    ['401', errorReply(401)],
    ['404', errorReply(404)],
    ['413', errorReply(413)],
  ])('never after %s', async (_, failure) => {
    const { requests } = await perform([failure, textReply('hi')]);
    expect(requests).toBe(1);
  });

  it('and a wait ends at once when the call is cancelled', async () => {
    api = await startMessagesApi({ reply: [rateLimitReply('50')] });
    const clock = new ManualClock();
    const controller = new AbortController();
    const transport = sdkTransport({ apiKey: 'k', baseURL: api.url });
    const running = performCall(
      CALL,
      { transport, limits: DEFAULT_CALL_LIMITS, retry: DEFAULT_RETRY_POLICY, clock, random: () => 0 },
      { signal: controller.signal },
    );
    await clock.armed(50_000);
    controller.abort();
    expect((await running).class).toBe('cancelled');
    expect(clock.pending).toBe(0);
  });
});

describe('interceptors', () => {
  function spy(name: string, log: string[], interceptor: Partial<CallInterceptor> = {}): CallInterceptor {
    return {
      name,
      admit: async () => {
        log.push(`${name} admit`);
        return undefined;
      },
      record: async () => {
        log.push(`${name} record`);
      },
      settle: async (_, outcome: CallOutcome) => {
        log.push(`${name} settle ${outcome.class}`);
      },
      release: async () => {
        log.push(`${name} release`);
      },
      ...interceptor,
    };
  }

  it('are passed for each sending: admit, record, send, settle in reverse', async () => {
    const log: string[] = [];
    await perform([overloadedReply(), textReply('hi')], { interceptors: [spy('a', log), spy('b', log)] });
    const pass = (outcome: string) => [
      'a admit',
      'b admit',
      'a record',
      'b record',
      `b settle ${outcome}`,
      `a settle ${outcome}`,
    ];
    expect(log).toEqual([...pass('overloaded'), ...pass('answered')]);
  });

  it('an interceptor that refuses stops the call, and what was admitted before is taken back', async () => {
    const log: string[] = [];
    const refuse = spy('b', log, { admit: () => Promise.reject(new Error('over budget')) });
    await expect(
      perform([textReply('hi')], { interceptors: [spy('a', log), refuse, spy('c', log)] }),
    ).rejects.toThrow('over budget');
    expect(log).toEqual(['a admit', 'a release']);
    expect(api.requests).toHaveLength(0);
  });

  it('a kept answer is used without sending, and counted as reused', async () => {
    const log: string[] = [];
    const kept = receivedMessage({
      type: 'message',
      content: [{ type: 'text', text: 'kept' }],
      stop_reason: 'end_turn',
    });
    const ledger = spy('ledger', log, { admit: async () => (kept ? { message: kept } : undefined) });
    const reused: boolean[] = [];
    const { outcome, requests } = await perform([], {
      interceptors: [ledger],
      onOutcome: (_, isReused) => reused.push(isReused),
    });
    expect(outcome).toMatchObject({ class: 'answered', message: kept });
    expect(requests).toBe(0);
    expect(reused).toEqual([true]);
    expect(log).toEqual([]);
  });

  it('an answer that fails the check reaches the interceptors as unusable', async () => {
    const log: string[] = [];
    await perform([textReply('nonsense')], {
      interceptors: [spy('a', log)],
      checkAnswer: () => ({ class: 'schema-invalid', detail: 'no JSON' }),
    });
    expect(log).toContain('a settle schema-invalid');
  });
});
