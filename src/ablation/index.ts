export type {
  AblationInput,
  AblationReading,
  AblationScore,
  AblationVariant,
  Direction,
  FailedVariant,
  VariantKind,
} from './ablation-reading.js';
export { findUnsupportedNumbers, type UnsupportedNumbers } from './find-unsupported-numbers.js';
export { type PlannedBlock, planRefinement, type RefinementInput } from './plan-refinement.js';
export { readAblation } from './read-ablation.js';
export { type ShortenedOutput, shortenOutput } from './shorten-output.js';
export { describeReading, summarizeAblation } from './summarize-ablation.js';
