import type { Module } from '../syntax/ast.js';
import {
  areRowsOfOne,
  type Difference,
  isResampling,
  rowDifferences,
  unique,
  valueDifferences,
} from './compare-tables.js';
import { evaluate } from './evaluate.js';
import { Follower } from './follower.js';
import { bind, runFunction, runSuite } from './run.js';
import type { Table } from './table.js';
import type { Tolerance } from './tolerance.js';
import type { Prediction, Score, Training } from './values.js';
import { meaningOf } from './words.js';

/** Follows a script to its scores: those that it shows, or all if it shows none. */
export function scoresOf(module: Module): readonly Score[] {
  const follower = new Follower(module, { evaluate, bind, runFunction });
  runSuite(follower, follower.scope, follower.statements);
  return follower.shown.length > 0 ? follower.shown : follower.scores;
}

/** What the scores of a corrected script are made of otherwise than before, beyond what the correction has to change. */
export function flowDifferences(
  was: readonly Score[],
  is: readonly Score[],
  tolerance: Tolerance,
): Difference[] {
  const unknown = (what: string): Difference[] => [{ what, isCertain: false }];
  if (was.length === 0) return unknown('no score was followed in the script');
  if (is.length === 0) return unknown('no score was followed in the corrected script');
  const pairs = pairsOf(was, is);
  if (pairs.length === 0) return unknown('the scores could not be matched with those before');
  return unique(pairs.flatMap(([old, now]) => scoreDifferences(old, now, tolerance)));
}

/** The scores of both, one by one; if one script has more, the last that is computed in the same way. */
function pairsOf(was: readonly Score[], is: readonly Score[]): (readonly [Score, Score])[] {
  if (was.length === is.length)
    return was.flatMap((score, at) => (is[at] === undefined ? [] : [[score, is[at]] as const]));
  const last = was.at(-1);
  const same = is.findLast(({ label }) => label === last?.label);
  return last === undefined || same === undefined ? [] : [[last, same]];
}

function scoreDifferences(was: Score, is: Score, tolerance: Tolerance): Difference[] {
  const found: Difference[] = [];
  if (was.label !== is.label && tolerance.model !== 'any') {
    found.push({
      what: `the score is computed in another way (${is.label} instead of ${was.label})`,
      isCertain: tolerance.model === 'strict',
    });
  }
  const [old, now] = [was.labels, is.labels];
  const [before, after] = [was.predictions.at(-1), is.predictions.at(-1)];
  if (old?.kind === 'table' && now?.kind === 'table') {
    found.push(...labelDifferences('labels that are scored', old, now, tolerance, tolerance.scoredRows));
    if (
      before !== undefined &&
      after !== undefined &&
      areRowsOfOne(old, before.X) &&
      !areRowsOfOne(now, after.X)
    ) {
      found.push({
        what: 'a score would compare labels with predictions of other rows',
        isCertain: tolerance.scoredRows === 'strict' && now.state.isFollowed && after.X.state.isFollowed,
      });
    }
  }
  if (before === undefined || after === undefined) return found;
  return [...found, ...predictionDifferences(before, after, tolerance)];
}

function predictionDifferences(was: Prediction, is: Prediction, tolerance: Tolerance): Difference[] {
  const found: Difference[] = [];
  const isStrict = tolerance.model === 'strict' && was.isFollowed && is.isFollowed;
  if (was.model !== is.model && tolerance.model !== 'any') {
    const what = `another model would be scored (${is.model} instead of ${was.model})`;
    found.push({ what: what.slice(0, 200), isCertain: isStrict });
  }
  if (was.uses.join() !== is.uses.join() && tolerance.model !== 'any') {
    found.push({
      what: 'the predictions would be used in another way',
      isCertain: isStrict && was.uses[0] !== is.uses[0],
    });
  }
  found.push(...tableDifferences('rows that are scored', was.X, is.X, tolerance, tolerance.scoredRows));
  if (tolerance.isSampled && is.X.state.picks.some(isResampling))
    found.push({ what: 'rows that are scored would be made up', isCertain: is.X.state.isFollowed });
  const { training: old } = was;
  const { training: now } = is;
  if (old === undefined) return found;
  if (now === undefined)
    return [...found, { what: 'the training of the model could not be followed', isCertain: false }];
  return [
    ...found,
    ...trainingDifferences(old, now, tolerance),
    ...softened(unlikeParts(was, is), tolerance.isOutOfFold ? 'open' : 'strict'),
    ...learnedElsewhere(was, is, tolerance),
  ];
}

function trainingDifferences(was: Training, is: Training, tolerance: Tolerance): Difference[] {
  const found = tableDifferences('training rows', was.X, is.X, tolerance, tolerance.trainingRows);
  const isSampled = (training: Training): boolean => training.X.state.picks.some(isResampling);
  if (tolerance.isSampled && isSampled(was) && !isSampled(is))
    found.push({
      what: 'the training rows would not be re-sampled any more',
      isCertain: is.X.state.isFollowed,
    });
  if (was.y?.kind !== 'table' || is.y?.kind !== 'table') return found;
  found.push(...labelDifferences('labels of the training', was.y, is.y, tolerance, tolerance.trainingRows));
  if (areRowsOfOne(was.X, was.y) && !areRowsOfOne(is.X, is.y)) {
    found.push({
      what: 'the model would be trained with features and labels of different rows',
      isCertain: is.X.state.isFollowed && is.y.state.isFollowed,
    });
  }
  return found;
}

/** `open`: it is no certain mistake. */
function softened(differences: readonly Difference[], how: 'strict' | 'open' | 'any'): Difference[] {
  if (how === 'any') return [];
  return differences.map(({ what, isCertain }) => ({ what, isCertain: isCertain && how === 'strict' }));
}

function tableDifferences(
  subject: string,
  was: Table,
  is: Table,
  tolerance: Tolerance,
  rows: Tolerance['scoredRows'],
): Difference[] {
  return [
    ...softened(valueDifferences(was, is), tolerance.steps),
    ...softened(rowDifferences(was, is, tolerance.isSampled), rows),
  ].map(({ what, isCertain }) => ({ what: `the ${subject} would ${what}`, isCertain }));
}

/** Labels: a fill of the whole table may leave them out, and columns that are picked by type are not theirs. */
function labelDifferences(
  subject: string,
  was: Table,
  is: Table,
  tolerance: Tolerance,
  rows: Tolerance['scoredRows'],
): Difference[] {
  return tableDifferences(subject, was, is, tolerance, rows).map(({ what, isCertain }) => ({
    what,
    isCertain: isCertain && !/\((fillna|where\(isna)/.test(what),
  }));
}

/** Whether the training rows and the scored rows would go through other steps, though they did not before. */
function unlikeParts(was: Prediction, is: Prediction): Difference[] {
  if (was.training === undefined || is.training === undefined) return [];
  if (valueDifferences(was.training.X, was.X).length > 0) return [];
  return valueDifferences(is.training.X, is.X).map(({ what, isCertain }) => ({
    what: `the rows that are scored would ${what} in comparison with the training rows`,
    isCertain,
  }));
}

/** Steps that are learned on other rows than those of the training, or after other steps than they are applied to. */
function learnedElsewhere(was: Prediction, is: Prediction, tolerance: Tolerance): Difference[] {
  const known = new Set(misplacedLearning(was).map(({ what }) => what));
  return softened(
    misplacedLearning(is).filter(({ what }) => !known.has(what)),
    tolerance.isOutOfFold ? 'open' : tolerance.steps,
  );
}

function misplacedLearning({ training, X }: Prediction): Difference[] {
  if (training === undefined) return [];
  const found: Difference[] = [];
  const isFollowed = training.X.state.isFollowed && X.state.isFollowed;
  const ofData = (picks: readonly string[]): string[] => picks.filter((pick) => !isResampling(pick));
  const rows = ofData(training.X.state.picks);
  const scored = ofData(X.state.picks);
  for (const table of [training.X, X]) {
    for (const [at, { label, learning }] of table.state.steps.entries()) {
      if (learning === undefined) continue;
      const name = meaningOf(label) === undefined ? 'a step' : `\`${label.slice(0, 40)}\``;
      const learned = ofData(learning.picks);
      if (learning.isMixed) {
        const what = `${name} would be learned on rows that went through other steps than those that it is applied to`;
        found.push({ what, isCertain: isFollowed && meaningOf(label) !== undefined });
      }
      if (
        learned.length > rows.length &&
        rows.length > 0 &&
        rows.every((pick, index) => learned[index] === pick)
      )
        found.push({
          what: `${name} would be learned on a part of the training rows`,
          isCertain: isFollowed,
        });
      const isAligned = table.state.steps.slice(at).some((step) => /^(reindex|align)/.test(step.label));
      if (
        table === X &&
        !isAligned &&
        learned.join('>') === scored.join('>') &&
        scored.join('>') !== rows.join('>')
      ) {
        const what = `${name} would be learned again on the rows that are scored`;
        found.push({ what, isCertain: isFollowed && !/^group/.test(label) });
      }
    }
  }
  return unique(found);
}
