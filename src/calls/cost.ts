import type { TokenCounts } from './message.js';
import { type ModelPrices, PRICE_LIST } from './prices.js';

/** Prices of a model id, also of a dated one (`claude-haiku-4-5-20251001`). */
export function pricesOf(model: string): ModelPrices | null {
  const undated = model.replace(/-\d{8}$/, '');
  return Object.hasOwn(PRICE_LIST.models, undated) ? (PRICE_LIST.models[undated] ?? null) : null;
}

/**
 * Cost of ONE call in US dollars; null for a model without a known price. Counts of several calls must not be
 * added first: the price of some models depends on the length of the prompt.
 */
export function costOf(model: string, tokens: TokenCounts): number | null {
  const list = pricesOf(model);
  if (!list) return null;
  const prompt = tokens.inputTokens + tokens.cacheReadTokens + tokens.cacheWriteTokens;
  const price = list.longPrompt && prompt > list.longPrompt.above ? list.longPrompt : list;
  const perMillion =
    tokens.inputTokens * price.input +
    tokens.outputTokens * price.output +
    tokens.cacheReadTokens * price.cacheRead +
    (tokens.cacheWriteTokens - tokens.cacheWrite1hTokens) * price.cacheWrite +
    tokens.cacheWrite1hTokens * price.cacheWrite1h;
  return perMillion / 1_000_000;
}
