import type { Interpreter } from '../interpret/interpreter.js';
import type { ScoredPredictions } from '../interpret/score-record.js';
import type { Expr } from '../syntax/ast.js';
import type { Score } from '../values/facts.js';
import { overlapOf, type Region } from '../values/region.js';
import { heldOutFrom } from './held-out.js';

/** Whether each candidate is a model of its own, trained in the loop that scores them. */
export function comparesModels({ predictions, repeat }: Score): boolean {
  return (
    repeat !== undefined &&
    predictions.every(
      ({ training }) =>
        training !== undefined && training.node.start >= repeat.start && training.node.end <= repeat.end,
    )
  );
}

/** Whether other rows are held out for a score: then those that a choice was made on were there for it. */
export function isScoredElsewhere(rows: readonly Region[], scored: readonly ScoredPredictions[]): boolean {
  return scored.some(
    ({ prediction, crossValidated }) =>
      !crossValidated &&
      heldOutFrom(prediction.training, prediction.rows) &&
      overlapOf(prediction.rows, rows) === 'no',
  );
}

/**
 * The calls that print the score the script is evaluated by: those that call it final, or the last one. A best value
 * that is shown beside it, as the precision at some recall, was chosen for the reader.
 */
export function finalPrints({ record: { prints } }: Interpreter): ReadonlySet<Expr> {
  const top = prints.reduce((most, { rank }) => Math.max(most, rank), 0);
  const named = prints.filter(({ rank }) => rank === top);
  return new Set((top === 0 ? named.slice(-1) : named).map(({ node }) => node));
}
