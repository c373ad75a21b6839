import type { PreparedText } from './prepared-text.js';
import { commonRegions } from './text/common-regions.js';
import { trigramSimilarity } from './text/trigram-similarity.js';
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
