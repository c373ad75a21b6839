/**
 * The thresholds of the evasion checks for one pair, chosen on the project's own tuning pairs; docs/contamination.md
 * tells how, and what they reach.
 */
export const CONTAINMENT_THRESHOLD = 0.85;
export const FINGERPRINT_THRESHOLD = 0.7;
export const WORDING_THRESHOLD = 0.6;
/** Evidence is measured in multiples of what is needed. */
export const EVIDENCE_THRESHOLD = 1;

/** Evidence needed, as weight in long stretches: a fraction of the known solution, between two bounds. */
export function evidenceNeeded(total: number, kind: 'code' | 'prose'): number {
  const [least, fraction, most] = kind === 'code' ? [22, 0.42, 400] : [40, 0.42, 400];
  return Math.min(most, Math.max(least, fraction * total));
}

/** Known solutions with fewer code tokens are flagged only by exact hash or binding similarity. */
export const MINIMUM_TOKENS = 60;
/** The same for prose, in words. */
export const MINIMUM_WORDS = 40;

/** Weight (half as many tokens) from which a program has enough ways to be written, and below which it has the fewest. */
const MANY_WAYS = 90;
const FEW_WAYS = 50;
/** The fraction of the rest that is added to the threshold of the smallest programs. */
const SMALL_ADDS = 0.55;

/**
 * A small program has few ways to be written, and two people often write the same one, so more of it must coincide: up to
 * half of the rest is added to a threshold, falling to nothing at a weight of 90 (about 180 tokens).
 */
export function thresholdForSize(threshold: number, total: number): number {
  const small = Math.max(0, Math.min(1, (MANY_WAYS - total) / (MANY_WAYS - FEW_WAYS)));
  return threshold + (1 - threshold) * SMALL_ADDS * small;
}

/**
 * What is rare for one pair happens somewhere in a large set, so the threshold of a look-up rises with the set: by
 * three hundredths for every tenfold.
 */
export function factorForSet(size: number): number {
  return 1 + 0.03 * Math.log10(Math.max(1, size));
}
