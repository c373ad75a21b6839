import { type Interpreter, SYNTAX } from '../interpret/interpreter.js';
import type { ScoredPredictions } from '../interpret/score-record.js';
import type { Span } from '../syntax/ast.js';
import { overlapOf } from '../values/region.js';

export interface ScriptCoverage {
  /** How much of the way to the scores of the script was followed. */
  readonly coverage: 'full' | 'partial' | 'none';
  /** The script seems to compute a score, or cannot be read: `none` then means that something was missed. */
  readonly hasScore: boolean;
}

const START: Span = { start: 0, end: 0 };

/** The line that every script prints whose score counts. */
const FINAL_SCORE = /final[\s_]+validation[\s_]+performance/i;

/** A line that prints something by the name of a score. */
const PRINTED_SCORE =
  /\bprint\s*\([^\n]{0,200}\b(?:accuracy|acc|auc|rmse|mae|r2|f1|score|(?:val|valid|validation|test)[ _]loss)\b/i;
/** A step of a network, whatever its class. */
const TRAINS = /\.backward\s*\(/;

/**
 * Decides what "no finding" means for a script, and names what was not followed. `none`: no score was checked. `partial`: a
 * score was checked, and something that may hide a leak was not followed.
 */
export function coverageOf(
  interp: Interpreter,
  { isComplete, hasLeaks }: { readonly isComplete: boolean; readonly hasLeaks: boolean },
): ScriptCoverage {
  const { parsed, source, landmarks } = interp.module;
  const scored = interp.record.scored.filter(({ prediction }) => prediction.training !== undefined);
  const isReached = ({ end }: Span) => interp.reachedCalls.has(end);
  const reached = landmarks.scorings.filter(isReached);
  const trains = landmarks.trainings.some(isReached) || TRAINS.test(source);
  const isWhole = landmarks.imports || landmarks.hidden.length > 0;
  const callsScore = reached.length > 0 || landmarks.readsScore || (trains && PRINTED_SCORE.test(source));
  const hasScore = !parsed || scored.length > 0 || FINAL_SCORE.test(source) || (isWhole && callsScore);
  // A syntax error that hides what trains or scores hides what there is to find.
  const isReadable = parsed || [...landmarks.trainings, ...landmarks.scorings].every(isReached);
  if (!parsed && !interp.notFollowed.some(({ reason }) => reason === SYNTAX)) interp.skip(START, SYNTAX);
  if (hasLeaks || (isReadable && scored.some(isKnown))) {
    const isFull = parsed && isComplete && interp.notFollowed.length === 0 && scored.every(isClear);
    return { coverage: isFull ? 'full' : 'partial', hasScore };
  }
  if (!hasScore) interp.skip(START, 'no score of a model was found, so nothing was checked');
  else interp.skip(reached[0] ?? START, 'how the score comes about, so it was not checked');
  return { coverage: 'none', hasScore };
}

/** Whether it is known which rows were trained on and which are scored. */
function isKnown({ prediction: { training, rows, certain } }: ScoredPredictions): boolean {
  if (training === undefined || rows.length === 0 || training.rows.length === 0) return false;
  return certain && training.certain;
}

/** Whether it is also known if these are the same rows. */
function isClear(record: ScoredPredictions): boolean {
  const { training, rows } = record.prediction;
  return isKnown(record) && overlapOf(training?.rows ?? [], rows) !== 'unknown';
}
