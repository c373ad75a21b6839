import type { Redis } from 'ioredis';
import { messageOf, RedisError } from '../errors.js';
import { eachText } from '../payloads/text-reference.js';
import { parseRedisMemory } from '../queues/redis-memory.js';
import { KIND_NAMES } from '../queues/registry.js';
import { GROWTH_BYTES, sampleJobs } from './sample-jobs.js';

/** When submissions are refused so that the jobs that were accepted can still end. */
export interface MemoryLimits {
  /** Share of Redis' memory limit up to which jobs are accepted, in percent; default 80. */
  readonly admitPercent?: number;
  /** Memory limit in bytes to assume where Redis has none (`maxmemory 0`), or a higher one. */
  readonly maxBytes?: number;
}

export const DEFAULT_ADMIT_PERCENT = 80;

/** How long a reading counts, in milliseconds. */
const READING_MS = 1_000;
/** A reading is renewed as soon as this share of the room it found was given away: others submit as well. */
const RENEW_SHARE = 1 / 8;
/** How long a server that does not tell its memory is not asked again, in milliseconds. */
const ASK_AGAIN_MS = 60_000;
/** How much of the memory a text may take until its job has ended, as a multiple of its size. */
const TEXT_GROWTH = 3;
/** What a job takes besides its data: its hash, its place in the queue, its events. */
const JOB_BYTES = 2_000;
/** Jobs of each kind that are looked at to estimate what all of them may still need. */
const SAMPLED_JOBS = 200;

interface Reading {
  /** Bytes up to which submissions are accepted. */
  readonly bound: number;
  readonly at: number;
  /** Bytes that submissions may still take; infinite where there is no limit or nobody knows. */
  readonly room: number;
  /** What a refusal says. */
  readonly why: string;
  /** Bytes that were given away since. */
  taken: number;
}

/** Size of JSON data as far as its texts go, in characters. */
export function sizeOf(data: unknown): number {
  let size = 0;
  eachText(data, (found) => {
    size += typeof found === 'string' ? found.length : 0;
  });
  return size;
}

/**
 * Refuses submissions while Redis still takes writes. Above that bound there is room for accepted jobs to begin, to call,
 * and to end. Redis is asked about once a second; in between, what was submitted here is added up.
 */
export class MemoryAdmission {
  readonly #client: Redis;
  readonly #prefix: string;
  readonly #share: number;
  readonly #maxBytes: number | undefined;
  #reading: Promise<Reading> | undefined;

  constructor(client: Redis, prefix: string, { admitPercent, maxBytes }: MemoryLimits = {}) {
    this.#client = client;
    this.#prefix = prefix;
    this.#share = (admitPercent ?? DEFAULT_ADMIT_PERCENT) / 100;
    this.#maxBytes = maxBytes;
  }

  /** Admits new jobs by their data. @throws as `admit`. */
  async admitJobs(data: readonly unknown[]): Promise<void> {
    if (data.length === 0) return;
    let bytes = 0;
    // The result of a job may repeat its texts, twice where they are too short to be stored apart.
    for (const one of data) bytes += TEXT_GROWTH * sizeOf(one);
    await this.admit(bytes, data.length);
  }

  /**
   * Lets so many bytes in, in so many jobs.
   * @throws RedisError `redis-full`: nothing was stored.
   */
  async admit(bytes: number, jobs = 0): Promise<void> {
    const wanted = bytes + jobs * (JOB_BYTES + GROWTH_BYTES);
    const known = await this.#recent();
    if (known.taken + wanted <= known.room * RENEW_SHARE) {
      known.taken += wanted;
      return;
    }
    const reading = await this.#renew(known);
    if (reading.taken + wanted > reading.room) throw new RedisError('redis-full', reading.why);
    reading.taken += wanted;
  }

  /** Bytes that submissions may still take; infinite where there is no limit. */
  async room(): Promise<number> {
    const { room, taken } = await this.#recent();
    return Math.max(0, room - taken);
  }

  /** The same where less than half of what there is for submissions is left; else undefined. */
  async scarceRoom(): Promise<number | undefined> {
    const { room, taken, bound } = await this.#recent();
    return room - taken < bound / 2 ? Math.max(0, room - taken) : undefined;
  }

  async #recent(): Promise<Reading> {
    const known = await this.#reading;
    if (known === undefined) return this.#renew(undefined);
    return Date.now() - known.at < READING_MS ? known : this.#renew(known);
  }

  /** Whoever asks while Redis is being asked gets the same answer. */
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
      this.#client.info('memory').catch(refusedInfo),
      ...KIND_NAMES.map((kind) => sampleJobs(this.#client, `${this.#prefix}:${kind}:`, SAMPLED_JOBS)),
    ]);
    if (info === undefined) {
      return {
        at: Date.now() + ASK_AGAIN_MS - READING_MS,
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
    // Without any limit the memory of the machine is the limit, and its end is worse than a refusal.
    const limit = bounds.length > 0 ? Math.min(...bounds) : machine;
    if (limit === undefined)
      return {
        at: Date.now(),
        room: Number.POSITIVE_INFINITY,
        why: '',
        taken: 0,
        bound: Number.POSITIVE_INFINITY,
      };
    const bound = limit * this.#share;
    const why =
      `Redis uses ${megabytes(counted)} of ${megabytes(limit)} MB, and ${unfinished} jobs that have not ended may need ` +
      `${megabytes(reserved)} MB more; jobs are accepted up to ${megabytes(bound)} MB, so that these can end.`;
    return { at: Date.now(), room: bound - counted - reserved, why, taken: 0, bound };
  }
}

function megabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

/** A managed server may forbid INFO. Then its own refusal is the only one. */
function refusedInfo(error: unknown): undefined {
  if (!/unknown command|NOPERM|no permissions|not allowed|disabled/i.test(messageOf(error))) throw error;
}
