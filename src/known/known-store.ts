import type { Redis } from 'ioredis';
import { type KnownKeys, knownKeys } from '../queues/redis-keys.js';
import { runScript, script } from '../queues/run-script.js';
import { entryField } from './entry-field.js';
import { type KnownEntry, parseKnownEntry } from './known-entry.js';

/** An entry with its fingerprints for the index. */
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
 * Adds entries that are not in the set. KEYS[1] entries, KEYS[2] fingerprints, KEYS[3] changes, KEYS[3 + i] set of the test
 * case of entry i. ARGV[3i - 2] field, ARGV[3i - 1] entry (JSON), ARGV[3i] fingerprints (bytes). Returns how many were new.
 */
const ADD = script(`
local added = 0
for i = 1, #ARGV / 3 do
  local field = ARGV[3 * i - 2]
  if redis.call('HSETNX', KEYS[1], field, ARGV[3 * i - 1]) == 1 then
    redis.call('HSET', KEYS[2], field, ARGV[3 * i])
    redis.call('SADD', KEYS[3 + i], field)
    redis.call('XADD', KEYS[3], '*', 'added', field)
    added = added + 1
  end
end
return added`);

/**
 * Removes entries of one test case.
 * KEYS[1] entries, KEYS[2] fingerprints, KEYS[3] changes, KEYS[4] set of the test case; ARGV fields.
 * Returns how many there were.
 */
const REMOVE = script(`
local removed = 0
for _, field in ipairs(ARGV) do
  if redis.call('HDEL', KEYS[1], field) == 1 then
    redis.call('HDEL', KEYS[2], field)
    redis.call('SREM', KEYS[4], field)
    redis.call('XADD', KEYS[3], '*', 'removed', field)
    removed = removed + 1
  end
end
return removed`);

/** How many fields one HSCAN step or one read of the history returns at most. */
const PAGE = 1_000;
/** Entries that one script call adds: it blocks Redis for a few milliseconds at most. */
const BATCH = 200;

/**
 * The set of known solutions of a fleet, in Redis: shared by all workers, with several solutions for a test case. Each entry
 * is added atomically, so concurrent workers lose nothing.
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

  /** Adds entries; existing ones do not change. Returns how many were new. */
  async add(items: readonly FingerprintedEntry[]): Promise<number> {
    let added = 0;
    for (let from = 0; from < items.length; from += BATCH) {
      const batch = items.slice(from, from + BATCH);
      const args = batch.flatMap(({ entry, fingerprints }) => [
        entryField(entry),
        JSON.stringify(entry),
        Buffer.from(fingerprints.buffer, fingerprints.byteOffset, fingerprints.byteLength),
      ]);
      const cases = batch.map(({ entry }) => this.#keys.ofCase(entry.testCaseId));
      added += Number(await runScript(this.#client, ADD, [...this.#setKeys(), ...cases], args));
    }
    return added;
  }

  /** Removes one solution of a test case, or all of them. Returns how many there were. */
  async remove(testCaseId: string, hash?: string): Promise<number> {
    const fields =
      hash === undefined
        ? await this.#client.smembers(this.#keys.ofCase(testCaseId))
        : [entryField({ hash, testCaseId })];
    let removed = 0;
    for (let from = 0; from < fields.length; from += BATCH) {
      const keys = [...this.#setKeys(), this.#keys.ofCase(testCaseId)];
      removed += Number(await runScript(this.#client, REMOVE, keys, fields.slice(from, from + BATCH)));
    }
    return removed;
  }

  /** All known solutions of a test case. */
  async ofCase(testCaseId: string): Promise<KnownEntry[]> {
    return this.#read(await this.#client.smembers(this.#keys.ofCase(testCaseId)));
  }

  /** The entries of references, except for those that were removed meanwhile. */
  entries(references: readonly { hash: string; testCaseId: string }[]): Promise<KnownEntry[]> {
    return this.#read(references.map(entryField));
  }

  /** Every entry, in no particular order, a page at a time; one that is added meanwhile may be missing. */
  async *all(): AsyncGenerator<KnownEntry> {
    let cursor = '0';
    const seen = new Set<string>();
    do {
      const [next, pairs] = await this.#client.hscan(this.#keys.entries, cursor, 'COUNT', PAGE);
      for (let at = 0; at + 1 < pairs.length; at += 2) {
        const field = pairs[at] as string;
        // HSCAN may return a field twice while the hash grows or shrinks.
        if (seen.has(field)) continue;
        seen.add(field);
        yield parseKnownEntry(field, pairs[at + 1] as string);
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

  /** The fingerprints of some entries; null for a missing one. */
  async fingerprintsOf(fields: readonly string[]): Promise<(Int32Array | null)[]> {
    if (fields.length === 0) return [];
    const values = await this.#client.hmgetBuffer(this.#keys.fingerprints, ...fields);
    return values.map((bytes) => bytes && toIntegers(bytes));
  }

  /** Position of the latest change; `0-0` if there is none. */
  async latestChange(): Promise<string> {
    const [last] = await this.#client.xrevrange(this.#keys.changes, '+', '-', 'COUNT', 1);
    return last?.[0] ?? '0-0';
  }

  /** The changes after a position, oldest first, a page at a time. */
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
    return values.flatMap((json, at) => (json === null ? [] : [parseKnownEntry(fields[at] ?? '', json)]));
  }

  #setKeys(): string[] {
    const { entries, fingerprints, changes } = this.#keys;
    return [entries, fingerprints, changes];
  }
}

/** The bytes may be at any offset of a larger buffer, but typed arrays need alignment. */
function toIntegers(bytes: Buffer): Int32Array {
  // Incomplete numbers at the end of damaged bytes are dropped.
  const length = bytes.byteLength - (bytes.byteLength % Int32Array.BYTES_PER_ELEMENT);
  return new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + length));
}
