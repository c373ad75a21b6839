import type { LeakFinding } from '../leakage/analyze.js';
import type { LeakKind } from '../leakage/kinds.js';
import type { DocumentSpan, OpenCode } from './open-code.js';

/** One step on the way of a leak to the score. */
export interface FlowStep {
  readonly name: 'fit' | 'call' | 'split' | 'score';
  /** What happens there, as a sentence without its end. */
  readonly what: string;
  readonly at: DocumentSpan;
}

/** What happens where a leak begins, for kinds in which nothing is fitted. */
const FITS: Partial<Record<LeakKind, string>> = {
  selection: 'chosen by scores of rows that are scored again',
  'early-stopping': 'training watches the scored rows',
  'training-rows': 'trained on rows that are scored',
  'pseudo-labels': 'trained on rows that are scored',
  stacking: 'trained on rows that are scored',
  'group-overlap': 'divides the rows and ignores their groups',
  'duplicated-rows': 'copies rows that are divided later',
  'over-sampling': 'makes rows of all rows',
  'future-values': 'takes values of later rows',
  'shuffled-time': 'takes labels of earlier rows',
  'label-in-features': 'says what the label is',
};

/** The way of a leak to the score, in its order, as far as it is in the documents. */
export function flowSteps({ kind, flow }: LeakFinding, code: OpenCode): readonly FlowStep[] {
  const steps = [
    { name: 'fit', what: FITS[kind] ?? 'learned from rows that are scored', span: flow.fit },
    { name: 'call', what: 'called here', span: flow.calledBy },
    { name: 'split', what: 'the scored rows are divided from the others', span: flow.split },
    { name: 'score', what: 'these rows are scored', span: flow.score },
  ] as const;
  return steps.flatMap(({ name, what, span }) => {
    const at = span && code.locate(span);
    return at === undefined ? [] : [{ name, what, at }];
  });
}
