import { randomUUID } from 'node:crypto';
import { leaks } from '../../test/support/agent-answers.js';
import { type RecordedRequest, type Reply, rateLimitReply } from '../../test/support/messages-api.js';

export interface ProviderLimits {
  /** Calls and input tokens per minute. */
  readonly requests: number;
  readonly inputTokens: number;
  /** Seconds of allowance that the buckets hold at the first call: a busy hour leaves little. */
  readonly startSeconds: number;
}

/** One call as the provider received it. */
export interface SeenCall {
  /** Milliseconds since the first call. */
  readonly at: number;
  readonly tokens: number;
  readonly accepted: boolean;
}

/** Bytes of English and code per token here: different from the estimate of a client. */
const BYTES_A_TOKEN = 3.7;

/** A token bucket as the provider describes its own: it fills continuously, up to the limit of a minute. */
class Bucket {
  level: number;
  #at = performance.now();

  constructor(
    readonly limit: number,
    startSeconds: number,
  ) {
    this.level = (limit / 60) * startSeconds;
  }

  /** Milliseconds until the bucket has so much; 0 if it has. */
  wait(amount: number, now: number): number {
    this.level = Math.min(this.limit, this.level + ((now - this.#at) * this.limit) / 60_000);
    this.#at = now;
    return Math.max(0, ((amount - this.level) * 60_000) / this.limit);
  }
}

/**
 * Enforces the limits of a model. A call takes one request and its input tokens, without those read from the prompt cache, or
 * is rejected with the time after which it may be sent again.
 */
export class LimitedProvider {
  readonly calls: SeenCall[] = [];
  readonly #limits: ProviderLimits;
  readonly #cached = new Set<string>();
  #buckets: { readonly requests: Bucket; readonly tokens: Bucket } | undefined;
  #start = 0;

  constructor(limits: ProviderLimits) {
    this.#limits = limits;
  }

  reply({ body }: RecordedRequest): Reply {
    const now = performance.now();
    if (this.#buckets === undefined) {
      const { requests, inputTokens, startSeconds } = this.#limits;
      this.#buckets = {
        requests: new Bucket(requests, startSeconds),
        tokens: new Bucket(inputTokens, startSeconds),
      };
      this.#start = now;
    }
    const { requests, tokens } = this.#buckets;
    const system = JSON.stringify(body.system ?? '');
    const cached = this.#cached.has(system);
    const systemTokens = tokensOf(system);
    const messageTokens = tokensOf(JSON.stringify(body.messages));
    const charged = messageTokens + (cached ? 0 : systemTokens);
    const wait = Math.max(requests.wait(1, now), tokens.wait(charged, now));
    this.calls.push({ at: now - this.#start, tokens: charged, accepted: wait === 0 });
    if (wait > 0) {
      return { ...rateLimitReply(String(Math.max(1, Math.ceil(wait / 1_000)))), ...this.#delay(charged) };
    }
    requests.level -= 1;
    tokens.level -= charged;
    this.#cached.add(system);
    return {
      ...leaks(),
      usage: {
        input_tokens: messageTokens,
        output_tokens: 30,
        cache_creation_input_tokens: cached ? 0 : systemTokens,
        cache_read_input_tokens: cached ? systemTokens : 0,
      },
      headers: { 'request-id': `req_${randomUUID()}`, ...this.#headers(requests, tokens) },
      ...this.#delay(charged),
    };
  }

  /** Longer texts take longer: a fifth of a second, and a second for 10,000 tokens. */
  #delay(tokens: number): { delayMs: number } {
    return { delayMs: Math.round(200 + tokens / 10) };
  }

  #headers(requests: Bucket, tokens: Bucket): Record<string, string> {
    const of = (name: string, { limit, level }: Bucket) => ({
      [`anthropic-ratelimit-${name}-limit`]: String(limit),
      [`anthropic-ratelimit-${name}-remaining`]: String(Math.max(0, Math.floor(level))),
      [`anthropic-ratelimit-${name}-reset`]: new Date(
        Date.now() + ((limit - level) * 60_000) / limit,
      ).toISOString(),
    });
    return { ...of('requests', requests), ...of('input-tokens', tokens) };
  }
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN);
}
