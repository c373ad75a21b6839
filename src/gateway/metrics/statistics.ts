import type { FleetClient } from '../../producers/fleet-client.js';
import { type StatisticsKeys, statisticsKeys } from '../../queues/redis-keys.js';
import { MINUTE_SECONDS, minuteOf } from './statistics-keys.js';

/** How many jobs of a kind ended in one minute. */
export interface MinuteCounts {
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** Minutes over which the drain rate is measured. */
const DRAIN_MINUTES = 5;
/** How long a drain rate is reused, in milliseconds: it changes slowly, and every rejected request needs it. */
const DRAIN_CACHE_MS = 2_000;

/** Reads what the collectors of the fleet's gateways have counted. */
export class Statistics {
  readonly #fleet: FleetClient;
  readonly #keys: StatisticsKeys;
  readonly #drainRates = new Map<string, { readonly at: number; readonly rate: number }>();

  constructor(fleet: FleetClient) {
    this.#fleet = fleet;
    this.#keys = statisticsKeys(fleet.prefix);
  }

  /** Sums since the beginning, by field. */
  async totals(): Promise<ReadonlyMap<string, number>> {
    const fields = await this.#fleet.client.hgetall(this.#keys.totals);
    return new Map(Object.entries(fields).map(([field, value]) => [field, Number(value)]));
  }

  /** The last minutes of a kind, oldest first; the last one is the current minute. */
  async minutes(kind: string, count: number, now = Date.now()): Promise<MinuteCounts[]> {
    const commands = this.#fleet.client.pipeline();
    const last = minuteOf(now);
    for (let minute = last - count + 1; minute <= last; minute += 1) {
      commands.hmget(this.#keys.minute(kind, minute), 'completed', 'failed', 'cancelled');
    }
    const results = (await commands.exec()) ?? [];
    return results.map(([error, values]) => {
      if (error) throw error;
      const [completed, failed, cancelled] = (values as (string | null)[]).map(Number);
      return { completed: completed ?? 0, failed: failed ?? 0, cancelled: cancelled ?? 0 };
    });
  }

  /** Jobs of a kind that end in a second, measured over the last minutes; 0 if none did. */
  async drainRate(kind: string): Promise<number> {
    const known = this.#drainRates.get(kind);
    const now = Date.now();
    if (known !== undefined && now - known.at < DRAIN_CACHE_MS) return known.rate;
    const minutes = await this.minutes(kind, DRAIN_MINUTES, now);
    const perMinute = minutes.map(({ completed, failed, cancelled }) => completed + failed + cancelled);
    const busySince = perMinute.findIndex((ended) => ended > 0);
    const elapsed = (now / 1_000) % MINUTE_SECONDS;
    // From the first minute in which a job ended: before that, there may have been no jobs.
    const seconds =
      busySince < 0 ? 1 : Math.max(1, (DRAIN_MINUTES - 1 - busySince) * MINUTE_SECONDS + elapsed);
    const rate = perMinute.reduce((sum, ended) => sum + ended, 0) / seconds;
    this.#drainRates.set(kind, { at: now, rate });
    return rate;
  }

  /** The last durations of a kind, in milliseconds. */
  async durations(kind: string): Promise<number[]> {
    return (await this.#fleet.client.lrange(this.#keys.durations(kind), 0, -1)).map(Number);
  }
}

/** The value below which a fraction of the values is (nearest rank); undefined without values. */
export function percentile(values: readonly number[], fraction: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)];
}
