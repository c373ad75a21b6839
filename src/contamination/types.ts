import type { CheckName } from './checks.js';
import type { ContaminationConfig } from './config.js';

export type Difficulty = 'easy' | 'medium' | 'hard';

/** What is checked against: the task, and what is known about how the answer came to be. */
export interface TestCase {
  readonly id: string;
  readonly name: string;
  readonly difficulty: Difficulty;
  /** Milliseconds that the answer took; left out where nobody measured. */
  readonly solveTime?: number | undefined;
  readonly thoughtChain?: readonly string[] | undefined;
  /** Text that the task hands out: what an answer shares with it does not count. */
  readonly starter?: string | undefined;
}

/** A solution that an agent must not have seen. */
export interface KnownSolution {
  readonly testCaseId: string;
  readonly solution: string;
  /** SHA-256 of the solution's normal form. */
  readonly hash: string;
  /** ISO 8601 time. */
  readonly addedToTraining: string;
}

/** A known solution as it is handed in; what is left out is worked out. */
export interface KnownSolutionInput {
  readonly testCaseId: string;
  readonly solution: string;
  readonly hash?: string | undefined;
  readonly addedToTraining?: string | undefined;
}

/** Half-open range of UTF-16 offsets. */
export type Span = readonly [start: number, end: number];

/** A stretch of the output and the stretch of the known solution that it matches. */
export interface SpanPair {
  readonly output: Span;
  readonly known: Span;
}

/** Which known solution a check speaks of. */
export interface KnownReference {
  readonly testCaseId: string;
  readonly hash: string;
}

export interface SimilarityResult {
  /** Jaccard similarity of character trigrams, 0 to 1. */
  readonly similarity: number;
  readonly threshold: number;
  readonly contaminated: boolean;
  /** The longest regions that both texts share, longest first, each cut at 100 characters. */
  readonly matchedRegions: string[];
  /** Where those regions are, in the same order. */
  readonly spans: readonly SpanPair[];
}

export interface TimingResult {
  /** Milliseconds. */
  readonly actualTime: number;
  /** Milliseconds. */
  readonly expectedTime: number;
  readonly ratio: number;
  readonly contaminated: boolean;
}

export interface ReasoningResult {
  /** Distinct thoughts. */
  readonly thoughtCount: number;
  /** Distinct thoughts that weigh, doubt or turn back. */
  readonly explorationDepth: number;
  readonly jumpsToSolution: boolean;
  readonly suspiciousPatterns: string[];
  /** Index of the first thought in which the solution is; undefined where it is in none. */
  readonly solutionAt?: number | undefined;
  /** The largest fraction of the known solution that one thought holds, 0 to 1. */
  readonly containment?: number | undefined;
}

/** A check that compared the output with at least one known solution. */
export interface RanCheck {
  readonly status: 'ran';
  readonly value: number;
  readonly threshold: number;
  readonly contaminated: boolean;
  /** The known solution that the value speaks of; left out where nothing was found in any. */
  readonly known?: KnownReference;
  readonly spans: readonly SpanPair[];
}

/** A check that has no say, and why. */
export interface SkippedCheck {
  readonly status: 'skipped';
  readonly threshold: number;
  readonly skipped: string;
}

export type EvasionCheck = RanCheck | SkippedCheck;

export interface ContaminationChecks {
  similarity?: SimilarityResult;
  timing?: TimingResult;
  reasoning?: ReasoningResult;
  exact?: EvasionCheck;
  containment?: EvasionCheck;
  evidence?: EvasionCheck;
  fingerprint?: EvasionCheck;
  wording?: EvasionCheck;
  crossTask?: EvasionCheck;
  /** Every check that did not run, and why. */
  skipped: Partial<Record<CheckName, string>>;
}

export interface ContaminationResult {
  readonly contaminated: boolean;
  readonly reason?: string;
  /** How sure the verdict is, 0 to 1: of verdicts with 0.9, about nine in ten are right. */
  readonly confidence: number;
  /** Set where a clean output was compared with nothing, or too little to tell (confidence 0.5): the reason. */
  readonly note?: string;
  readonly checks: ContaminationChecks;
  /** The thresholds in force. */
  readonly config: ContaminationConfig;
}
