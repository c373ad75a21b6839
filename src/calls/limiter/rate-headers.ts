import { parseRetryAfter } from '../retry-policy.js';

type Headers = Readonly<Record<string, string>>;

/** One of the provider's limits, per minute: how much in all, how much is left. */
export interface LearnedLimit {
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
}

/** In the order of the limiter's buckets. */
export const DIMENSIONS = ['requests', 'input', 'output'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

interface HeaderNames {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

/** Headers of the Messages API. */
function messagesHeaders(name: string): HeaderNames {
  const header = (field: string) => `anthropic-ratelimit-${name}-${field}`;
  return { limit: header('limit'), remaining: header('remaining'), reset: header('reset') };
}

/** Headers of the Chat Completions API; it has one limit for all tokens together. */
function chatHeaders(name: string): HeaderNames {
  const header = (field: string) => `x-ratelimit-${field}-${name}`;
  return { limit: header('limit'), remaining: header('remaining'), reset: header('reset') };
}

/** Headers of each dimension; the second of `input` is the older one for all tokens together. */
const HEADERS: Readonly<Record<Dimension, readonly HeaderNames[]>> = {
  requests: [messagesHeaders('requests'), chatHeaders('requests')],
  input: [messagesHeaders('input-tokens'), messagesHeaders('tokens'), chatHeaders('tokens')],
  output: [messagesHeaders('output-tokens')],
};
const ALL_HEADERS = DIMENSIONS.flatMap((dimension) => HEADERS[dimension]);

/** What the rate limit headers of a response say; a value that is not a count is ignored. */
export function learnedLimits(headers: Headers): Readonly<Record<Dimension, LearnedLimit>> {
  const learned = (dimension: Dimension): LearnedLimit => {
    const named = HEADERS[dimension].find(({ limit }) => headers[limit] !== undefined);
    if (named === undefined) return { limit: undefined, remaining: undefined };
    const limit = count(headers[named.limit]);
    return { limit: limit === 0 ? undefined : limit, remaining: count(headers[named.remaining]) };
  };
  return { requests: learned('requests'), input: learned('input'), output: learned('output') };
}

function count(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;
}

/** Longest time for which a provider can block a model, in milliseconds: quotas of a month are the longest there are. */
export const MAX_COOLDOWN_MS = 31 * 86_400_000;

/**
 * How long the provider asks a rejected caller to wait, in milliseconds: what `retry-after` says, else the last reset of a
 * limit that has nothing left. Undefined if neither can be used: then the caller backs off by itself. A time beyond the
 * longest quota is not used: one such answer would block the model for the whole fleet.
 */
export function cooldownMs(headers: Headers, now: number): number | undefined {
  const retryAfterMs = parseRetryAfter(headers['retry-after'], now);
  if (retryAfterMs !== null && retryAfterMs <= MAX_COOLDOWN_MS) return Math.ceil(retryAfterMs);
  const resets = ALL_HEADERS.flatMap(({ remaining, reset }) => {
    if (count(headers[remaining]) !== 0) return [];
    const ms = resetMs(headers[reset] ?? '', now);
    return ms > 0 && ms <= MAX_COOLDOWN_MS ? [ms] : [];
  });
  return resets.length === 0 ? undefined : Math.ceil(Math.max(...resets));
}

const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** Milliseconds until a limit is reset, from a date or from a duration as in `6m0.5s`; NaN for any other text. */
function resetMs(text: string, now: number): number {
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[dhms]))+$/.test(text)) return Date.parse(text) - now;
  const parts = [...text.matchAll(/(\d{1,9}(?:\.\d{1,9})?)(ms|[dhms])/g)];
  return parts.reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (UNIT_MS[unit] ?? Number.NaN),
    0,
  );
}
