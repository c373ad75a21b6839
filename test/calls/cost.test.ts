import { describe, expect, it } from 'vitest';
import { costOf, costOfOutcome, pricesOf } from '../../src/calls/cost.js';
import type { TokenCounts } from '../../src/calls/message.js';
import type { CallOutcome } from '../../src/calls/outcome.js';
import { PRICE_LIST, priceListOf } from '../../src/calls/prices.js';

const NONE = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
};
const MILLION = 1_000_000;

describe('costOf', () => {
  it.each([
    ['input', { inputTokens: MILLION }, 4],
    ['output', { outputTokens: MILLION }, 20],
    ['cache reads', { cacheReadTokens: MILLION }, 0.2],
    ['cache writes for five minutes', { cacheWriteTokens: MILLION }, 5],
    ['cache writes for an hour', { cacheWriteTokens: MILLION, cacheWrite1hTokens: MILLION }, 8],
  ])('has a price for %s', (_, tokens, dollars) => {
    expect(costOf('claude-opus-5-5', { ...NONE, ...tokens })).toBeCloseTo(dollars, 9);
  });

  it('takes the price of long prompts for every token, cached ones counted in', () => {
    const short = { ...NONE, inputTokens: 60_000, cacheReadTokens: 40_000, outputTokens: 1_000 };
    expect(costOf('claude-haiku-5-5', short)).toBeCloseTo(
      (60_000 * 0.1 + 40_000 * 0.01 + 1_000 * 0.5) / MILLION,
      12,
    );
    const long = { ...short, inputTokens: 60_001 };
    expect(costOf('claude-haiku-5-5', long)).toBeCloseTo(
      (60_001 * 0.5 + 40_000 * 0.05 + 1_000 * 2.5) / MILLION,
      12,
    );
  });

  it('knows dated ids', () => {
    expect(pricesOf('claude-haiku-4-5-20251001')).toBe(PRICE_LIST.models['claude-haiku-4-5']);
  });

  it.each(['my-own-model', 'claude-opus-5-5-turbo', 'constructor', ''])(
    'is null, not a guess, for %j',
    (model) => {
      expect(costOf(model, { ...NONE, inputTokens: 1 })).toBeNull();
    },
  );
});

describe('the cost of an answer', () => {
  const own = priceListOf({ 'our-model': { input: 2, output: 10 }, free: { input: 0, output: 0 } });
  const outcome = (model: string, tokens: Partial<TokenCounts>): CallOutcome => {
    const content = [{ type: 'text', text: 'yes' }];
    const counted = { ...NONE, ...tokens };
    const message = { id: 'a', model, content, stopReason: 'end_turn', refusal: undefined, tokens: counted };
    return { class: 'answered', detail: '', message, tokens: counted };
  };
  const counted = { inputTokens: 1_000, outputTokens: 100 };

  it.each([
    ['the requested model, if the server has a name of its own', 'served-name', 'our-model', 0.003],
    ['the same for a dated name of it', 'served-name', 'our-model-2026-01-31', 0.003],
    ['the model that answered, if its price is known', 'claude-haiku-4-5', 'our-model', 0.0015],
    ['no model, if none has a known price', 'served-name', 'other', null],
  ])('is by the price of %s', (_, answered, requested, usd) => {
    const cost = costOfOutcome(outcome(answered, counted), requested, own);
    if (usd === null) expect(cost).toBeNull();
    else expect(cost).toBeCloseTo(usd, 12);
  });

  it('is not known without counts, unless the model is free', () => {
    expect(costOfOutcome(outcome('our-model', {}), 'our-model', own)).toBeNull();
    expect(costOfOutcome(outcome('free', {}), 'free', own)).toBe(0);
  });
});

it('the price list has a date and a source', () => {
  expect(PRICE_LIST.asOf).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(PRICE_LIST.source).toMatch(/^https:/);
});
