import type { Call, Span } from '../syntax/ast.js';
import { calleeName } from '../syntax/walk.js';
import type { Score } from '../values/facts.js';
import type { Arguments } from './arguments.js';

/** Functions that score each class by itself, unless they are told to average. */
const BY_CLASS =
  /^(confusion_matrix|multilabel_confusion_matrix|classification_report|precision_recall_fscore_support)$/;

/** Whether a metric gives a score for each class, or for each output, and not one for all rows. */
export function isByClass(args: Arguments, call: Call): boolean {
  const average = args.keywords.get('average');
  if (average !== undefined) return average.type === 'constant' && average.value === null;
  const outputs = args.keywords.get('multioutput');
  return BY_CLASS.test(calleeName(call)) || (outputs?.type === 'constant' && outputs.value === 'raw_values');
}

/** Scores of the classes or groups in the predictions of one model: which of them is the best chooses no model. */
export class ScoresOfParts {
  readonly #scores = new WeakSet<Score>();
  readonly #loops = new Set<Span>();

  add(scores: readonly Score[]): void {
    for (const score of scores) this.#scores.add(score);
  }

  /** Records a loop each round of which has another group of rows. */
  addLoop(loop: Span): void {
    this.#loops.add(loop);
  }

  /** Whether all that is compared are parts of the predictions that one model made, once. */
  areOfOneModel(scores: readonly Score[]): boolean {
    const [first, ...others] = scores;
    if (first === undefined) return false;
    const [prediction, ...further] = first.predictions;
    if (prediction === undefined || further.length > 0) return false;
    const isOfGroup = ({ repeat }: Score): boolean =>
      repeat !== undefined && this.#loops.has(repeat) && !isInside(prediction.node, repeat);
    if (others.length === 0 && first.repeat === undefined) return this.#scores.has(first);
    return scores.every(
      (score) => score.node === first.node && isOnly(score.predictions, prediction) && isOfGroup(score),
    );
  }
}

function isInside(node: Span, { start, end }: Span): boolean {
  return start <= node.start && node.end <= end;
}

function isOnly<T>(items: readonly T[], item: T): boolean {
  return items.length === 1 && items[0] === item;
}
