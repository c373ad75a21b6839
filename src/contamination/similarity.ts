import type { PreparedText } from './prepared-text.js';
import { commonRegions } from './text/common-regions.js';
import { IN_FIRST, IN_SECOND, readTrigrams, startPair } from './text/trigram-reader.js';
import type { SimilarityResult } from './types.js';

const REGIONS = 5;
const REGION_LENGTH = 100;

/** The binding check (SPEC-SIL-009, R1): trigram similarity, with the longest regions both texts share. */
export function similarityResult(
  output: PreparedText,
  known: PreparedText,
  threshold: number,
): SimilarityResult {
  const similarity = trigramSimilarity(output.original, known.original);
  const spans = commonRegions(output.original, known.original, REGIONS);
  const matchedRegions = spans.map(({ output: [start, end] }) => {
    const region = output.original.slice(start, Math.min(end, start + REGION_LENGTH));
    return end - start > REGION_LENGTH ? `${region}...` : region;
  });
  return { similarity, threshold, contaminated: similarity > threshold, matchedRegions, spans };
}

/**
 * Jaccard similarity of the character trigrams of two texts, compared without regard to letter case and to
 * the length of white space (SPEC-SIL-009, R1). A text with fewer than three characters has no trigram and
 * is similar to nothing: 0.
 *
 * The number is exact: it equals the one that sets of substrings would give, at a fraction of the work. Each text is
 * read once, folded on the way, and a trigram is a number; no text in lower case and no substring is made.
 *
 * @returns a number in [0, 1]
 */
export function trigramSimilarity(first: string, second: string): number {
  startPair(first.length + second.length);
  const ofFirst = readTrigrams(first.trim(), IN_FIRST);
  const ofSecond = readTrigrams(second.trim(), IN_SECOND);
  if (ofFirst.distinct === 0 || ofSecond.distinct === 0) return 0;
  return ofSecond.shared / (ofFirst.distinct + ofSecond.distinct - ofSecond.shared);
}
