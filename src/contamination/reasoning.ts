import { comparePair } from './compare-pair.js';
import { PreparedText } from './prepared-text.js';
import { trigramSimilarity } from './similarity.js';
import { foldedText } from './text/folded-text.js';
import type { ReasoningResult } from './types.js';

const EXPLORING: readonly RegExp[] = [
  /let me (?:think|consider|explore)/i,
  /another approach/i,
  /alternatively/i,
  /what if/i,
  /on the other hand/i,
  /but wait/i,
  /actually/i,
  /hmm/i,
  /considering/i,
];
const CLAIMS_KNOWLEDGE = /I (?:already )?know|The answer is|Obviously|Simply/i;
/** Thoughts counted as early for a claim of knowledge. */
const EARLY_CLAIMS = 2;
const SHORT_CHAIN = 3;
/** Similarity from which a thought is the solution (SPEC-SIL-009, R3). */
const SOLUTION_SIMILARITY = 0.7;

export interface ReasoningSettings {
  readonly minExplorationDepth: number;
  readonly containmentThreshold: number;
  readonly minimumTokens: number;
}

/**
 * How a chain of thoughts came to its answer (SPEC-SIL-009, R3). A thought that is said again, except for
 * letter case and white space, says nothing new: each distinct thought counts once. The chain jumps to the
 * solution if a known solution is in the first third of the thoughts, at least the first two: as a thought
 * that is similar to it, or as code or text inside a longer thought.
 *
 * @param known solutions of the same task; without one, nothing can be jumped to
 */
export function analyzeReasoning(
  thoughtChain: readonly string[],
  known: readonly PreparedText[],
  settings: ReasoningSettings,
): ReasoningResult {
  const thoughts = distinctThoughts(thoughtChain);
  const explorationDepth = thoughts.filter(({ text }) =>
    EXPLORING.some((pattern) => pattern.test(text)),
  ).length;
  const suspiciousPatterns: string[] = [];
  if (thoughts.length < SHORT_CHAIN) suspiciousPatterns.push('Very short reasoning chain');
  if (explorationDepth < settings.minExplorationDepth)
    suspiciousPatterns.push('Minimal exploration before answer');
  if (thoughts.slice(0, EARLY_CLAIMS).some(({ text }) => CLAIMS_KNOWLEDGE.test(text))) {
    suspiciousPatterns.push('Claims immediate knowledge early in chain');
  }
  const found = findSolution(thoughts, known, settings);
  const early = Math.max(2, Math.ceil(thoughts.length / 3));
  return {
    thoughtCount: thoughts.length,
    explorationDepth,
    jumpsToSolution: found.position !== undefined && found.position < early,
    suspiciousPatterns,
    ...(found.position === undefined ? {} : { solutionAt: thoughts[found.position]?.index }),
    ...(known.length === 0 ? {} : { containment: found.containment }),
  };
}

interface Thought {
  readonly text: string;
  /** Its first position in the chain. */
  readonly index: number;
}

function distinctThoughts(chain: readonly string[]): Thought[] {
  const seen = new Map<string, Thought>();
  chain.forEach((text, index) => {
    const key = foldedText(text);
    if (!seen.has(key)) seen.set(key, { text, index });
  });
  return [...seen.values()];
}

interface FoundSolution {
  readonly position: number | undefined;
  readonly containment: number;
}

function findSolution(
  thoughts: readonly Thought[],
  known: readonly PreparedText[],
  settings: ReasoningSettings,
): FoundSolution {
  let position: number | undefined;
  let containment = 0;
  for (const solution of known) {
    const shortest = foldedText(solution.original).length * MIN_LENGTH_RATIO;
    for (const [at, { text }] of thoughts.entries()) {
      // Trigrams of much shorter text cannot reach the similarity, nor can it contain the solution.
      if (text.length < shortest) continue;
      const thought = new PreparedText(text);
      const isSimilar = trigramSimilarity(text, solution.original) > SOLUTION_SIMILARITY;
      const { containment: measure } = comparePair(thought, solution, {
        minimumTokens: settings.minimumTokens,
      }).measures;
      containment = Math.max(containment, measure?.value ?? 0);
      const isContained =
        measure !== undefined && measure.value >= Math.max(measure.threshold, settings.containmentThreshold);
      if ((isSimilar || isContained) && (position === undefined || at < position)) position = at;
    }
  }
  return { position, containment };
}

/** A thought that holds most of a solution is at least this long beside it, however tightly it is written. */
const MIN_LENGTH_RATIO = 0.2;
