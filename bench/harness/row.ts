import type { BenchRedis } from './bench-redis.js';

/** The target of a row's ratio; null if the ratio is only reported. */
export type Target = { readonly atLeast: number } | { readonly atMost: number } | null;

export interface RowContext {
  readonly redis: BenchRedis;
  /** Fewer and smaller runs, for CI: the numbers are less precise. */
  readonly short: boolean;
  /** A Redis prefix for this run alone. */
  prefix(): string;
}

/** One run of a row: the ratio, and its numbers. */
export interface Sample {
  readonly ratio: number;
  /** Numbers for people. */
  readonly details?: Readonly<Record<string, string>>;
  /** Numbers from which documents are computed. */
  readonly numbers?: Readonly<Record<string, number>>;
  /** Single measurements by name, for plots. */
  readonly series?: Readonly<Record<string, readonly number[]>>;
}

/** The first column of the table. */
export interface RowHead {
  readonly name: string;
  readonly work: string;
  readonly against: string;
  readonly target: Target;
  /** The unit of the ratio, if it has one. */
  readonly unit?: string;
}

/**
 * One row of the table: a piece of work compared with a peer that does the same on the same Redis. `run` measures both, one
 * right after the other, so that a noisy machine hits both alike.
 */
export interface BenchRow extends RowHead {
  /** Number of measurements; their median is the result. */
  readonly runs: number;
  /** Seconds of the short form; a row without it is only in the full form. Default: 1. */
  readonly shortSeconds?: number | null;
  run(context: RowContext): Promise<Sample>;
}

/** A row that cannot be measured here, and why. */
export interface NotMeasured {
  readonly notMeasured: string;
}

/** Rows of the same measurement: its set-up takes minutes, or it gives several results at once. */
export interface RowGroup {
  readonly rows: readonly RowHead[];
  /** Like that of a row. */
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
