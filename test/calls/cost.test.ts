import { describe, expect, it } from 'vitest';
import { costOf, pricesOf } from '../../src/calls/cost.js';
import { PRICE_LIST } from '../../src/calls/prices.js';

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

it('the price list has a date and a source', () => {
  expect(PRICE_LIST.asOf).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(PRICE_LIST.source).toMatch(/^https:/);
});
