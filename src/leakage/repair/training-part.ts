import type { Leak } from '../findings/find-leaks.js';
import { STATISTIC_METHODS } from '../library-models/methods.js';
import type { Argument, Call, Expr } from '../syntax/ast.js';
import { calleeName, partsOf, rootName } from '../syntax/walk.js';
import { declined, edited, type RepairContext, type Rewrite, type TextEdit } from './context.js';
import { changesBetween, type Division, divisionsBefore } from './divisions.js';
import { isRowValue } from './row-values.js';

/** Fits that give back no rows: only what they learn from changes. */
const FITS = /^(fit|partial_fit|fit_on_texts|adapt)$/;
const GIVES_ROWS = /^(transform|apply|qcut|cut|rank)$/;

/** Why an expression cannot be said of the training part. */
class NotDivided extends Error {}

/**
 * `model.fit(X, y)`, `scaler.fit(X)` or `frame['age'].median()` on everything, after it was divided: the training
 * parts replace the whole tables.
 */
export function learnFromTrainingPart(context: RepairContext): Rewrite {
  const edits = new Map<number, TextEdit>();
  try {
    for (const leak of context.leaks) {
      const divisions = divisionsBefore(context, leak);
      if (divisions.length === 0) return declined('no division of the rows before this line is known');
      for (const node of new Set([leak.node, ...leak.nodes])) {
        if (node.type !== 'call') return declined('no fit and no statistic in this block');
        for (const edit of new TrainingNames(context, leak, divisions).inCall(node))
          edits.set(edit.start, edit);
      }
    }
  } catch (error) {
    if (error instanceof NotDivided) return declined(error.message);
    throw error;
  }
  if (edits.size === 0) return declined('the training rows are not what a split before this line divides');
  return { text: edited(context.source, context.block, [...edits.values()]) };
}

/** Replaces divided tables by their training parts in one computation. */
class TrainingNames {
  readonly #context: RepairContext;
  readonly #leak: Leak;
  readonly #divisions: readonly Division[];
  /** A model trained on the scored rows, rather than a transformer or a statistic. */
  readonly #trains: boolean;

  constructor(context: RepairContext, leak: Leak, divisions: readonly Division[]) {
    this.#context = context;
    this.#leak = leak;
    this.#divisions = divisions;

    this.#trains = leak.kind === 'training-rows' || leak.kind === 'stacking';
  }

  inCall(node: Call): TextEdit[] {
    const name = calleeName(node);
    if (this.#trains || FITS.test(name)) {
      const edits = rowArguments(node).map((argument) => this.#within(argument.value));
      if (edits.every((found) => found.length === 0)) return [];
      if (edits.some((found) => found.length === 0))
        throw new NotDivided('features and labels are not divided by one split');
      return edits.flat();
    }
    const reduces = STATISTIC_METHODS.has(name) && !GIVES_ROWS.test(name);
    if (!reduces || node.callee.type !== 'attribute')
      throw new NotDivided('what is computed over all rows gives a value for each row');
    return this.#within(node);
  }

  /** The largest parts of an expression that are divided tables. */
  #within(expression: Expr): TextEdit[] {
    const { source } = this.#context;
    const text = source.slice(expression.start, expression.end);
    const division = this.#divisions.find(
      (other) =>
        (other.source.type === 'name' && sourceName(other) === text) || sourceText(source, other) === text,
    );
    if (division !== undefined && expression.type !== 'constant') {
      const train = this.#trainingPart(division);
      return [{ start: expression.start, end: expression.end, text: train }];
    }
    if (expression.type === 'subscript') {
      const picks = expression.indices.some((index) => index.type !== 'constant' && this.#holdsRows(index));
      if (picks) throw new NotDivided('the rows are picked by a condition over all rows');
    }
    return partsOf(expression).flatMap((part) => this.#within(part));
  }

  /** The training part, and where that was divided once more, the training part of it. */
  #trainingPart(division: Division): string {
    const context = this.#context;
    const leak = this.#leak;
    const root = rootName(division.source);
    if (root === undefined || changesBetween(context, division, leak, root))
      throw new NotDivided(`\`${root ?? 'the table'}\` is changed between the split and this line`);
    const next = this.#divisions.find(
      (other) => other.statement.start > division.statement.start && sourceName(other) === division.train,
    );
    if (next !== undefined) return this.#trainingPart(next);
    // A model goes with what became of both parts; a statistic has to see what it saw.
    if (!this.#trains && changesBetween(context, division, leak, division.train))
      throw new NotDivided(`\`${division.train}\` is changed between the split and this line`);
    return division.train;
  }

  #holdsRows(index: Expr): boolean {
    if (index.type === 'compare' || index.type === 'unary') return true;
    return index.type === 'name' && (this.#context.watched.get(index.id)?.length ?? 0) > 0;
  }
}

function sourceName({ source }: Division): string | undefined {
  return source.type === 'name' ? source.id : undefined;
}

function sourceText(script: string, { source }: Division): string {
  return script.slice(source.start, source.end);
}

function rowArguments(call: Call): Argument[] {
  const name = calleeName(call);
  const count = name === 'DataLoader' ? 1 : name === 'fit' ? 3 : 2;
  return call.args.filter(
    (argument, at) =>
      (argument.name === undefined && at < count) ||
      argument.name === 'X' ||
      argument.name === 'y' ||
      isRowValue(argument.name),
  );
}
