/** How a call is retried after a transient failure. */
export interface RetryPolicy {
  /** How often at most, after the first time. */
  readonly retries: number;
  /** Longest first wait, in milliseconds; doubles every time. */
  readonly baseDelayMs: number;
  /** Longest wait by back-off. */
  readonly maxDelayMs: number;
  /** Longest wait that a server may ask for; a longer one is cut to this. */
  readonly maxRetryAfterMs: number;
}

/** Waits of at most 1, 2, 4 and 8 s: about 15 s in all, in which most overloads pass. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  retries: 4,
  baseDelayMs: 1_000,
  maxDelayMs: 30_000,
  maxRetryAfterMs: 60_000,
};

const HTTP_DATE = /^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i;

/**
 * Milliseconds that a `retry-after` header asks to wait, as seconds or as an HTTP date. Null for a value that
 * cannot be used: missing, text, zero, negative, or a date that has passed.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? '';
  let ms = Number.NaN;
  if (/^\d+(\.\d+)?$/.test(text)) ms = Number(text) * 1_000;
  else if (HTTP_DATE.test(text)) ms = Date.parse(text) - now;
  return ms > 0 ? ms : null;
}

/**
 * Milliseconds to wait before the retry with this number (from 1): what the server asked for plus up to a
 * tenth, so that callers do not all return at once; else exponential, between half and all of the step.
 *
 * @param random a number in [0, 1)
 */
export function retryDelay(
  policy: RetryPolicy,
  retry: number,
  retryAfterMs: number | null,
  random: number,
): number {
  if (retryAfterMs !== null) {
    return Math.round(Math.min(retryAfterMs, policy.maxRetryAfterMs) * (1 + random / 10));
  }
  const step = Math.min(policy.baseDelayMs * 2 ** (retry - 1), policy.maxDelayMs);
  return Math.round(step * (0.5 + random / 2));
}
