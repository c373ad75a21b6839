import type { Expr, Stmt } from '../syntax/ast.js';
import type { Facts, FitEvent, Prediction, Score } from '../values/facts.js';
import type { Interpreter } from './interpreter.js';

/** Predictions that were scored, with everything that was computed over many rows on the way. */
export interface ScoredPredictions {
  readonly prediction: Prediction;
  readonly fits: readonly FitEvent[];
  readonly score: Score;
  /** Scored by cross-validation inside a library. */
  readonly crossValidated: boolean;
  /** Written down by a library for the rows that a training watches. */
  readonly watched: boolean;
}

/** A choice that was printed as a score: the event, and where the value was printed. */
interface PrintedChoice {
  readonly fit: FitEvent;
  readonly score: Score;
  readonly node: Expr;
}

/** What a script trains, scores and prints, in the order in which it runs. */
export class ScoreRecord {
  readonly #scored: ScoredPredictions[] = [];
  readonly #keys = new Set<string>();
  readonly #trainings: Prediction['training'][] = [];
  readonly #printed = new Set<Score>();
  readonly #claimed = new Set<Score>();
  readonly #choosing = new Set<Score>();
  readonly #prints: { node: Expr; rank: number }[] = [];
  readonly #choices: PrintedChoice[] = [];

  get scored(): readonly ScoredPredictions[] {
    return this.#scored;
  }

  get trainings(): readonly Prediction['training'][] {
    return this.#trainings;
  }

  /** Calls that print a score; the higher the rank, the more it is the script's. */
  get prints(): readonly { readonly node: Expr; readonly rank: number }[] {
    return this.#prints;
  }

  get printedChoices(): readonly PrintedChoice[] {
    return this.#choices;
  }

  isPrinted(score: Score): boolean {
    return this.#printed.has(score);
  }

  /** Whether a score is printed as one of held-out rows. */
  isClaimed(score: Score): boolean {
    return this.#claimed.has(score);
  }

  /** Whether a score is there to choose something, and is not shown. */
  isOnlyToChoose(score: Score): boolean {
    return this.#choosing.has(score) && !this.#printed.has(score);
  }

  addChoosing(score: Score): void {
    this.#choosing.add(score);
  }

  addTraining(training: Prediction['training']): void {
    this.#trainings.push(training);
  }

  addPrint(node: Expr, rank: number): void {
    this.#prints.push({ node, rank });
  }

  addPrinted(score: Score, isClaimed: boolean): void {
    this.#printed.add(score);
    if (isClaimed) this.#claimed.add(score);
  }

  addPrintedChoice(choice: PrintedChoice): void {
    this.#choices.push(choice);
  }

  /** Predictions that are compared with labels. */
  addScore(
    interp: Interpreter,
    predictions: readonly Prediction[],
    labels: Facts,
    fits: readonly FitEvent[],
    node: Expr,
    by?: 'folds' | 'watched',
  ): Score {
    const crossValidated = by === 'folds' || predictions.every((one) => one.crossValidated === true);
    const rows = predictions.flatMap((prediction) => [...prediction.rows]);
    const folds =
      by === 'folds' ||
      (labels.rows.length > 0 && labels.rows.every((region) => region.partition?.form === 'folds'));
    const statement: Stmt = interp.statement;
    const { repeat } = interp.context;
    const score: Score = {
      predictions,
      rows: [...new Set(rows)],
      labeled: labels.rows,
      folds,
      node,
      statement,
      callers: interp.context.callers,
      ...(repeat === undefined ? {} : { repeat }),
    };
    for (const prediction of predictions) {
      const key = [
        node.start,
        interp.idOf(prediction),
        interp.rowsKey(labels.rows),
        fits.map((fit) => interp.idOf(fit)).join(','),
      ].join(':');
      if (this.#keys.has(key)) continue;
      this.#keys.add(key);
      this.#scored.push({ prediction, fits, score, crossValidated, watched: by === 'watched' });
    }
    return score;
  }
}
