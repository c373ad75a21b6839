export interface ShortText {
  /** How the source of the expression starts. */
  readonly start: string;
  /** The most characters of its input, which is cut right before its use. */
  readonly max: number;
  readonly reason: string;
}

/** Expressions that may take more than linear time, because their input is cut to a few characters. */
export const SHORT_TEXTS: readonly ShortText[] = [
  {
    start: '(?<![\\p{L}\\p{N}])(?:(?:validation|valid|val|',
    max: 90,
    reason: 'metricAtEnd gives it the last 90 characters; words of a metric may start anywhere in them.',
  },
];
