import type { TokenCounts } from './message.js';
import type { CallOutcome } from './outcome.js';
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
  return list === null ? null : costAt(list, tokens);
}

/**
 * Cost of a call by its outcome; undefined if nothing was billed, null if it is not known: the model has no known price,
 * or the counts leave out the prompt or the answer.
 *
 * @param model the requested model; the price is that of the model that answered
 */
export function costOfOutcome(outcome: CallOutcome, model: string): number | null | undefined {
  const { tokens, message } = outcome;
  if (tokens === undefined) return undefined;
  return countsAll(outcome, tokens) ? costOf(message?.model ?? model, tokens) : null;
}

/**
 * What budgets count for a call whose cost is not known: its tokens at the highest price listed; undefined if the
 * provider did not count these either.
 */
export function assumedCostOf(outcome: CallOutcome): number | undefined {
  const { tokens } = outcome;
  if (tokens === undefined || !countsAll(outcome, tokens)) return undefined;
  return Math.max(...Object.values(PRICE_LIST.models).map((list) => costAt(list, tokens)));
}

/** A request is never empty; nor is an answer that has content. */
function countsAll({ message }: CallOutcome, tokens: TokenCounts): boolean {
  const saysSomething = message !== undefined && message.content.length > 0;
  return promptTokens(tokens) > 0 && (tokens.outputTokens > 0 || !saysSomething);
}

function promptTokens({ inputTokens, cacheReadTokens, cacheWriteTokens }: TokenCounts): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}

function costAt(list: ModelPrices, tokens: TokenCounts): number {
  const prompt = promptTokens(tokens);
  const price = list.longPrompt && prompt > list.longPrompt.above ? list.longPrompt : list;
  const perMillion =
    tokens.inputTokens * price.input +
    tokens.outputTokens * price.output +
    tokens.cacheReadTokens * price.cacheRead +
    (tokens.cacheWriteTokens - tokens.cacheWrite1hTokens) * price.cacheWrite +
    tokens.cacheWrite1hTokens * price.cacheWrite1h;
  return perMillion / 1_000_000;
}
