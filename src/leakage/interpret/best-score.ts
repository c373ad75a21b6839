import type { Attribute } from '../syntax/ast.js';
import { NO_FACTS } from '../values/facts.js';
import { type Estimator, opaque, type Value } from '../values/value.js';
import type { Interpreter } from './interpreter.js';
import { predictionOf } from './learning.js';

/** The score that a booster kept of the rows on which it stopped early: those of the last set in its arguments. */
export function bestScore(
  interp: Interpreter,
  { cell }: Estimator,
  expression: Attribute,
): Value | undefined {
  const watched = cell.value.training?.fits.findLast(({ kind }) => kind === 'early-stopping');
  if (watched === undefined) return undefined;
  const facts = { ...NO_FACTS, rows: watched.rows, certain: watched.certain };
  const prediction = predictionOf(cell, facts, watched.rowsText, expression);
  const score = interp.record.addScore(interp, [prediction], facts, [], expression);
  return opaque({ ...NO_FACTS, scores: [score] });
}
