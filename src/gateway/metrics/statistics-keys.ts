/** Consumer group in which the gateways of a fleet share the counting. */
export const GROUP = 'fleet-statistics';

/** Upper bounds of the duration histogram, in seconds: an offline answer takes milliseconds, a long call 20 minutes. */
export const DURATION_BOUNDS = [0.05, 0.25, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600, 1_200, 3_600] as const;

/** Durations that are kept for percentiles, per kind. */
export const MAX_DURATIONS = 1_000;
export const MINUTE_SECONDS = 60;
/** Minutes are kept for two hours, in seconds. */
export const MINUTE_TTL = 2 * 3_600;

/** A field of the totals: what is counted, and its labels. Neither contains a `|`. */
export function totalField(...parts: readonly string[]): string {
  return parts.join('|');
}

export function minuteOf(ms: number): number {
  return Math.floor(ms / 1_000 / MINUTE_SECONDS);
}
