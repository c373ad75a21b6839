import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LimitedProvider } from '../../bench/peers/limited-provider.js';
import type { MessageReply, RawReply, RecordedRequest, Reply } from '../support/messages-api.js';

const SYSTEM = 's'.repeat(3_700);

function request(bytes: number): RecordedRequest {
  const body = {
    model: 'claude-test',
    max_tokens: 100,
    system: [{ text: SYSTEM }],
    messages: [{ role: 'user', content: 'x'.repeat(bytes) }],
  };
  return { body, json: body, headers: {}, text: '', aborted: new Promise(() => undefined) };
}

function accepted(reply: Reply): reply is MessageReply {
  return reply.kind === 'message';
}

describe('the provider that enforces limits', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('lets through what its buckets hold, then what a minute allows, and no more', () => {
    const provider = new LimitedProvider({ requests: 600, inputTokens: 1e9, startSeconds: 1 });
    const burst = Array.from({ length: 30 }, () => accepted(provider.reply(request(10))));
    expect(burst.filter(Boolean)).toHaveLength(10);
    let passed = 0;
    for (let tick = 0; tick < 200; tick += 1) {
      vi.advanceTimersByTime(50);
      if (accepted(provider.reply(request(10)))) passed += 1;
    }
    expect(passed).toBeGreaterThanOrEqual(99);
    expect(passed).toBeLessThanOrEqual(100);
    expect(provider.calls).toHaveLength(230);
  });

  it('counts input tokens, those of the cached instructions only once', () => {
    const provider = new LimitedProvider({ requests: 1e6, inputTokens: 60_000, startSeconds: 5 });
    const first = provider.reply(request(370));
    const second = provider.reply(request(370));
    expect(accepted(first) && first.usage.cache_creation_input_tokens).toBeGreaterThan(1_000);
    expect(accepted(second) && second.usage).toMatchObject({ cache_creation_input_tokens: 0 });
    expect(provider.calls.map(({ tokens }) => tokens > 1_000)).toEqual([true, false]);
    const refused = provider.reply(request(37_000)) as RawReply;
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(5);
  });

  it('says in its headers what is left', () => {
    const provider = new LimitedProvider({ requests: 600, inputTokens: 600_000, startSeconds: 1 });
    const reply = provider.reply(request(37));
    expect(accepted(reply) && reply.headers).toMatchObject({
      'anthropic-ratelimit-requests-limit': '600',
      'anthropic-ratelimit-requests-remaining': '9',
      'anthropic-ratelimit-input-tokens-limit': '600000',
    });
  });
});
