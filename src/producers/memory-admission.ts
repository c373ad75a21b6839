import type { Redis } from 'ioredis';
import { messageOf, RedisError } from '../errors.js';
import { eachText } from '../payloads/text-reference.js';
import { parseRedisMemory } from '../queues/redis-memory.js';
import { GROWTH_BYTES, sampleJobs } from './sample-jobs.js';

/** When submissions are rejected, so accepted jobs can still end. */
export interface MemoryLimits {
  /** Part of Redis' memory limit up to which jobs are accepted, in percent; default 80. */
  readonly admitPercent?: number;
  /** Memory limit in bytes to assume if Redis has none (`maxmemory 0`), or a higher one. */
  readonly maxBytes?: number;
}

const DEFAULT_ADMIT_PERCENT = 80;

/** How long a reading is valid, in milliseconds. */
const READING_MS = 1_000;
/** A reading is renewed once this fraction of its room is used, because other producers submit as well. */
const RENEW_FRACTION = 1 / 8;
/** How long a server that does not report its memory is not queried again, in milliseconds. */
const RETRY_MS = 60_000;
/** How much memory a text may need until its job has ended, as a multiple of its size. */
const TEXT_GROWTH = 3;
/** Bytes that a job needs besides its data: its hash, its queue entry, its events. */
const JOB_BYTES = 2_000;
/** Jobs of each kind that are sampled to estimate what all of them may still need. */
const SAMPLED_JOBS = 200;

interface Reading {
  /** Bytes up to which submissions are accepted. */
  readonly bound: number;
  readonly at: number;
  /** Bytes that submissions may still take; infinite if there is no limit or it is not known. */
  readonly room: number;
  /** The message of a rejection. */
  readonly why: string;
  /** Bytes that were submitted since. */
  taken: number;
}

/** Size of the texts in JSON data, in characters. */
export function sizeOf(data: unknown): number {
  let size = 0;
  eachText(data, (found) => {
    size += typeof found === 'string' ? found.length : 0;
  });
  return size;
}

/**
 * Rejects submissions while Redis still accepts writes: above the bound there is room for accepted jobs to start, to call
 * and to end. Redis is asked about once a second; in between, this process adds up what it submits.
 */
export class MemoryAdmission {
  readonly #client: Redis;
  readonly #prefix: string;
  readonly #admitFraction: number;
  readonly #maxBytes: number | undefined;
  readonly #kinds: readonly string[];
  #reading: Promise<Reading> | undefined;

  /** @param kinds The kinds whose jobs are sampled. */
  constructor(
    client: Redis,
    prefix: string,
    kinds: readonly string[],
    { admitPercent, maxBytes }: MemoryLimits = {},
  ) {
    this.#client = client;
    this.#prefix = prefix;
    this.#kinds = kinds;
    this.#admitFraction = (admitPercent ?? DEFAULT_ADMIT_PERCENT) / 100;
    this.#maxBytes = maxBytes;
  }

  /** Admits new jobs by the size of their data. @throws as `admit`. */
  async admitJobs(data: readonly unknown[]): Promise<void> {
    if (data.length === 0) return;
    let bytes = 0;
    // The result of a job may repeat its texts, twice if they are too short to be stored separately.
    for (const one of data) bytes += TEXT_GROWTH * sizeOf(one);
    await this.admit(bytes, data.length);
  }

  /**
   * Admits this many bytes in this many jobs.
   * @throws RedisError `redis-full`: nothing was stored.
   */
  async admit(bytes: number, jobs = 0): Promise<void> {
    const wanted = bytes + jobs * (JOB_BYTES + GROWTH_BYTES);
    const known = await this.#recent();
    if (known.taken + wanted <= known.room * RENEW_FRACTION) {
      known.taken += wanted;
      return;
    }
    const reading = await this.#renew(known);
    if (reading.taken + wanted > reading.room) throw new RedisError('redis-full', reading.why);
    reading.taken += wanted;
  }

  /** Bytes that submissions may still take; infinite if there is no limit. */
  async room(): Promise<number> {
    const { room, taken } = await this.#recent();
    return Math.max(0, room - taken);
  }

  /** The same if less than half of the room for submissions is left; otherwise undefined. */
  async scarceRoom(): Promise<number | undefined> {
    const { room, taken, bound } = await this.#recent();
    return room - taken < bound / 2 ? Math.max(0, room - taken) : undefined;
  }

  async #recent(): Promise<Reading> {
    const known = await this.#reading;
    if (known === undefined) return this.#renew(undefined);
    return Date.now() - known.at < READING_MS ? known : this.#renew(known);
  }

  /** Concurrent callers share one request to Redis. */
  async #renew(outdated: Reading | undefined): Promise<Reading> {
    const current = this.#reading;
    const known = await current;
    if (known !== undefined && known !== outdated) return known;
    if (this.#reading === current) {
      const next = this.#read();
      this.#reading = next;
      next.catch(() => {
        if (this.#reading === next) this.#reading = undefined;
      });
    }
    return this.#reading ?? this.#read();
  }

  async #read(): Promise<Reading> {
    const [info, ...samples] = await Promise.all([
      this.#client.info('memory').catch(undefinedIfForbidden),
      ...this.#kinds.map((kind) => sampleJobs(this.#client, `${this.#prefix}:${kind}:`, SAMPLED_JOBS)),
    ]);
    if (info === undefined) {
      return {
        at: Date.now() + RETRY_MS - READING_MS,
        room: Number.POSITIVE_INFINITY,
        why: '',
        taken: 0,
        bound: Number.POSITIVE_INFINITY,
      };
    }
    const sum = (of: 'unfinished' | 'growth') => samples.reduce((total, sample) => total + sample[of], 0);
    return this.#readingOf(info, sum('unfinished'), sum('growth'));
  }

  #readingOf(info: string, unfinished: number, reserved: number): Reading {
    const { counted, limit: configured, machine } = parseRedisMemory(info);
    const bounds = [configured, this.#maxBytes].filter((bound) => bound !== undefined);
    // Without a configured limit the machine's memory is the limit: running out of it is worse than rejecting jobs.
    const limit = bounds.length > 0 ? Math.min(...bounds) : machine;
    if (limit === undefined)
      return {
        at: Date.now(),
        room: Number.POSITIVE_INFINITY,
        why: '',
        taken: 0,
        bound: Number.POSITIVE_INFINITY,
      };
    const bound = limit * this.#admitFraction;
    const why =
      `Redis uses ${megabytes(counted)} of ${megabytes(limit)} MB, and ${unfinished} jobs that have not ended may need ` +
      `${megabytes(reserved)} MB more; jobs are accepted up to ${megabytes(bound)} MB, so unfinished jobs can end.`;
    return { at: Date.now(), room: bound - counted - reserved, why, taken: 0, bound };
  }
}

function megabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

/** A managed server may forbid INFO. Then only the server itself rejects writes. */
function undefinedIfForbidden(error: unknown): undefined {
  if (!/unknown command|NOPERM|no permissions|not allowed|disabled/i.test(messageOf(error))) throw error;
}
