import type { TokenCounts } from './message.js';
import type { CallOutcome } from './outcome.js';
import { type ModelPrices, PRICE_LIST, type PriceList } from './prices.js';

/** What a call in a batch costs, as a fraction of the price. */
export const BATCH_PRICE = 0.5;

/** Prices of a model id, also of a dated one (`claude-haiku-4-5-20251001`, `gpt-5-2026-01-31`). */
export function pricesOf(model: string, own: PriceList = {}): ModelPrices | null {
  const configured = pricesIn(own, model);
  return configured === undefined ? (pricesIn(PRICE_LIST.models, model) ?? null) : configured;
}

function pricesIn(list: PriceList, model: string): ModelPrices | null | undefined {
  const undated = model.replace(/-\d{4}-?\d{2}-?\d{2}$/, '');
  const name = [model, undated].find((known) => Object.hasOwn(list, known));
  return name === undefined ? undefined : list[name];
}

/**
 * Cost of ONE call in US dollars; null for a model without a known price. Counts of several calls must not be
 * added first: the price of some models depends on the length of the prompt.
 */
export function costOf(model: string, tokens: TokenCounts, own?: PriceList): number | null {
  const list = pricesOf(model, own);
  return list === null ? null : costAt(list, tokens);
}

/**
 * Cost of a call by its outcome; undefined if nothing was billed, null if it is not known: the model has no known price,
 * or the counts leave out the prompt or the answer.
 *
 * @param model the requested model; the price is that of the model that answered
 * @param own prices of the configuration, which come before those of the list
 */
export function costOfOutcome(
  outcome: CallOutcome,
  model: string,
  own?: PriceList,
): number | null | undefined {
  const { tokens, message } = outcome;
  if (tokens === undefined) return undefined;
  const list = pricesOf(pricedModel(message?.model, model, own), own);
  if (list === null) return null;
  return countsAll(outcome, tokens) || isFree(list) ? costAt(list, tokens) * priceFactor(outcome) : null;
}

/**
 * What budgets count for a call whose cost is not known: its tokens at the highest price listed; undefined if the
 * provider did not count these either.
 */
export function assumedCostOf(outcome: CallOutcome, own: PriceList = {}): number | undefined {
  const { tokens } = outcome;
  if (tokens === undefined || !countsAll(outcome, tokens)) return undefined;
  return Math.max(...allPrices(own).map((list) => costAt(list, tokens))) * priceFactor(outcome);
}

function priceFactor({ inBatch }: CallOutcome): number {
  return inBatch ? BATCH_PRICE : 1;
}

export function allPrices(own: PriceList): ModelPrices[] {
  return [PRICE_LIST.models, own].flatMap((list) => Object.values(list)).filter((list) => list !== null);
}

/**
 * The model whose price counts: the one that answered. A server of one's own may answer with a name of its own; then the
 * configured price of the requested model counts.
 */
export function pricedModel(answered: string | undefined, requested: string, own: PriceList = {}): string {
  if (answered === undefined) return requested;
  return pricesOf(answered, own) === null && pricesIn(own, requested) != null ? requested : answered;
}

/** What costs nothing does so whatever was counted: not every server of one's own counts. */
function isFree(list: ModelPrices): boolean {
  return Object.values(list).every((price) => price === 0);
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
