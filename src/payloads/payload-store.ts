import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { Redis } from 'ioredis';
import { JobError, messageOf, PayloadError } from '../errors.js';
import { runScript, script } from '../queues/run-script.js';
import { totalTextBytes } from '../queues/validate.js';
import { payloadIndexKey, payloadJobsKey, payloadKey } from './payload-keys.js';
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

/** Fast rather than small: scripts and logs shrink to a fourth at the lowest level already. */
const COMPRESSION = { level: 1 };

/** Texts above this many bytes of UTF-8 are stored apart from their job. */
export const DEFAULT_OFFLOAD_BYTES = 65_536;

/** Most occurrences of stored texts in the data of one job. */
const MAX_OCCURRENCES = 10_000;

/** Texts that are asked for in one round trip. */
const READ_CHUNK = 16;

export interface PayloadStoreOptions {
  /** Texts above this many bytes are stored apart from their job. */
  readonly offloadBytes?: number | undefined;
  /** Most bytes of one job's data with every stored text in its place, counted as often as it is there. */
  readonly dataBytes?: number | undefined;
}

/**
 * Notes jobs that name a text, if it is stored; stores it where it is handed in.
 * KEYS: 1 text, 2 its jobs, 3 index. ARGV: 1 digest, 2 now (ms), 3 text or '', 4 size, 5 encoding, 6… job keys.
 * Returns 1, or 0 where the text is neither stored nor handed in.
 */
const HOLD = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then
  if ARGV[3] == '' then return 0 end
  redis.call('HSET', KEYS[1], 'data', ARGV[3], 'bytes', ARGV[4], 'encoding', ARGV[5])
end
for at = 6, #ARGV do redis.call('ZADD', KEYS[2], ARGV[2], ARGV[at]) end
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
return 1`);

/** Where long texts of jobs are kept, so that queues stay small and the same script is stored once. */
export interface PayloadStore {
  /** Whether data hold a text that `offload` would store. */
  hasLongText(data: unknown): boolean;
  /**
   * Stores the long texts of JSON data, before any job names them, and gives the data with references in their place.
   * @param holders Keys of the jobs that will name them: a text is kept as long as one of these exists.
   */
  offload<T>(data: T, holders: readonly string[]): Promise<T>;
  /**
   * The data of a job of the fleet's kinds with every text in its place. Only a text that `offload` stored for this job is
   * put in: data in the form of a reference to any other text are left as they are.
   * @param holder Key of the job whose data they are.
   * @throws JobError `payload-missing` where a text is gone, or is not what was stored; PayloadError `payload-too-large`
   *   where the texts take more room together than a job may.
   */
  restore<T>(data: T, holder: string): Promise<T>;
}

/** The store in the fleet's own Redis: content-addressed, compressed, without a server of its own. */
export class RedisPayloadStore implements PayloadStore {
  readonly #offloadBytes: number;
  readonly #dataBytes: number;

  constructor(
    private readonly client: Redis,
    private readonly prefix: string,
    { offloadBytes = DEFAULT_OFFLOAD_BYTES, dataBytes = totalTextBytes() }: PayloadStoreOptions = {},
  ) {
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

  async offload<T>(data: T, holders: readonly string[]): Promise<T> {
    // Most data are short, and need no copy.
    if (!this.hasLongText(data)) return data;
    const texts = new Map<string, EncodedText>();
    const replaced = mapTexts(data, (found) => {
      if (typeof found !== 'string' || !this.#isLong(found)) return found;
      const encoded = encodeText(found);
      texts.set(encoded.digest, encoded);
      return referenceTo(encoded);
    });
    for (const text of texts.values()) await this.#store(text, holders);
    return replaced as T;
  }

  async restore<T>(data: T, holder: string): Promise<T> {
    const references = new Map<string, TextReference[]>();
    eachText(data, (found) => {
      if (typeof found === 'string') return;
      const digest = referencedDigest(found);
      references.set(digest, [...(references.get(digest) ?? []).slice(0, 1), found]);
    });
    if (references.size === 0) return data;
    const held = await this.#heldBy(holder, [...references.keys()]);
    if (held.size === 0) return data;
    const isHeld = (found: string | TextReference): found is TextReference =>
      typeof found !== 'string' && held.has(referencedDigest(found));
    this.#assertSize(data, isHeld, holder);
    const texts = new Map<string, string>();
    for (const [digest, [reference]] of references) {
      if (reference !== undefined && held.has(digest)) texts.set(digest, await this.#read(reference));
    }
    return mapTexts(data, (found) => (isHeld(found) ? texts.get(referencedDigest(found)) : found)) as T;
  }

  /** Those of the texts that were stored for a job: the record is the store's own, and no client writes it. */
  async #heldBy(holder: string, digests: readonly string[]): Promise<Set<string>> {
    const held = new Set<string>();
    for (let start = 0; start < digests.length; start += READ_CHUNK) {
      const chunk = digests.slice(start, start + READ_CHUNK);
      const scores = await Promise.all(
        chunk.map((digest) => this.client.zscore(payloadJobsKey(this.prefix, digest), holder)),
      );
      for (const [at, digest] of chunk.entries()) if (scores[at] !== null) held.add(digest);
    }
    return held;
  }

  /** @throws PayloadError `payload-too-large` before any text is read. */
  #assertSize(
    data: unknown,
    isHeld: (found: string | TextReference) => found is TextReference,
    holder: string,
  ): void {
    let occurrences = 0;
    let bytes = 0;
    eachText(data, (found) => {
      if (!isHeld(found)) return;
      occurrences += 1;
      // What a reference claims bounds how far its text may expand.
      bytes += Math.max(found.bytes, 0);
    });
    if (occurrences <= MAX_OCCURRENCES && bytes <= this.#dataBytes) return;
    throw new PayloadError(
      'payload-too-large',
      `the stored texts of job ${holder} occur ${occurrences} times with ${bytes} bytes together; ` +
        `the limits are ${MAX_OCCURRENCES} and ${this.#dataBytes}`,
    );
  }

  #isLong(text: string): boolean {
    if (text.length * 3 <= this.#offloadBytes) return false;
    return Buffer.byteLength(text, 'utf8') > this.#offloadBytes;
  }

  async #store({ digest, bytes, encoding }: EncodedText, holders: readonly string[]): Promise<void> {
    if (await this.#hold(digest, holders)) return;
    await this.#hold(digest, holders, [await compress(bytes, COMPRESSION), bytes.length, encoding]);
  }

  async #hold(
    digest: string,
    holders: readonly string[],
    content: readonly (Buffer | string | number)[] = ['', 0, ''],
  ): Promise<boolean> {
    const keys = [
      payloadKey(this.prefix, digest),
      payloadJobsKey(this.prefix, digest),
      payloadIndexKey(this.prefix),
    ];
    return (await runScript(this.client, HOLD, keys, [digest, Date.now(), ...content, ...holders])) === 1;
  }

  async #read(reference: TextReference): Promise<string> {
    const digest = referencedDigest(reference);
    const missing = (why: string, cause?: unknown): never => {
      throw new JobError('payload-missing', `a text of the job (${digest.slice(0, 12)}…) ${why}`, { cause });
    };
    // What a reference claims is not believed: it limits how far the stored bytes may expand.
    if (reference.bytes < 0 || reference.bytes > MAX_STORED_BYTES)
      return missing('claims an impossible size');
    const [data, encoding] = await this.client.hmgetBuffer(
      payloadKey(this.prefix, digest),
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
