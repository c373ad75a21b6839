import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { Redis } from 'ioredis';
import { JobError, messageOf, PayloadError } from '../errors.js';
import { payloadIndexKey, payloadJobsKey, payloadKey } from '../queues/redis-keys.js';
import { runScript, script } from '../queues/run-script.js';
import { totalTextBytes } from '../queues/validate.js';
import {
  digestOf,
  type EncodedText,
  eachText,
  encodeText,
  MAX_STORED_BYTES,
  MIN_STORED_BYTES,
  mapTexts,
  referencedDigest,
  referenceTo,
  type TextReference,
} from './text-reference.js';

const compress = promisify(deflateRaw);
const expand = promisify(inflateRaw);

/** The fastest level: scripts and logs already shrink to a quarter with it. */
const COMPRESSION = { level: 1 };

/** Texts above this many bytes of UTF-8 are stored separately from their job. */
const DEFAULT_OFFLOAD_BYTES = 65_536;

/** Maximum number of occurrences of stored texts in the data of one job. */
const MAX_OCCURRENCES = 10_000;

/** Number of texts that are read in one round trip. */
const READ_CHUNK = 16;

export interface PayloadStoreOptions {
  /** Texts above this many bytes are stored separately from their job. */
  readonly offloadBytes?: number | undefined;
  /** Maximum size of one job's data with all stored texts, each counted as often as it occurs, in bytes. */
  readonly dataBytes?: number | undefined;
}

/**
 * Records that jobs refer to a text. Stores the text if the caller passes it.
 * KEYS: 1 text, 2 its jobs, 3 index. ARGV: 1 digest, 2 now (ms), 3 text or '', 4 size, 5 encoding, 6… job keys.
 * Returns 1, or 0 if the text is neither stored nor passed.
 */
const ADD_REFERENCES = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then
  if ARGV[3] == '' then return 0 end
  redis.call('HSET', KEYS[1], 'data', ARGV[3], 'bytes', ARGV[4], 'encoding', ARGV[5])
end
for at = 6, #ARGV do redis.call('ZADD', KEYS[2], ARGV[2], ARGV[at]) end
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
return 1`);

/** Stores the long texts of jobs: queues stay small, and a script that many jobs share is stored once. */
export interface PayloadStore {
  /** Whether data contain a text that `offload` would store. */
  hasLongText(data: unknown): boolean;
  /**
   * Stores the long texts of JSON data before any job refers to them, and returns the data with references instead.
   * @param jobKeys Keys of the jobs that will refer to them: a text is stored as long as one of these jobs exists.
   */
  offload<T>(data: T, jobKeys: readonly string[]): Promise<T>;
  /**
   * The data of a job of the fleet's kinds with texts instead of references. Only texts that `offload` stored for this job
   * are inserted: data that look like a reference to any other text stay as they are.
   * @param jobKey Key of the job that has the data.
   * @throws JobError `payload-missing` if a text is gone or differs from what was stored; PayloadError `payload-too-large`
   *   if the texts together are larger than a job may be.
   */
  restore<T>(data: T, jobKey: string): Promise<T>;
}

/** A store in the fleet's Redis: content-addressed and compressed; it needs no other server. */
export class RedisPayloadStore implements PayloadStore {
  readonly #client: Redis;
  readonly #prefix: string;
  readonly #offloadBytes: number;
  readonly #dataBytes: number;

  constructor(
    client: Redis,
    prefix: string,
    { offloadBytes = DEFAULT_OFFLOAD_BYTES, dataBytes = totalTextBytes() }: PayloadStoreOptions = {},
  ) {
    this.#client = client;
    this.#prefix = prefix;

    this.#offloadBytes = Math.max(offloadBytes, MIN_STORED_BYTES);
    this.#dataBytes = dataBytes;
  }

  hasLongText(data: unknown): boolean {
    let anyLong = false;
    eachText(data, (found) => {
      anyLong ||= typeof found === 'string' && this.#isLong(found);
    });
    return anyLong;
  }

  async offload<T>(data: T, jobKeys: readonly string[]): Promise<T> {
    // Most data are short and need no copy.
    if (!this.hasLongText(data)) return data;
    const texts = new Map<string, EncodedText>();
    const replaced = mapTexts(data, (found) => {
      if (typeof found !== 'string' || !this.#isLong(found)) return found;
      const encoded = encodeText(found);
      texts.set(encoded.digest, encoded);
      return referenceTo(encoded);
    });
    for (const text of texts.values()) await this.#store(text, jobKeys);
    return replaced as T;
  }

  async restore<T>(data: T, jobKey: string): Promise<T> {
    const references = new Map<string, TextReference[]>();
    eachText(data, (found) => {
      if (typeof found === 'string') return;
      const digest = referencedDigest(found);
      references.set(digest, [...(references.get(digest) ?? []).slice(0, 1), found]);
    });
    if (references.size === 0) return data;
    const stored = await this.#storedFor(jobKey, [...references.keys()]);
    if (stored.size === 0) return data;
    const isStored = (found: string | TextReference): found is TextReference =>
      typeof found !== 'string' && stored.has(referencedDigest(found));
    this.#assertSize(data, isStored, jobKey);
    const texts = new Map<string, string>();
    for (const [digest, [reference]] of references) {
      if (reference !== undefined && stored.has(digest)) texts.set(digest, await this.#read(reference));
    }
    return mapTexts(data, (found) => (isStored(found) ? texts.get(referencedDigest(found)) : found)) as T;
  }

  /** The texts that were stored for a job. Clients cannot write this record; only the store does. */
  async #storedFor(jobKey: string, digests: readonly string[]): Promise<Set<string>> {
    const stored = new Set<string>();
    for (let start = 0; start < digests.length; start += READ_CHUNK) {
      const chunk = digests.slice(start, start + READ_CHUNK);
      const scores = await Promise.all(
        chunk.map((digest) => this.#client.zscore(payloadJobsKey(this.#prefix, digest), jobKey)),
      );
      for (const [at, digest] of chunk.entries()) if (scores[at] !== null) stored.add(digest);
    }
    return stored;
  }

  /** @throws PayloadError `payload-too-large` before any text is read. */
  #assertSize(
    data: unknown,
    isStored: (found: string | TextReference) => found is TextReference,
    jobKey: string,
  ): void {
    let occurrences = 0;
    let bytes = 0;
    eachText(data, (found) => {
      if (!isStored(found)) return;
      occurrences += 1;
      // The size in a reference limits how far its text may expand.
      bytes += Math.max(found.bytes, 0);
    });
    if (occurrences <= MAX_OCCURRENCES && bytes <= this.#dataBytes) return;
    throw new PayloadError(
      'payload-too-large',
      `the stored texts of job ${jobKey} occur ${occurrences} times with ${bytes} bytes in total; ` +
        `the limits are ${MAX_OCCURRENCES} and ${this.#dataBytes}`,
    );
  }

  #isLong(text: string): boolean {
    if (text.length * 3 <= this.#offloadBytes) return false;
    return Buffer.byteLength(text, 'utf8') > this.#offloadBytes;
  }

  async #store({ digest, bytes, encoding }: EncodedText, jobKeys: readonly string[]): Promise<void> {
    if (await this.#addReferences(digest, jobKeys)) return;
    await this.#addReferences(digest, jobKeys, [await compress(bytes, COMPRESSION), bytes.length, encoding]);
  }

  async #addReferences(
    digest: string,
    jobKeys: readonly string[],
    content: readonly (Buffer | string | number)[] = ['', 0, ''],
  ): Promise<boolean> {
    const keys = [
      payloadKey(this.#prefix, digest),
      payloadJobsKey(this.#prefix, digest),
      payloadIndexKey(this.#prefix),
    ];
    return (
      (await runScript(this.#client, ADD_REFERENCES, keys, [digest, Date.now(), ...content, ...jobKeys])) ===
      1
    );
  }

  async #read(reference: TextReference): Promise<string> {
    const digest = referencedDigest(reference);
    const missing = (why: string, cause?: unknown): never => {
      throw new JobError('payload-missing', `a text of the job (${digest.slice(0, 12)}…) ${why}`, { cause });
    };
    // The size in a reference is not trusted: it only limits how far the stored bytes may expand.
    if (reference.bytes < 0 || reference.bytes > MAX_STORED_BYTES)
      return missing('claims an impossible size');
    const [data, encoding] = await this.#client.hmgetBuffer(
      payloadKey(this.#prefix, digest),
      'data',
      'encoding',
    );
    if (data === null || data === undefined) return missing('is not in the payload store');
    const name = encoding?.toString() === 'utf16le' ? 'utf16le' : 'utf8';
    const bytes = await expand(data, { maxOutputLength: Math.max(reference.bytes, 1) }).catch(
      (thrown: unknown) =>
        missing(`cannot be expanded to its ${reference.bytes} bytes: ${messageOf(thrown)}`, thrown),
    );
    if (digestOf(name, bytes) !== digest) return missing('is not the text that was stored');
    return bytes.toString(name);
  }
}
