import { allPrices, pricesOf } from '../cost.js';
import type { ModelPrices, PriceList, TokenPrices } from '../prices.js';
import type { CallRequest } from '../transport.js';

/** Instructions that the provider adds to a request: for tools, for structured output. */
const ADDED_TOKENS = 1_000;
/** English text and code have about four bytes a token. */
const BYTES_A_TOKEN = 4;
/** What an answer of the fleet's agents usually has, thinking included. */
const USUAL_ANSWER_TOKENS = 2_000;

const NANO = 1_000_000_000;

export interface CallEstimate {
  /** More than the call can cost, in nano-dollars; for a model without a known price at the highest price listed. */
  readonly maxNano: number;
  /** What it will probably cost, in nano-dollars; 0 for a model without a known price. */
  readonly likelyNano: number;
  /** The same in US dollars; null for a model without a known price. */
  readonly likelyUsd: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** US dollars as whole nano-dollars: the unit in which sums are kept. */
export function toNano(usd: number): number {
  return Math.round(usd * NANO);
}

export function fromNano(nano: number): number {
  return nano / NANO;
}

/**
 * What a request may cost before it is sent. A token has at least one byte, so the bytes of the request bound its
 * input, and `max_tokens` its output.
 *
 * @param own prices of the configuration
 */
export function estimateCall(request: CallRequest, own: PriceList = {}): CallEstimate {
  const bytes = Buffer.byteLength(JSON.stringify(request), 'utf8');
  const inputTokens = Math.ceil(bytes / BYTES_A_TOKEN);
  const outputTokens = Math.min(request.max_tokens, USUAL_ANSWER_TOKENS);
  const known = pricesOf(request.model, own);
  const likelyUsd = known === null ? null : price(known, 'input', inputTokens, outputTokens);
  return {
    maxNano: Math.max(
      1,
      Math.ceil(
        maxUsd(known === null ? allPrices(own) : [known], bytes + ADDED_TOKENS, request.max_tokens) * NANO,
      ),
    ),
    likelyNano: toNano(likelyUsd ?? 0),
    likelyUsd,
    inputTokens,
    outputTokens,
  };
}

function maxUsd(lists: readonly ModelPrices[], inputTokens: number, outputTokens: number): number {
  const tiers = lists.flatMap((list): TokenPrices[] => (list.longPrompt ? [list, list.longPrompt] : [list]));
  return Math.max(...tiers.map((tier) => price(tier, 'cacheWrite1h', inputTokens, outputTokens)));
}

function price(
  list: TokenPrices,
  input: keyof TokenPrices,
  inputTokens: number,
  outputTokens: number,
): number {
  return (inputTokens * list[input] + outputTokens * list.output) / 1_000_000;
}
