export interface ShortText {
  /** How the source of the expression starts. */
  readonly start: string;
  /** The most characters that it is given, cut right before its use. */
  readonly max: number;
  readonly reason: string;
}

/** Expressions that may take more than linear time, since the text that they are given is cut to a few characters. */
export const SHORT_TEXTS: readonly ShortText[] = [
  {
    start: '(?<![\\p{L}\\p{N}])(?:(?:validation|valid|val|',
    max: 90,
    reason: 'metricAtEnd gives it the last 90 characters; words of a metric may start anywhere in them.',
  },
];
