import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { includesRole, type Role, RoleSchema } from './roles.js';
import { SessionStore } from './session-store.js';
import { submitterOf } from './tenant.js';

/** Least pause between two readings, in milliseconds. */
const PAUSE_MS = 100;

/**
 * A copy of all tokens for rejecting wrong ones: however many wrong tokens are sent, they cost one reading in `PAUSE_MS`. A
 * new token is never rejected, because a reading that began after it was sent decides.
 */
export class TokenSnapshot<T> {
  readonly #read: () => Promise<ReadonlyMap<string, T>>;
  #known: ReadonlyMap<string, T> = new Map();
  #next: Promise<void> | undefined;
  #readableAt = 0;

  constructor(read: () => Promise<ReadonlyMap<string, T>>) {
    this.#read = read;
  }

  /** The last reading. */
  get(id: string): T | undefined {
    return this.#known.get(id);
  }

  /** Resolves after a reading that began later than this call. */
  refresh(): Promise<void> {
    this.#next ??= this.#readNext();
    return this.#next;
  }

  async #readNext(): Promise<void> {
    const pause = this.#readableAt - performance.now();
    // At least one turn of the event loop, so that `#next` is set before it is cleared.
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, pause)));
    this.#readableAt = performance.now() + PAUSE_MS;
    // Later callers may have a token that this reading does not include.
    this.#next = undefined;
    this.#known = await this.#read();
  }
}

const RecordSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  role: RoleSchema,
  /** SHA-256 of the whole token; its secret part has 256 random bits, so no slow hash is needed. */
  digest: z.string().length(64),
  createdAt: z.string(),
  /** The one tenant that it may submit for, and whose jobs it may see. */
  tenant: z.string().min(1).max(200).optional(),
});
type StoredToken = z.infer<typeof RecordSchema>;

/** A token as it is listed: everything except the secret. */
export type TokenRecord = Omit<StoredToken, 'digest'>;

const FORM = /^fleet_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;
/** Compared instead of a token that does not exist, so that the time taken does not reveal it. */
const NOBODY = '0'.repeat(64);

function digestOf(secret: string): string {
  return createHash('sha256').update(secret, 'utf8').digest('hex');
}

/** Whether a digest is a token's, in a time that does not depend on where they differ. */
function isOf(digest: string, stored: StoredToken | undefined): boolean {
  const matches = timingSafeEqual(Buffer.from(digest, 'hex'), Buffer.from(stored?.digest ?? NOBODY, 'hex'));
  return matches && stored !== undefined;
}

/**
 * The gateway's tokens and browser sessions, in Redis: every gateway of the fleet knows them, and a revoked token is rejected
 * at once, with the sessions that were opened with it. Only digests are stored.
 */
export class TokenStore {
  readonly #client: Redis;
  readonly #prefix: string;
  readonly #sessions: SessionStore;
  readonly #snapshot: TokenSnapshot<StoredToken>;

  constructor(client: Redis, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
    this.#sessions = new SessionStore(client, prefix);
    this.#snapshot = new TokenSnapshot(() => this.#readUsable());
  }

  /** Creates a token; its text is only known here. */
  async add(
    name: string,
    role: Role,
    tenant?: string,
  ): Promise<{ readonly token: string; readonly record: TokenRecord }> {
    const id = randomBytes(6).toString('hex');
    const token = `fleet_${id}_${randomBytes(32).toString('base64url')}`;
    const record = {
      id,
      name,
      role,
      createdAt: new Date().toISOString(),
      ...(tenant === undefined ? {} : { tenant }),
    };
    const stored: StoredToken = { ...record, digest: digestOf(token) };
    await this.#client
      .multi()
      .hset(this.#key, id, JSON.stringify(stored))
      .set(this.#usedKey, record.createdAt, 'NX')
      .exec();
    return { token, record };
  }

  /** All tokens, oldest first. */
  async list(): Promise<TokenRecord[]> {
    const all = Object.values(await this.#client.hgetall(this.#key)).map(readRecord);
    return all.map(withoutDigest).sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  }

  /** How many submitters there may be: tokens that may submit, those of one tenant as one. */
  async submitters(): Promise<number> {
    const tokens = (await this.list()).filter(({ role }) => includesRole(role, 'submit'));
    return new Set(tokens.map(submitterOf)).size;
  }

  /** Whether there are tokens, and whether there were at some time. */
  async state(): Promise<{ readonly hasTokens: boolean; readonly hadTokens: boolean }> {
    const [count, used] = await Promise.all([
      this.#client.hlen(this.#key),
      this.#client.exists(this.#usedKey),
    ]);
    return { hasTokens: count > 0, hadTokens: used > 0 };
  }

  /** Records that the fleet has tokens. The record outlives them: a gateway must not open when the last one is revoked. */
  async rememberUse(): Promise<void> {
    // A full Redis rejects writes, and revoking must work even then.
    if ((await this.#client.exists(this.#usedKey)) === 1) return;
    await this.#client.set(this.#usedKey, new Date().toISOString(), 'NX');
  }

  /** Revokes a token and ends its sessions; returns whether one had that id. */
  async revoke(id: string): Promise<boolean> {
    await this.rememberUse();
    const wasThere = (await this.#client.hdel(this.#key, id)) > 0;
    await this.#client.del(this.#sessions.key(id));
    return wasThere;
  }

  /** The token with this text, if it is valid. */
  async find(token: string): Promise<TokenRecord | undefined> {
    const id = FORM.exec(token)?.[1];
    if (id === undefined) return undefined;
    const digest = digestOf(token);
    if (!isOf(digest, this.#snapshot.get(id))) {
      await this.#snapshot.refresh();
      if (!isOf(digest, this.#snapshot.get(id))) return undefined;
    }
    // It may have been revoked since.
    const stored = await this.#read(id);
    return stored !== undefined && isOf(digest, stored) ? withoutDigest(stored) : undefined;
  }

  /** Opens a browser session for a token; returns the session's secret name. */
  async openSession(tokenId: string): Promise<string> {
    return this.#sessions.open(tokenId);
  }

  /** The token of a session, if both are valid. */
  async findSession(session: string): Promise<TokenRecord | undefined> {
    const id = await this.#sessions.tokenOf(session);
    const stored = id === undefined ? undefined : await this.#read(id);
    return stored && withoutDigest(stored);
  }

  async closeSession(session: string): Promise<void> {
    await this.#sessions.close(session);
  }

  /** All tokens except damaged records: these must not lock out the others. */
  async #readUsable(): Promise<Map<string, StoredToken>> {
    const usable = new Map<string, StoredToken>();
    for (const [id, text] of Object.entries(await this.#client.hgetall(this.#key))) {
      const record = readUsableRecord(text);
      if (record !== undefined) usable.set(id, record);
    }
    return usable;
  }

  async #read(id: string): Promise<StoredToken | undefined> {
    const text = await this.#client.hget(this.#key, id);
    return text === null ? undefined : readRecord(text);
  }

  get #key(): string {
    return `${this.#prefix}::tokens`;
  }

  get #usedKey(): string {
    return `${this.#prefix}::tokens-used`;
  }
}

function readRecord(text: string): StoredToken {
  return RecordSchema.parse(JSON.parse(text));
}

function readUsableRecord(text: string): StoredToken | undefined {
  try {
    return readRecord(text);
  } catch (thrown) {
    if (thrown instanceof SyntaxError || thrown instanceof z.ZodError) return undefined;
    throw thrown;
  }
}

function withoutDigest({ digest: _digest, ...record }: StoredToken): TokenRecord {
  return record;
}
