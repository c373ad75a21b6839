import type { BenchRedis } from './bench-redis.js';

/** What a row wants its ratio to be; null where there is nothing to reach and the figure is only stated. */
export type Target = { readonly atLeast: number } | { readonly atMost: number } | null;

export interface RowContext {
  readonly redis: BenchRedis;
  /** Fewer and smaller runs, for CI: the figures say less. */
  readonly short: boolean;
  /** A Redis prefix that nothing else has. */
  prefix(): string;
}

/** One run of a row: the ratio, and figures behind it for people. */
export interface Sample {
  readonly ratio: number;
  readonly figures?: Readonly<Record<string, string>>;
}

/**
 * One row of the table: a piece of work measured against a peer doing the same on the same Redis. `run` measures both,
 * one right after the other, so that a noisy machine hits both alike.
 */
export interface BenchRow {
  readonly name: string;
  readonly work: string;
  readonly against: string;
  readonly target: Target;
  /** What the ratio is in, where it is no pure number. */
  readonly unit?: string;
  /** Measurements, of which the median counts. */
  readonly runs: number;
  run(context: RowContext): Promise<Sample>;
}
