import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages';
import { describe, expect, it } from 'vitest';
import type { PlannedCall } from '../../src/calls/call-interceptor.js';
import { cachedPrefix } from '../../src/calls/prompt-cache/cached-prefix.js';
import { plannedCall } from './calling-job.js';

type Request = Partial<MessageCreateParamsNonStreaming>;

const EPHEMERAL = { type: 'ephemeral' } as const;
/** As many tokens as that, if each has as many bytes as a token of English text at least has. */
const tokens = (count: number) => 'abc'.repeat(count);
const instructions = (text: string, cacheControl: object = EPHEMERAL): Request => ({
  system: [{ type: 'text', text, cache_control: cacheControl as typeof EPHEMERAL }],
});
const tool = (description: string) => ({
  name: 'Read',
  description,
  input_schema: { type: 'object' as const },
});

function prefixOf(request: Request, options: Partial<PlannedCall> = {}, text = 'a script') {
  const call = plannedCall(text, options);
  return cachedPrefix({ ...call, request: { ...call.request, ...request } });
}

describe('the prefix that the provider caches', () => {
  it.each<[string, Request, Partial<PlannedCall>]>([
    ['no instructions', {}, {}],
    ['instructions without a breakpoint', { system: tokens(5_000) }, {}],
    ['no breakpoint in any block', { system: [{ type: 'text', text: tokens(5_000) }] }, {}],
    ['short instructions', instructions(tokens(900)), {}],
    ['too few for Opus 4.6', instructions(tokens(4_000)), { model: 'claude-opus-4-6' }],
    [
      'too few for Haiku 4.5 by its dated name',
      instructions(tokens(4_000)),
      { model: 'claude-haiku-4-5-20251001' },
    ],
    ['too few for Haiku 3.5', instructions(tokens(1_900)), { model: 'claude-3-5-haiku-20241022' }],
    ['too few for any model', instructions(tokens(980)), { model: 'claude-next-9' }],
    ['a provider without breakpoints', instructions(tokens(5_000)), { provider: 'openai' }],
  ])('is none with %s', (_, request, options) => {
    expect(prefixOf(request, options)).toBeUndefined();
  });

  it.each<[string, Request, Partial<PlannedCall>]>([
    ['long instructions', instructions(tokens(1_100)), {}],
    ['tools that make it long', { ...instructions(tokens(600)), tools: [tool(tokens(600))] }, {}],
    [
      'a breakpoint after the tools alone',
      { tools: [{ ...tool(tokens(1_100)), cache_control: EPHEMERAL }] },
      {},
    ],
    ['enough for Opus 4.6', instructions(tokens(4_200)), { model: 'claude-opus-4-6' }],
    ['enough for a model that is not listed', instructions(tokens(1_100)), { model: 'claude-next-9' }],
  ])('is one with %s', (_, request, options) => {
    expect(prefixOf(request, options)).toMatchObject({ ttlMs: 300_000 });
  });

  it('is kept for an hour where the breakpoint says so', () => {
    const request = instructions(tokens(2_000), { type: 'ephemeral', ttl: '1h' });
    expect(prefixOf(request)?.ttlMs).toBe(3_600_000);
  });

  const base = instructions(tokens(2_000));
  const digest = prefixOf(base)?.digest;

  it.each<[string, Request, Partial<PlannedCall>, string]>([
    ['another script', base, {}, 'another script'],
    ['a later turn', { ...base, messages: [{ role: 'user', content: 'and then?' }] }, { turn: 2 }, ''],
    [
      'text after the breakpoint',
      { system: [...(base.system as []), { type: 'text', text: 'more' }] },
      {},
      '',
    ],
    ['another limit of tokens', { ...base, max_tokens: 5 }, {}, ''],
  ])('is the same with %s', (_, request, options, text) => {
    expect(prefixOf(request, options, text)?.digest).toBe(digest);
  });

  it.each<[string, Request, Partial<PlannedCall>]>([
    ['other instructions', instructions(`${tokens(2_000)}.`), {}],
    ['another model', base, { model: 'claude-sonnet-5' }],
    ['tools', { ...base, tools: [tool('')] }, {}],
    [
      'another format of the answer',
      { ...base, output_config: { format: { type: 'json_schema', schema: {} } } },
      {},
    ],
  ])('is another one with %s', (_, request, options) => {
    const other = prefixOf(request, options)?.digest;
    expect(other).toBeDefined();
    expect(other).not.toBe(digest);
  });
});
