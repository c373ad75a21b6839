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
}

function headersOf(name: string): HeaderNames {
  return { limit: `anthropic-ratelimit-${name}-limit`, remaining: `anthropic-ratelimit-${name}-remaining` };
}

/** Headers of each dimension; the second of `input` is the older one for all tokens together. */
const HEADERS: Readonly<Record<Dimension, readonly HeaderNames[]>> = {
  requests: [headersOf('requests')],
  input: [headersOf('input-tokens'), headersOf('tokens')],
  output: [headersOf('output-tokens')],
};

/** What the `anthropic-ratelimit-*` headers of a response say; a value that is not a count is ignored. */
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
  const resets = Object.entries(headers).flatMap(([name, value]) => {
    const limit = /^anthropic-ratelimit-(.+)-reset$/.exec(name)?.[1];
    if (limit === undefined || count(headers[`anthropic-ratelimit-${limit}-remaining`]) !== 0) return [];
    const ms = Date.parse(value) - now;
    return ms > 0 && ms <= MAX_COOLDOWN_MS ? [ms] : [];
  });
  return resets.length === 0 ? undefined : Math.ceil(Math.max(...resets));
}
