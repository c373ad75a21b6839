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

/** One run of a row: the ratio, and its numbers. */
export interface Sample {
  readonly ratio: number;
  /** Figures for people. */
  readonly figures?: Readonly<Record<string, string>>;
  /** Figures that documents compute with. */
  readonly numbers?: Readonly<Record<string, number>>;
  /** Single measurements by what they are of, for plots. */
  readonly series?: Readonly<Record<string, readonly number[]>>;
}

/** What is at the head of a row of the table. */
export interface RowHead {
  readonly name: string;
  readonly work: string;
  readonly against: string;
  readonly target: Target;
  /** What the ratio is in, where it is no pure number. */
  readonly unit?: string;
}

/**
 * One row of the table: a piece of work measured against a peer doing the same on the same Redis. `run` measures both,
 * one right after the other, so that a noisy machine hits both alike.
 */
export interface BenchRow extends RowHead {
  /** Measurements, of which the median counts. */
  readonly runs: number;
  /** Seconds that the short form takes; a row without is in the full form only. Default: 1. */
  readonly shortSeconds?: number | null;
  run(context: RowContext): Promise<Sample>;
}

/** A row that cannot be measured here, and why. */
export interface NotMeasured {
  readonly notMeasured: string;
}

/** Rows that come out of the same measurement: what takes minutes to set up, or tells several things at once. */
export interface RowGroup {
  readonly rows: readonly RowHead[];
  /** As that of a row. */
  readonly shortSeconds?: number | null;
  /** All samples of each row, by its name. */
  measure(context: RowContext): Promise<Readonly<Record<string, readonly Sample[] | NotMeasured>>>;
}

/** A row as a group of one. */
export function groupOf(row: BenchRow): RowGroup {
  return {
    rows: [row],
    ...(row.shortSeconds === undefined ? {} : { shortSeconds: row.shortSeconds }),
    measure: async (context) => {
      const samples: Sample[] = [];
      for (let run = 0; run < (context.short ? 1 : row.runs); run += 1) {
        await context.redis.flush();
        samples.push(await row.run(context));
      }
      return { [row.name]: samples };
    },
  };
}
