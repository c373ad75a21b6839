import type { Redis } from 'ioredis';
import type { KnownEntry } from './known-entry.js';
import { entryField, type KnownKeys, knownKeys } from './known-keys.js';

/** An entry with the fingerprints by which an index finds it. */
export interface FingerprintedEntry {
  readonly entry: KnownEntry;
  readonly fingerprints: Int32Array;
}

/** One step of the set's history. */
export interface KnownChange {
  /** Position in the history; later ones compare greater as stream ids. */
  readonly id: string;
  readonly added: boolean;
  readonly field: string;
}

/**
 * Adds one entry unless it is there.
 * KEYS[1] entries, KEYS[2] fingerprints, KEYS[3] set of the test case, KEYS[4] changes.
 * ARGV[1] field, ARGV[2] entry (JSON), ARGV[3] fingerprints (bytes). Returns 1 added, 0 was there.
 */
const ADD = `
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
redis.call('SADD', KEYS[3], ARGV[1])
redis.call('XADD', KEYS[4], '*', 'added', ARGV[1])
return 1`;

/**
 * Removes one entry. KEYS as for ADD; ARGV[1] field. Returns 1 removed, 0 was not there.
 */
const REMOVE = `
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('SREM', KEYS[3], ARGV[1])
redis.call('XADD', KEYS[4], '*', 'removed', ARGV[1])
return 1`;

/** How many fields one HSCAN step or one read of the history returns at most. */
const PAGE = 1_000;

/**
 * The set of known solutions of a fleet, in Redis: shared by all workers, several solutions a test case. Adding is
 * atomic an entry, so two workers that add at once lose nothing.
 */
export class KnownStore {
  readonly #client: Redis;
  readonly #keys: KnownKeys;

  constructor(client: Redis, prefix: string) {
    this.#client = client;
    this.#keys = knownKeys(prefix);
  }

  /** Number of known solutions. */
  size(): Promise<number> {
    return this.#client.hlen(this.#keys.entries);
  }

  /** Adds entries; those that are there are left as they are. Returns how many were new. */
  async add(items: readonly FingerprintedEntry[]): Promise<number> {
    const pipeline = this.#client.pipeline();
    for (const { entry, fingerprints } of items) {
      const bytes = Buffer.from(fingerprints.buffer, fingerprints.byteOffset, fingerprints.byteLength);
      pipeline.eval(
        ADD,
        4,
        ...this.#keysFor(entry.testCaseId),
        entryField(entry),
        JSON.stringify(entry),
        bytes,
      );
    }
    return countOnes(await pipeline.exec());
  }

  /** Removes one solution of a test case, or all of them. Returns how many there were. */
  async remove(testCaseId: string, hash?: string): Promise<number> {
    const fields =
      hash === undefined
        ? await this.#client.smembers(this.#keys.ofCase(testCaseId))
        : [entryField({ hash, testCaseId })];
    const pipeline = this.#client.pipeline();
    for (const field of fields) pipeline.eval(REMOVE, 4, ...this.#keysFor(testCaseId), field);
    return countOnes(await pipeline.exec());
  }

  /** All known solutions of a test case. */
  async ofCase(testCaseId: string): Promise<KnownEntry[]> {
    return this.#read(await this.#client.smembers(this.#keys.ofCase(testCaseId)));
  }

  /** The entries of references, but for those that were removed meanwhile. */
  entries(references: readonly { hash: string; testCaseId: string }[]): Promise<KnownEntry[]> {
    return this.#read(references.map(entryField));
  }

  /** Every entry, in no particular order, a page at a time; one that is added meanwhile may or may not come. */
  async *all(): AsyncGenerator<KnownEntry> {
    let cursor = '0';
    const seen = new Set<string>();
    do {
      const [next, pairs] = await this.#client.hscan(this.#keys.entries, cursor, 'COUNT', PAGE);
      for (let at = 0; at + 1 < pairs.length; at += 2) {
        const field = pairs[at] as string;
        // HSCAN may give a field twice while the hash grows or shrinks.
        if (seen.has(field)) continue;
        seen.add(field);
        yield JSON.parse(pairs[at + 1] as string) as KnownEntry;
      }
      cursor = next;
    } while (cursor !== '0');
  }

  /** The fingerprints of every entry, a page at a time. */
  async *allFingerprints(): AsyncGenerator<{ field: string; fingerprints: Int32Array }[]> {
    let cursor = '0';
    do {
      const [next, pairs] = await this.#client.hscanBuffer(this.#keys.fingerprints, cursor, 'COUNT', PAGE);
      const page: { field: string; fingerprints: Int32Array }[] = [];
      for (let at = 0; at + 1 < pairs.length; at += 2) {
        page.push({
          field: (pairs[at] as Buffer).toString(),
          fingerprints: toIntegers(pairs[at + 1] as Buffer),
        });
      }
      yield page;
      cursor = next.toString();
    } while (cursor !== '0');
  }

  /** The fingerprints of some entries; null for one that is not there. */
  async fingerprintsOf(fields: readonly string[]): Promise<(Int32Array | null)[]> {
    if (fields.length === 0) return [];
    const values = await this.#client.hmgetBuffer(this.#keys.fingerprints, ...fields);
    return values.map((bytes) => bytes && toIntegers(bytes));
  }

  /** Position of the latest change; `0-0` where there was none. */
  async latestChange(): Promise<string> {
    const [last] = await this.#client.xrevrange(this.#keys.changes, '+', '-', 'COUNT', 1);
    return last?.[0] ?? '0-0';
  }

  /** The changes behind a position, oldest first, a page at a time. */
  async changesAfter(position: string): Promise<KnownChange[]> {
    const entries = await this.#client.xrange(this.#keys.changes, `(${position}`, '+', 'COUNT', PAGE);
    return entries.map(([id, [operation, field]]) => ({
      id,
      added: operation === 'added',
      field: field ?? '',
    }));
  }

  async #read(fields: readonly string[]): Promise<KnownEntry[]> {
    if (fields.length === 0) return [];
    const values = await this.#client.hmget(this.#keys.entries, ...fields);
    return values.flatMap((json) => (json === null ? [] : [JSON.parse(json) as KnownEntry]));
  }

  #keysFor(testCaseId: string): [string, string, string, string] {
    const { entries, fingerprints, changes } = this.#keys;
    return [entries, fingerprints, this.#keys.ofCase(testCaseId), changes];
  }
}

/** The bytes may lie at any offset of a larger buffer, and typed arrays want theirs aligned. */
function toIntegers(bytes: Buffer): Int32Array {
  return new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

/** @throws the first error of a pipeline. */
function countOnes(replies: [Error | null, unknown][] | null): number {
  let ones = 0;
  for (const [error, reply] of replies ?? []) {
    if (error !== null) throw error;
    if (reply === 1) ones += 1;
  }
  return ones;
}
