/**
 * Probability that an output is a copy, given how far its strongest check is from its threshold (1 is the threshold).
 * A logistic curve through one half at the threshold, its slope fitted to the tuning pairs with smoothed targets
 * (Platt 1999), which keeps it from certainty where few pairs lie; docs/contamination.md has the reliability
 * table, and a test computes it again.
 */
function copyProbability(margin: number): number {
  return 1 / (1 + Math.exp(-SLOPE * (margin - MIDDLE)));
}

const SLOPE = 16;
const MIDDLE = 1;

/** A pair that is classified beyond doubt still leaves room for a mislabeled or an unknown one. */
const LARGEST = 0.995;
/** Nothing was compared, or too little to tell: neither verdict is more likely. */
const UNKNOWN = 0.5;
/** A fast solve or a jump in the reasoning alone: a suspicion that nobody can measure against a known label. */
const TIMING_ALONE = 0.6;
const REASONING_ALONE = 0.75;

interface Signals {
  /** Largest value over its threshold among the checks that compared the output with known solutions. */
  readonly margin: number | undefined;
  readonly timing: boolean;
  readonly reasoning: boolean;
}

/** How likely the verdict is right: `contaminated` where any signal is raised, clean otherwise. */
export function confidenceOf({ margin, timing, reasoning }: Signals): number {
  const copied = margin !== undefined && margin >= 1;
  if (!copied && !timing && !reasoning) {
    return margin === undefined ? UNKNOWN : Math.min(LARGEST, 1 - copyProbability(margin));
  }
  const doubts = [
    copied ? 1 - copyProbability(margin) : 1,
    timing ? 1 - TIMING_ALONE : 1,
    reasoning ? 1 - REASONING_ALONE : 1,
  ];
  return Math.min(LARGEST, 1 - doubts.reduce((product, doubt) => product * doubt, 1));
}
