import { ContaminationDetector } from '../../src/contamination/detector.js';
import {
  completeKnownSolution,
  type KnownSolutionStore,
  MemoryKnownSet,
} from '../../src/contamination/known-set.js';
import type { ContaminationResult, KnownSolution } from '../../src/contamination/types.js';
import { wilsonInterval } from './wilson.js';

/** One labeled pair: is `output` a copy of `known`? */
export interface LabeledPair {
  readonly id: string;
  readonly kind: string;
  readonly label: 'contaminated' | 'clean';
  readonly known: string;
  readonly output: string;
}

export interface EvaluatedPair {
  readonly pair: LabeledPair;
  readonly result: ContaminationResult;
  readonly right: boolean;
}

/**
 * Checks each pair with a set of just its known solution, besides a background of other tasks' solutions.
 */
export async function evaluatePairs(
  pairs: Iterable<LabeledPair>,
  background: MemoryKnownSet = new MemoryKnownSet(),
): Promise<EvaluatedPair[]> {
  const evaluated: EvaluatedPair[] = [];
  let own: KnownSolution[] = [];
  const store: KnownSolutionStore = {
    ofTestCase: () => Promise.resolve(own),
    byReference: (references) => background.byReference(references),
  };
  // One detector for all pairs: it reads a solution once that several of them copy.
  const detector = new ContaminationDetector({}, { store, index: background.index });
  for (const pair of pairs) {
    own = [completeKnownSolution({ testCaseId: pair.id, solution: pair.known })];
    const result = await detector.checkContamination(pair.output, {
      id: pair.id,
      name: pair.kind,
      difficulty: 'medium',
    });
    evaluated.push({ pair, result, right: result.contaminated === (pair.label === 'contaminated') });
  }
  return evaluated;
}

/** A fraction with its 95 % Wilson score interval. */
export interface Proportion {
  readonly count: number;
  readonly of: number;
  readonly fraction: number;
  readonly low: number;
  readonly high: number;
}

export function proportion(count: number, of: number): Proportion {
  return { count, of, fraction: of === 0 ? 0 : count / of, ...wilsonInterval(count, of) };
}

interface KindReport {
  readonly kind: string;
  readonly label: LabeledPair['label'];
  /** Verdicts of "contaminated": the recall of a contaminated kind, the false-positive rate of a clean one. */
  readonly flagged: Proportion;
}

/** Of the verdicts with a confidence in a range, how many are right. */
interface ReliabilityRow {
  readonly from: number;
  readonly to: number;
  readonly meanConfidence: number;
  readonly right: Proportion;
}

export interface EvaluationReport {
  readonly recall: Proportion;
  readonly falsePositives: Proportion;
  readonly kinds: readonly KindReport[];
  readonly reliability: readonly ReliabilityRow[];
  readonly wrong: readonly {
    readonly id: string;
    readonly kind: string;
    readonly confidence: number;
    readonly reason?: string;
  }[];
}

const CONFIDENCE_STEPS = [0, 0.7, 0.9, 0.97, 0.99, 1];

export function reportOn(evaluated: readonly EvaluatedPair[]): EvaluationReport {
  const flaggedOf = (rows: readonly EvaluatedPair[]): Proportion =>
    proportion(rows.filter(({ result }) => result.contaminated).length, rows.length);
  const labeled = (label: LabeledPair['label']): EvaluatedPair[] =>
    evaluated.filter(({ pair }) => pair.label === label);
  const groups = new Map<string, EvaluatedPair[]>();
  for (const each of evaluated) {
    const key = `${each.pair.label} ${each.pair.kind}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  const kinds = [...groups.values()].map((rows): KindReport => {
    const { kind, label } = (rows[0] as EvaluatedPair).pair;
    return { kind, label, flagged: flaggedOf(rows) };
  });
  kinds.sort((a, b) => b.label.localeCompare(a.label) || a.kind.localeCompare(b.kind));
  return {
    recall: flaggedOf(labeled('contaminated')),
    falsePositives: flaggedOf(labeled('clean')),
    kinds,
    reliability: reliabilityOf(evaluated),
    wrong: evaluated
      .filter(({ right }) => !right)
      .map(({ pair, result }) => ({
        id: pair.id,
        kind: pair.kind,
        confidence: result.confidence,
        ...(result.reason === undefined ? {} : { reason: result.reason }),
      })),
  };
}

function reliabilityOf(evaluated: readonly EvaluatedPair[]): ReliabilityRow[] {
  return CONFIDENCE_STEPS.slice(1).flatMap((to, i) => {
    const from = CONFIDENCE_STEPS[i] as number;
    const rows = evaluated.filter(
      ({ result: { confidence } }) =>
        confidence >= from && (confidence < to || (to === 1 && confidence <= 1)),
    );
    if (rows.length === 0) return [];
    const meanConfidence = rows.reduce((sum, { result }) => sum + result.confidence, 0) / rows.length;
    return [
      { from, to, meanConfidence, right: proportion(rows.filter(({ right }) => right).length, rows.length) },
    ];
  });
}
