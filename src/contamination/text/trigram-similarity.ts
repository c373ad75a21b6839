import { IN_FIRST, IN_SECOND, readTrigrams, startPair } from './trigram-reader.js';

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
