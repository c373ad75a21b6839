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
import { keyOf, type Prediction, type Score, type Training } from './values.js';
import { meaningOf } from './words.js';

/** What a script computes its scores from, as far as it was followed. */
export interface Flow {
  /** Those that it shows, or all if it shows none. */
  readonly scores: readonly Score[];
  /** Predictions that none of its scores is of, as those that are handed in. */
  readonly others: readonly Prediction[];
  /** Names that nothing binds. */
  readonly unbound: ReadonlySet<string>;
}

/** Follows a script to its scores. */
export function flowOf(module: Module): Flow {
  const follower = new Follower(module, { evaluate, bind, runFunction });
  runSuite(follower, follower.scope, follower.statements);
  const { shown, scores, unbound, predictions } = follower;
  const scored = new Set(scores.flatMap((score) => score.predictions.map(({ X }) => X)));
  const others = predictions.filter(({ X }) => !scored.has(X));
  return { scores: shown.length > 0 ? shown : scores, others, unbound };
}

/** What the scores of a corrected script are made of otherwise than before, beyond what the correction has to change. */
export function flowDifferences(
  { scores: was, unbound: before, others: handedOut }: Flow,
  { scores: is, unbound: after, others: handedOutNow }: Flow,
  tolerance: Tolerance,
): Difference[] {
  const unknown = (what: string): Difference[] => [{ what, isCertain: false }];
  if (was.length === 0) return unknown('no score was followed in the script');
  if (is.length === 0) return unknown('no score was followed in the corrected script');
  const pairs = pairsOf(was, is);
  if (pairs.length === 0) return unknown('the scores could not be matched with those before');
  const missing = [...after].filter((name) => !before.has(name)).map((name) => `nothing binds \`${name}\``);
  return unique([
    ...pairs.flatMap(([old, now]) => scoreDifferences(old, now, tolerance)),
    ...missing.flatMap(unknown),
    ...otherDifferences(handedOut, handedOutNow),
    ...(tolerance.isChosen
      ? unknown('what something is chosen by, training is stopped by or labels are made by is not compared')
      : []),
    ...(is.length < was.length ? unknown('a score is not computed any more') : []),
  ]);
}

/** What predictions that are not scored are made of otherwise than before, if there are as many of them. */
function otherDifferences(was: readonly Prediction[], is: readonly Prediction[]): Difference[] {
  if (was.length !== is.length) return [];
  return was.flatMap((one, at) => {
    const other = is[at];
    if (other === undefined) return [];
    const trained =
      one.training === undefined || other.training === undefined
        ? []
        : valueDifferences(one.training.X, other.training.X);
    return [...valueDifferences(one.X, other.X), ...trained].map(({ what }) => ({
      what: `rows that something is predicted for would ${what}`,
      isCertain: false,
    }));
  });
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
  if (was.way !== is.way || was.shownAs !== is.shownAs)
    found.push({ what: 'something else is done with the predictions or the score', isCertain: false });
  const [old, now] = [was.labels, is.labels];
  const [before, after] = [was.predictions.at(-1), is.predictions.at(-1)];
  if (old?.kind === 'table' && now?.kind === 'table') {
    found.push(
      ...labelDifferences('labels that are scored', old, now, tolerance, openAtMost(tolerance.scoredRows)),
    );
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
  } else if (old === undefined || now === undefined || keyOf(old) !== keyOf(now))
    found.push({ what: 'the labels that are scored could not be followed', isCertain: false });
  if (was.predictions.length === 0 || was.predictions.length !== is.predictions.length)
    found.push({ what: 'the predictions that are scored could not be followed', isCertain: false });
  const isAll = was.predictions.length === is.predictions.length;
  const compared = isAll
    ? was.predictions.flatMap((one, at) =>
        is.predictions[at] === undefined ? [] : [[one, is.predictions[at]] as const],
      )
    : before === undefined || after === undefined
      ? []
      : [[before, after] as const];
  return [...found, ...compared.flatMap(([one, other]) => predictionDifferences(one, other, tolerance))];
}

/** That rows change may be the correction; whether it is cannot be shown. */
function openAtMost(strictness: Tolerance['scoredRows']): Tolerance['scoredRows'] {
  return strictness === 'any' ? 'open' : strictness;
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
  found.push(
    ...tableDifferences('rows that are scored', was.X, is.X, tolerance, openAtMost(tolerance.scoredRows)),
  );
  if (tolerance.isSampled && is.X.state.picks.some(isResampling))
    found.push({ what: 'rows that are scored would be made up', isCertain: is.X.state.isFollowed });
  const { training: old } = was;
  const { training: now } = is;
  if (!is.isFollowed || !is.X.state.isFollowed || now?.X.state.isFollowed === false)
    found.push({ what: 'how the rows or the model are made could not be followed', isCertain: false });
  if (old === undefined)
    return [...found, { what: 'the training of the model could not be followed', isCertain: false }];
  if (now === undefined)
    return [...found, { what: 'the training of the model could not be followed', isCertain: false }];
  return [
    ...found,
    ...trainingDifferences(old, now, tolerance, is.X),
    ...softened(unlikeParts(was, is), tolerance.isOutOfFold ? 'open' : 'strict'),
    ...learnedElsewhere(was, is, tolerance),
  ];
}

function trainingDifferences(was: Training, is: Training, tolerance: Tolerance, scored: Table): Difference[] {
  const isRight = tolerance.trainingRows === 'any' && isOtherSide(is.X, scored);
  const rows = isRight ? 'any' : openAtMost(tolerance.trainingRows);
  const found = tableDifferences('training rows', was.X, is.X, tolerance, rows);
  const isSampled = (training: Training): boolean => training.X.state.picks.some(isResampling);
  if (tolerance.isSampled && isSampled(was) && !isSampled(is))
    found.push({
      what: 'the training rows would not be re-sampled any more',
      isCertain: is.X.state.isFollowed,
    });
  const samplers = (training: Training): string => training.X.state.picks.filter(isResampling).join();
  if (isSampled(was) && isSampled(is) && samplers(was) !== samplers(is))
    found.push({ what: 'the training rows would be re-sampled in another way', isCertain: false });
  if (was.y?.kind !== 'table' || is.y?.kind !== 'table') return found;
  found.push(...labelDifferences('labels of the training', was.y, is.y, tolerance, rows));
  if (areRowsOfOne(was.X, was.y) && !areRowsOfOne(is.X, is.y)) {
    found.push({
      what: 'the model would be trained with features and labels of different rows',
      isCertain: is.X.state.isFollowed && is.y.state.isFollowed,
    });
  }
  return found;
}

/** Whether rows are on the training side of the division that the scored rows are on the other side of, or a part of that side. */
function isOtherSide({ state: { picks } }: Table, { state: scored }: Table): boolean {
  const last = scored.picks.at(-1);
  if (last === undefined || !/^(split|fold) .* 1$/.test(last)) return false;
  const side = [...scored.picks.slice(0, -1), last.replace(/1$/, '0')];
  return side.every((pick, at) => picks[at] === pick);
}

/** `open`: it is no certain mistake. `any`: it was shown to be right. */
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
    ...softened(valueDifferences(was, is), openAtMost(tolerance.steps)),
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
      const { source = training.X.state.source } = learning;
      if (source !== training.X.state.source)
        found.push({
          what: `${name} would be learned on rows of another table (${source.slice(0, 40)})`,
          isCertain: false,
        });
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
      else if (learned.join('>') !== rows.join('>'))
        found.push({
          what: `${name} would be learned on other rows than those of the training (${learned.at(-1) ?? 'all'})`,
          isCertain: false,
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
