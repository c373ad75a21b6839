import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { type Role, RoleSchema } from './roles.js';

const RecordSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  role: RoleSchema,
  /** SHA-256 of the whole token; its secret part has 256 random bits, so no slow hash is needed. */
  digest: z.string().length(64),
  createdAt: z.string(),
});
type StoredToken = z.infer<typeof RecordSchema>;

/** A token as it is listed: everything but the secret. */
export type TokenRecord = Omit<StoredToken, 'digest'>;

const FORM = /^fleet_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;
/** How long a browser stays logged in, in seconds. */
export const SESSION_SECONDS = 12 * 3_600;
/** Stands in for a token that is not there, so that the comparison is made in any case. */
const NOBODY = '0'.repeat(64);

function digestOf(secret: string): string {
  return createHash('sha256').update(secret, 'utf8').digest('hex');
}

/** Compares two digests in a time that does not depend on where they differ. */
function equalDigests(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'));
}

/**
 * The gateway's tokens and browser sessions, in Redis: every gateway of the fleet knows them, and a revoked token
 * is refused at once, with the sessions that were opened with it. Only digests are stored.
 */
export class TokenStore {
  readonly #client: Redis;
  readonly #prefix: string;

  constructor(client: Redis, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
  }

  /** Makes a token; its text is only ever seen here. */
  async add(name: string, role: Role): Promise<{ readonly token: string; readonly record: TokenRecord }> {
    const id = randomBytes(6).toString('hex');
    const token = `fleet_${id}_${randomBytes(32).toString('base64url')}`;
    const record = { id, name, role, createdAt: new Date().toISOString() };
    const stored: StoredToken = { ...record, digest: digestOf(token) };
    await this.#client.hset(this.#key, id, JSON.stringify(stored));
    return { token, record };
  }

  /** All tokens, oldest first. */
  async list(): Promise<TokenRecord[]> {
    const all = Object.values(await this.#client.hgetall(this.#key)).map(readRecord);
    return all.map(withoutDigest).sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  }

  async hasAny(): Promise<boolean> {
    return (await this.#client.hlen(this.#key)) > 0;
  }

  /** Takes a token out of force; tells whether there was one of that id. */
  async revoke(id: string): Promise<boolean> {
    return (await this.#client.hdel(this.#key, id)) > 0;
  }

  /** The token that a text is, if it is one in force. */
  async find(token: string): Promise<TokenRecord | undefined> {
    const id = FORM.exec(token)?.[1];
    const stored = id === undefined ? undefined : await this.#read(id);
    const matches = equalDigests(digestOf(token), stored?.digest ?? NOBODY);
    return matches && stored !== undefined ? withoutDigest(stored) : undefined;
  }

  /** Opens a browser session for a token; returns the session's secret name. */
  async openSession(tokenId: string): Promise<string> {
    const session = randomBytes(32).toString('base64url');
    await this.#client.set(this.#sessionKey(session), tokenId, 'EX', SESSION_SECONDS);
    return session;
  }

  /** The token behind a session, if both are in force. */
  async findSession(session: string): Promise<TokenRecord | undefined> {
    const id = await this.#client.get(this.#sessionKey(session));
    const stored = id === null ? undefined : await this.#read(id);
    return stored && withoutDigest(stored);
  }

  async closeSession(session: string): Promise<void> {
    await this.#client.del(this.#sessionKey(session));
  }

  async #read(id: string): Promise<StoredToken | undefined> {
    const text = await this.#client.hget(this.#key, id);
    return text === null ? undefined : readRecord(text);
  }

  get #key(): string {
    return `${this.#prefix}::tokens`;
  }

  #sessionKey(session: string): string {
    return `${this.#prefix}::session:${digestOf(session)}`;
  }
}

function readRecord(text: string): StoredToken {
  return RecordSchema.parse(JSON.parse(text));
}

function withoutDigest({ digest: _digest, ...record }: StoredToken): TokenRecord {
  return record;
}
