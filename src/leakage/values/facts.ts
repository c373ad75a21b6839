import type { LeakKind } from '../kinds.js';
import type { Expr, Span, Stmt } from '../syntax/ast.js';
import { type Region, sameRows } from './region.js';
import { countWork } from './work.js';

/** Something that was computed over many rows at once: a fitted transformer, a statistic, a choice. */
export interface FitEvent {
  readonly kind: LeakKind;
  /** What is fitted, for the explanation: "`scaler`", "the median of `df['Age']`". */
  readonly subject: string;
  readonly rows: readonly Region[];
  /** False where the analysis does not know for sure which rows these are. */
  readonly certain: boolean;
  /** Source text of the rows. */
  readonly rowsText: string;
  readonly node: Expr;
  readonly statement: Stmt;
  /** Columns it was computed from; for kinds that depend on them. */
  readonly columns?: readonly string[];
  /** The statement that put rows of several origins together, where that was done for this. */
  readonly joinedBy: Stmt | undefined;
  /** Of a choice: the statement that computes the scores of the candidates. */
  scoredBy?: Stmt;
  /** Of a statistic of groups: columns whose values are the groups. */
  groupedBy?: readonly string[];
  /** Of a statistic of groups: rows get that of an earlier group, whose number is less than theirs. */
  isOfEarlier?: boolean;
  /** Of copies of rows in one frame: how they differ. */
  copies?: CopiesInFrame;
  /** Of values of later rows: how many rows ahead they are at most, where that is known. */
  ahead?: number;
  /** Of values of later rows: the columns that they are of. */
  aheadOf?: readonly string[];
  /** It was computed over predictions alone: no model learns from it, unless it is trained on what was made with it. */
  readonly ofPredictions?: boolean;
  /** A search chose by cross-validation, and its best score is read: a mistake only where that is called the final score. */
  isBestOfSearch?: boolean;
  /** Statements that call the functions in which it was computed, the innermost first. */
  readonly callers: readonly Stmt[];
}

/** Rows of one origin under each other: columns that are the same in all copies of a row, and those that name the copy. */
export interface CopiesInFrame {
  readonly isShared: (column: string) => boolean;
  readonly names: (column: string) => boolean;
}

/** What a model was trained on. */
export interface Training {
  readonly subject: string;
  readonly rows: readonly Region[];
  readonly certain: boolean;
  readonly rowsText: string;
  /** What the rows carried when it was trained on them: the same object for the same table. */
  readonly data?: object;
  /** Everything computed over many rows that the training rows were made with. */
  readonly fits: readonly FitEvent[];
  /** Whether its labels are predictions of another model. */
  readonly pseudo?: boolean;
  /** Predictions that some of its labels are. */
  readonly teachers?: readonly Prediction[];
  /** Whether labels were passed to it. */
  readonly supervised: boolean;
  /** Columns that the labels are. */
  readonly labels: readonly string[];
  /** Predictions that were used as features. */
  readonly predictions: readonly Prediction[];
  readonly node: Expr;
  readonly statement: Stmt;
}

/** Predictions of a trained model for some rows. */
export interface Prediction {
  /** What the model had been trained on then; `undefined` for a network before its first step. */
  readonly training: Training | undefined;
  /** The model itself: a step on a loss of these predictions trains it. */
  readonly model: object;
  readonly rows: readonly Region[];
  readonly certain: boolean;
  readonly rowsText: string;
  /** What the rows carried: the same object for the same table. */
  readonly data?: object;
  /** What went into the features of these rows, and into the predictions afterwards. */
  readonly fits: readonly FitEvent[];
  readonly inputs: readonly Prediction[];
  /** Of a forecast: it is for the rows whose labels it meets. */
  readonly isForecast?: boolean;
  /** The forecast that was met with labels. */
  readonly forecast?: Prediction;
  /** Of models that a library trained fold by fold. */
  readonly crossValidated?: boolean;
  readonly node: Expr;
}

/** A score of predictions against labels. */
export interface Score {
  readonly predictions: readonly Prediction[];
  readonly rows: readonly Region[];
  /** Rows of the labels: some of those that are predicted, where a condition picks them. */
  readonly labeled: readonly Region[];
  /** Scored fold by fold: each value belongs to other rows. */
  readonly folds: boolean;
  readonly node: Expr;
  readonly statement: Stmt;
  /** Statements that call the functions in which it was computed, the innermost first. */
  readonly callers: readonly Stmt[];
  /** The innermost loop or comprehension in which it was computed. */
  readonly repeat?: Span;
}

/** What a value carries, whatever its shape. */
export interface Facts {
  readonly rows: readonly Region[];
  readonly certain: boolean;
  readonly fits: readonly FitEvent[];
  readonly predictions: readonly Prediction[];
  readonly scores: readonly Score[];
  /** Of one row, or one batch, in a loop over all rows. */
  readonly single?: boolean;
  /** Nothing but constants and predictions of trained models, and what was computed from these alone. */
  readonly predicted?: boolean;
}

const NOTHING: readonly never[] = [];
export const NO_FACTS: Facts = {
  rows: NOTHING,
  certain: true,
  fits: NOTHING,
  predictions: NOTHING,
  scores: NOTHING,
};

/** Sets larger than this are not needed to name a leak, and would make the work grow faster than the script. */
const MAX_SET = 48;

/** Union of two small sets; the same array where nothing is added. */
export function union<T>(a: readonly T[], b: readonly T[]): readonly T[] {
  if (b.length === 0 || a === b) return a;
  if (a.length === 0) return b;
  countWork((a.length * b.length) >> 4);
  const added = b.filter((item) => !a.includes(item));
  if (added.length === 0 || a.length >= MAX_SET) return a;
  return [...a, ...added].slice(0, MAX_SET);
}

/** Facts of a value made from two others. Rows of two different origins leave the origin uncertain. */
export function joinFacts(a: Facts, b: Facts): Facts {
  if (a === b || b === NO_FACTS) return a;
  if (a === NO_FACTS) return b;
  const rows = union(a.rows, b.rows);
  const mixed = a.rows.length > 0 && b.rows.length > 0 && !sameRows(a.rows, b.rows);
  const single =
    a.rows.length === 0 ? b.single : b.rows.length === 0 ? a.single : a.single === true && b.single === true;
  return {
    rows,
    certain: a.certain && b.certain && !mixed,
    fits: union(a.fits, b.fits),
    predictions: union(a.predictions, b.predictions),
    scores: union(a.scores, b.scores),
    ...(single === true ? { single } : {}),
    ...(arePredicted(a, b) ? { predicted: true } : {}),
  };
}

/** Whether at least one of two values is nothing but predictions, and the other one holds no other rows. */
function arePredicted(a: Facts, b: Facts): boolean {
  const isOther = ({ predicted, rows, predictions }: Facts): boolean =>
    predicted !== true && (rows.length > 0 || predictions.length > 0);
  return (a.predicted === true || b.predicted === true) && !isOther(a) && !isOther(b);
}

/** What a list that was filled row by row carries: all rows. */
export function wholeFacts(facts: Facts): Facts {
  if (facts.single === undefined) return facts;
  const { single: _single, ...whole } = facts;
  return whole;
}

export function withFits(facts: Facts, fits: readonly FitEvent[]): Facts {
  const all = union(facts.fits, fits);
  return all === facts.fits ? facts : { ...facts, fits: all };
}
