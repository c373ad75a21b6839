/**
 * Contamination: is an output a copy of a known solution? Everything public of this room; no Redis needed.
 */

export { CHECKS, type CheckName, EVASION_CHECKS, type EvasionCheckName } from './checks.js';
export { type Case, classify, type PreparedKnown } from './classify.js';
export type { ContaminationConfig, ContaminationConfigInput } from './config.js';
export { DEFAULT_CONTAMINATION_CONFIG } from './config.js';
export {
  ContaminationDetector,
  getContaminationDetector,
  type KnownSource,
  resetContaminationDetector,
} from './detector.js';
export { fingerprintsOf, queryFingerprints } from './index/fingerprints.js';
export { InvertedIndex } from './index/inverted-index.js';
export type { Candidate, KnownSolutionIndex } from './index/known-index.js';
export { completeKnownSolution, type KnownSolutionStore, MemoryKnownSet } from './known-set.js';
export { PreparedText } from './prepared-text.js';
export { type ReportEntry, renderReport } from './report/render-report.js';
export { contentHash } from './text/folded-text.js';
export { EXPECTED_SOLVE_TIMES } from './timing.js';
export type * from './types.js';
