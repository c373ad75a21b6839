import type { LeakKind } from '../kinds.js';

/** What a correction of some kinds of leaks has to change. */
export interface Tolerance {
  /** Rows that the model is trained on. */
  readonly trainingRows: Strictness;
  /** Rows that are scored. */
  readonly scoredRows: Strictness;
  /** What rows go through, or which columns they have. */
  readonly steps: Strictness;
  /** Model, its parameters, and how its predictions are used. */
  readonly model: Strictness;
  /** Whether something is chosen, or training is stopped, by scores, or another model makes the labels: on which rows is not compared. */
  readonly isChosen: boolean;
  /** Whether rows that were made up stay out of the scored ones. */
  readonly isSampled: boolean;
  /** Whether training rows may get values out of folds, and the scored rows those of all training rows. */
  readonly isOutOfFold: boolean;
}

/** `open`: it may change, and whether rightly cannot be shown. `any`: that it changes is the correction. */
type Strictness = 'strict' | 'open' | 'any';
const ORDER: readonly Strictness[] = ['strict', 'open', 'any'];
const ASPECTS = ['trainingRows', 'scoredRows', 'steps', 'model'] as const;

const BY_KIND: Partial<Record<LeakKind, Partial<Record<(typeof ASPECTS)[number], Strictness>>>> = {
  'training-rows': { trainingRows: 'any', scoredRows: 'open' },
  'target-encoding': { steps: 'open' },
  'duplicated-rows': { trainingRows: 'open', scoredRows: 'open', steps: 'open' },
  'pseudo-labels': { trainingRows: 'any', model: 'open' },
  stacking: { trainingRows: 'any', scoredRows: 'open', model: 'open', steps: 'open' },
  selection: { trainingRows: 'any', scoredRows: 'open', model: 'open', steps: 'open' },
  'early-stopping': { trainingRows: 'any', model: 'open' },
  'group-overlap': { trainingRows: 'any', scoredRows: 'any', model: 'open' },
  'shuffled-time': { trainingRows: 'any', scoredRows: 'any', steps: 'open', model: 'open' },
  'label-in-features': { steps: 'any' },
  'future-values': { steps: 'open', trainingRows: 'open', scoredRows: 'open' },
};

/** What may change where leaks of these kinds are corrected; anything if no kind is known. */
export function toleranceFor(kinds: readonly string[]): Tolerance {
  const strictness = (aspect: (typeof ASPECTS)[number]): Strictness => {
    if (kinds.length === 0) return 'open';
    const all = kinds.map((kind) => ORDER.indexOf(BY_KIND[kind as LeakKind]?.[aspect] ?? 'strict'));
    return ORDER[Math.max(...all)] ?? 'strict';
  };
  return {
    trainingRows: strictness('trainingRows'),
    scoredRows: strictness('scoredRows'),
    steps: strictness('steps'),
    model: strictness('model'),
    isChosen: kinds.some((kind) => /^(selection|early-stopping|stacking|pseudo-labels)$/.test(kind)),
    isSampled: kinds.includes('over-sampling'),
    isOutOfFold: kinds.some((kind) => /^(target-encoding|stacking)$/.test(kind)),
  };
}
