import { createHash, randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';

/** How long a browser stays logged in, in seconds. */
export const SESSION_SECONDS = 12 * 3_600;
/** How many sessions one token may have; one more ends the oldest. */
export const MAX_SESSIONS = 16;
/** Id of the token, and 256 random bits. */
const FORM = /^([0-9a-f]{12})\.[A-Za-z0-9_-]{43}$/;

/**
 * Browser sessions, in Redis: one sorted set for each token, of digests by the time at which they end. The set is
 * removed with its token.
 */
export class SessionStore {
  readonly #client: Redis;
  readonly #prefix: string;

  constructor(client: Redis, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
  }

  /** Opens a session for a token; returns its secret name. */
  async open(tokenId: string): Promise<string> {
    const session = `${tokenId}.${randomBytes(32).toString('base64url')}`;
    const key = this.key(tokenId);
    const now = Date.now();
    await this.#client
      .multi()
      .zremrangebyscore(key, '-inf', now)
      .zadd(key, now + SESSION_SECONDS * 1_000, digestOf(session))
      .zremrangebyrank(key, 0, -MAX_SESSIONS - 1)
      .expire(key, SESSION_SECONDS)
      .exec();
    return session;
  }

  /** The id of the token that a session was opened with, if the session has not ended. */
  async tokenOf(session: string): Promise<string | undefined> {
    const id = FORM.exec(session)?.[1];
    if (id === undefined) return undefined;
    const until = await this.#client.zscore(this.key(id), digestOf(session));
    return until !== null && Number(until) > Date.now() ? id : undefined;
  }

  async close(session: string): Promise<void> {
    const id = FORM.exec(session)?.[1];
    if (id !== undefined) await this.#client.zrem(this.key(id), digestOf(session));
  }

  key(tokenId: string): string {
    return `${this.#prefix}::sessions:${tokenId}`;
  }
}

function digestOf(session: string): string {
  return createHash('sha256').update(session, 'utf8').digest('hex');
}
