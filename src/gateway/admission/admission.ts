import { RequestError } from '../../errors.js';
import type { FleetConnection } from '../../producers/fleet-connection.js';
import type { KindName } from '../../queues/registry.js';
import { withDetails } from '../http/problem.js';
import type { Statistics } from '../metrics/statistics.js';

interface Reading {
  readonly at: number;
  /** Unstarted jobs in Redis at that time. */
  readonly depth: number;
  /** Jobs let in since. */
  admitted: number;
}

/** How long a reading of a queue's depth counts, in milliseconds; jobs let in since are added to it. */
const READING_MS = 250;
/** Retry-After in seconds: where nothing is being worked off, and at most. */
const UNKNOWN_DRAIN = 60;
const LONGEST_RETRY = 3_600;

/** Lets jobs in while fewer than a limit of their kind wait, so that a queue never grows without end. */
export class Admission {
  readonly #fleet: FleetConnection;
  readonly #statistics: Statistics;
  readonly #limit: number;
  readonly #readings = new Map<KindName, Promise<Reading>>();

  constructor(fleet: FleetConnection, statistics: Statistics, limit: number) {
    this.#fleet = fleet;
    this.#statistics = statistics;
    this.#limit = limit;
  }

  /**
   * Takes places for so many jobs of a kind.
   * @throws RequestError `too-many-waiting`, with the seconds after which there should be places.
   */
  async admit(kind: KindName, count = 1): Promise<void> {
    const reading = await this.#reading(kind);
    const depth = reading.depth + reading.admitted;
    if (depth + count <= this.#limit) {
      reading.admitted += count;
      return;
    }
    const rate = await this.#statistics.drainRate(kind);
    throw withDetails(
      new RequestError(
        'too-many-waiting',
        `${depth} ${kind} jobs wait, the limit is ${this.#limit}` +
          (count > 1 ? ` (${count} were to be added)` : ''),
      ),
      { retryAfter: retryAfter(depth + count - this.#limit, rate) },
    );
  }

  async #reading(kind: KindName): Promise<Reading> {
    const known = this.#readings.get(kind);
    if (known !== undefined) {
      const reading = await known;
      if (Date.now() - reading.at < READING_MS) return reading;
    }
    // Whoever asks while it is read waits for the same answer.
    if (this.#readings.get(kind) === known) {
      const next = this.#read(kind);
      this.#readings.set(kind, next);
      next.catch(() => this.#readings.delete(kind));
    }
    return this.#readings.get(kind) ?? this.#read(kind);
  }

  async #read(kind: KindName): Promise<Reading> {
    const counts = await this.#fleet
      .queue(kind)
      .getJobCounts('wait', 'prioritized', 'delayed', 'waiting-children');
    const depth = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return { at: Date.now(), depth, admitted: 0 };
  }
}

/** Seconds until so many places are free at a rate of jobs a second. */
export function retryAfter(places: number, rate: number): number {
  if (rate <= 0) return UNKNOWN_DRAIN;
  return Math.min(LONGEST_RETRY, Math.max(1, Math.ceil(places / rate)));
}
