import { RequestError } from '../../errors.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import { withDetails } from '../http/problem.js';
import type { Statistics } from '../metrics/statistics.js';
import { SubmitterQuota } from './submitter-quota.js';

interface Reading {
  readonly at: number;
  /** Jobs in Redis that had not started at that time. */
  readonly depth: number;
  /** Admitted jobs that were surely in Redis at that time. */
  readonly landedBefore: number;
}

/** Jobs of a kind that this gateway has admitted since its start, and those of them that are in Redis or never will be. */
interface Counts {
  admitted: number;
  landed: number;
}

/** How long a reading of a queue's depth is used, in milliseconds; jobs that it may not include are added to it. */
const READING_MS = 250;
/** Retry-After in seconds: if no jobs end, and at most. */
const UNKNOWN_DRAIN = 60;
const MAX_RETRY_SECONDS = 3_600;

/** Admits jobs while fewer than a limit of their kind wait, so no queue grows without bound. */
export class Admission {
  readonly #fleet: FleetClient;
  readonly #statistics: Statistics;
  readonly #limit: number;
  readonly #quota: SubmitterQuota;
  readonly #readings = new Map<string, Promise<Reading>>();
  readonly #counts = new Map<string, Counts>();

  /** @param submitters how many there may be */
  constructor(
    fleet: FleetClient,
    statistics: Statistics,
    limit: number,
    submitters: () => Promise<number> = async () => 1,
  ) {
    this.#quota = new SubmitterQuota(fleet, submitters);
    this.#fleet = fleet;
    this.#statistics = statistics;
    this.#limit = limit;
  }

  /**
   * Admits so many jobs of a kind. Call the returned function once they are in Redis, or will never be: until then they count
   * in addition to those in Redis.
   *
   * @throws RequestError `too-many-waiting`, with the seconds after which there should be room.
   */
  async admit(kind: string, count = 1, submitter = ''): Promise<() => void> {
    const reading = await this.#reading(kind);
    const free = this.#limit - this.#depth(kind, reading);
    // If the kind has no room at all, the error below says so.
    if (count <= free) await this.#quota.take(kind, submitter, count, free, this.#limit);
    // No jobs are rejected because of an old reading: some of the jobs that it counts may have ended meanwhile.
    const landed =
      this.#take(kind, count, reading) ?? this.#take(kind, count, await this.#reading(kind, reading));
    if (landed !== undefined) return landed;
    const depth = this.#depth(kind, await this.#reading(kind));
    const rate = await this.#statistics.drainRate(kind);
    throw withDetails(
      new RequestError(
        'too-many-waiting',
        `${depth} ${kind} jobs wait, the limit is ${this.#limit}${count > 1 ? ` (${count} were to be added)` : ''}`,
      ),
      { retryAfter: retryAfter(depth + count - this.#limit, rate) },
    );
  }

  #depth(kind: string, reading: Reading): number {
    return reading.depth + this.#countsOf(kind).admitted - reading.landedBefore;
  }

  /** Counts the jobs as admitted if a reading leaves room for them; undefined if it leaves none. */
  #take(kind: string, count: number, reading: Reading): (() => void) | undefined {
    if (this.#depth(kind, reading) + count > this.#limit) return undefined;
    const counts = this.#countsOf(kind);
    counts.admitted += count;
    return () => {
      counts.landed += count;
    };
  }

  /**
   * Submits jobs within the limits of their kinds: they count as admitted until the work is done.
   * @throws as `admit`, and what the work throws.
   */
  async within<T>(
    submitter: string,
    counts: readonly (readonly [string, number])[],
    work: () => Promise<T>,
  ): Promise<T> {
    const landed: (() => void)[] = [];
    try {
      for (const [kind, count] of counts) landed.push(await this.admit(kind, count, submitter));
      return await work();
    } finally {
      for (const land of landed) land();
    }
  }

  /** A reading that is recent and not the outdated one. */
  async #reading(kind: string, outdated?: Reading): Promise<Reading> {
    const known = this.#readings.get(kind);
    if (known !== undefined) {
      const reading = await known;
      if (reading !== outdated && Date.now() - reading.at < READING_MS) return reading;
    }
    // Concurrent callers share one reading.
    if (this.#readings.get(kind) === known) {
      const next = this.#read(kind);
      this.#readings.set(kind, next);
      next.catch(() => this.#readings.delete(kind));
    }
    return this.#readings.get(kind) ?? this.#read(kind);
  }

  #countsOf(kind: string): Counts {
    const known = this.#counts.get(kind);
    if (known !== undefined) return known;
    const counts = { admitted: 0, landed: 0 };
    this.#counts.set(kind, counts);
    return counts;
  }

  async #read(kind: string): Promise<Reading> {
    const landedBefore = this.#countsOf(kind).landed;
    const counts = await this.#fleet
      .queue(kind)
      .getJobCounts('wait', 'prioritized', 'delayed', 'waiting-children');
    const depth = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return { at: Date.now(), depth, landedBefore };
  }
}

/** Seconds until so many jobs have ended, at a rate of jobs a second. */
export function retryAfter(jobs: number, rate: number): number {
  if (rate <= 0) return UNKNOWN_DRAIN;
  return Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(jobs / rate)));
}
