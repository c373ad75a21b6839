import type { Expr, Stmt } from '../syntax/ast.js';
import { type Facts, type FitEvent, type Score, union, withFits } from '../values/facts.js';
import { newEstimator, newMapping, newSequence, newTable } from '../values/join.js';
import { covers, isCondition, type Region, sameRows } from '../values/region.js';
import { factsOf, MAX_PARTS, opaque, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import type { Interpreter } from './interpreter.js';

/**
 * A cross-validation of all rows for each candidate of a loop, or of a function by which candidates are compared: the best of
 * their means is chosen on the rows that it is a score of. Of a training part it is the way to choose.
 */
function isOfCandidates({ predictions, repeat }: Score, isCompared: boolean): boolean {
  if (repeat === undefined && !isCompared) return false;
  return predictions.every(
    ({ crossValidated, rows }) =>
      crossValidated === true && rows.every((region) => region.parent?.parent === undefined),
  );
}

/**
 * Whether candidates are compared on the rows of one fold: the code is inside the loop over the folds. With
 * `nested`, it has to be in a further loop, since `if score > best` in the loop over the folds itself compares
 * fold with fold.
 */
function isWithinFold(interp: Interpreter, score: Score, nested: boolean): boolean {
  return score.rows.every((region) => {
    for (let current: Region | undefined = region; current !== undefined; current = current.parent) {
      const loop = current.partition === undefined ? undefined : interp.foldLoops.get(current.partition);
      if (loop === undefined) continue;
      const loops = interp.context.loops();
      const at = loops.lastIndexOf(loop);
      return at >= 0 && (!nested || loops.length > at + 1);
    }
    return false;
  });
}

/** `fold != k`: a part is left out that a variable names, and in the end each part was. */
function leavesPartOut(region: Region): boolean {
  countWork(region.depth);
  for (let part: Region | undefined = region; part?.partition !== undefined; part = part.parent)
    if (isCondition(part.partition) && part.side.startsWith('!=t:')) return true;
  return false;
}

/** The rows that a score is of: those with labels, where they are a part of the rows that are predicted. */
export function scoredPart({ rows, labeled }: Score): readonly Region[] {
  return labeled.length > 0 && !sameRows(rows, labeled) && covers(rows, labeled) ? labeled : rows;
}

/**
 * The event of choosing something by these scores; nothing where they belong to fold after fold. `isCompared`: a function
 * computes the score of each candidate.
 */
export function choiceEvents(
  interp: Interpreter,
  scores: readonly Score[],
  subject: string,
  node: Expr,
  { nested = false, isCompared = false }: { readonly nested?: boolean; readonly isCompared?: boolean } = {},
): FitEvent[] {
  return scores
    .filter(
      (score) =>
        score.rows.length > 0 &&
        (!score.folds || isOfCandidates(score, isCompared) || isWithinFold(interp, score, nested)),
    )
    .map((score) => {
      const certain =
        score.predictions.every((prediction) => prediction.certain) && !score.labeled.some(leavesPartOut);
      const event = interp.fit(
        'selection',
        subject,
        { rows: scoredPart(score), certain },
        interp.label(score.node),
        node,
      );
      event.scoredBy ??= score.statement;
      interp.record.addChoosing(score);
      return event;
    });
}

/** `guess == truth and guess == 1`: where one answer is held against one label, hits are counted, and nothing is chosen. */
function comparisonsIn(test: Expr): readonly Expr[] {
  switch (test.type) {
    case 'binary':
      return /^(and|or)$/.test(test.operator)
        ? [...comparisonsIn(test.left), ...comparisonsIn(test.right)]
        : [];
    case 'unary':
      return test.operator === 'not' ? comparisonsIn(test.operand) : [];
    case 'compare':
      return test.operators.every((operator) => operator === '==' || operator === '!=') ? [test] : [];
    default:
      return [];
  }
}

/** Predictions that were weighted by scores of others are no score. */
function isOfThese(score: Score, { predictions }: Facts): boolean {
  return (
    predictions.length === 0 ||
    score.predictions.every((scored) => predictions.includes(scored.forecast ?? scored))
  );
}

/** Choices that a branch depends on: its condition compares a score. */
export function chosenBy(interp: Interpreter, condition: Value, test: Expr, statement: Stmt): FitEvent[] {
  const facts = factsOf(condition);
  const counted = comparisonsIn(test);
  const scores = facts.scores.filter(
    (score) =>
      !counted.includes(score.node) &&
      !(facts.single === true && score.node.start >= test.start && score.node.end <= test.end) &&
      isOfThese(score, facts),
  );
  if (scores.length === 0) return [...selectionFits(condition)];
  if (test.type === 'name') return [];
  const outer = interp.statement;
  interp.statement = statement;
  const events = choiceEvents(interp, scores, `what is kept where \`${interp.label(test)}\``, test, {
    nested: true,
  });
  interp.statement = outer;
  return events;
}

/** What a condition that picks columns was computed from: correlations, importances, tests against the label. */
export function selectionFits(condition: Value): readonly FitEvent[] {
  return factsOf(condition).fits.filter(({ kind }) => kind === 'feature-selection');
}

/** Remembers what a condition was computed from, where it is computed for each row: it decides on the row's value. */
export function noteRowTest(interp: Interpreter, condition: Value): void {
  if (!interp.context.isInRow) return;
  for (const fit of factsOf(condition).fits) {
    countWork(1);
    interp.context.addRowTest(fit);
  }
}

/** Lists in lists that are looked into for what was chosen. */
const MAX_CHOSEN_DEPTH = 3;

/** A value that was kept because of a choice carries the choice. */
export function withChoices(value: Value, choices: readonly FitEvent[], depth = 0): Value {
  if (choices.length === 0) return value;
  switch (value.type) {
    case 'constant':
    case 'opaque': {
      const facts = withFits(factsOf(value), choices);
      return value.type === 'opaque' ? { ...value, facts } : opaque(facts);
    }
    case 'table': {
      const state = value.cell.value;
      return newTable({ ...state, fits: union(state.fits, choices) });
    }
    case 'estimator': {
      const state = value.cell.value;
      return newEstimator({
        ...state,
        fits: union(state.fits, choices),
        // Trained again, it is still the one that was chosen.
        argumentFacts: withFits(state.argumentFacts, choices),
        training:
          state.training === undefined
            ? undefined
            : { ...state.training, fits: union(state.training.fits, choices) },
      });
    }
    case 'sequence': {
      const { items, rest, ...others } = value.cell.value;
      if (depth >= MAX_CHOSEN_DEPTH || items.length > MAX_PARTS)
        return opaque(withFits(factsOf(value), choices));
      return newSequence({
        ...others,
        items: items.map((item) => withChoices(item, choices, depth + 1)),
        ...(rest === undefined ? {} : { rest: withChoices(rest, choices, depth + 1) }),
      });
    }
    case 'mapping': {
      const { entries, rest } = value.cell.value;
      if (depth >= MAX_CHOSEN_DEPTH || entries.size > MAX_PARTS)
        return opaque(withFits(factsOf(value), choices));
      return newMapping({
        entries: new Map([...entries].map(([key, entry]) => [key, withChoices(entry, choices, depth + 1)])),
        ...(rest === undefined ? {} : { rest: withChoices(rest, choices, depth + 1) }),
      });
    }
    default:
      return value;
  }
}
