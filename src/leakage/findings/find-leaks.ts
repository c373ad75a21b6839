import { ANY_LABEL } from '../interpret/any-label.js';
import { scoredPart } from '../interpret/choices.js';
import { keepsCopies } from '../interpret/copies-in-frame.js';
import type { Interpreter } from '../interpret/interpreter.js';
import type { ScoredPredictions } from '../interpret/score-record.js';
import type { LeakKind } from '../kinds.js';
import type { Expr, Stmt } from '../syntax/ast.js';
import type { FitEvent, Prediction, Score, Training } from '../values/facts.js';
import {
  covers,
  keepsEqual,
  originOf,
  overlapOf,
  type Partition,
  type Region,
  relationOf,
} from '../values/region.js';
import { countWork } from '../values/work.js';
import { statementsBetween } from './block.js';
import { hasRole, heldOutFrom, insideTrainingSide, isHeldOut, isSliceAcross } from './held-out.js';
import { outerCall } from './outer-call.js';
import { comparesModels, finalPrints, isScoredElsewhere } from './printed.js';
import { isRightHelper } from './right-helpers.js';

/** A leak that reaches a score: what was computed over which rows, and where these rows are scored. */
export interface Leak {
  readonly kind: LeakKind;
  readonly subject: string;
  /** Source text of the rows it was computed over. */
  readonly rowsText: string;
  readonly rows: readonly Region[];
  readonly node: Expr;
  /** All computations of this kind in the statement. */
  readonly nodes: readonly Expr[];
  readonly statement: Stmt;
  /** What divides the scored rows from the others, if anything does. */
  readonly split: Split | undefined;
  /** The statement that put rows of several origins together for this. */
  readonly joinedBy: Stmt | undefined;
  /** Of a choice: the statement that computes the scores of the candidates. */
  readonly scoredBy?: Stmt;
  /** The statement that calls the helper function in which it was computed. */
  readonly calledBy?: Stmt;
  /** The helper is right as it is: the call has to change. */
  readonly isAtCall?: boolean;
  /** Statements that call the functions in which it was computed, the innermost first. */
  readonly callers?: readonly Stmt[];
  /** Variables that hold the scored rows. */
  readonly scoredNames: readonly string[];
  readonly scoredText: string;
  readonly scoreNode: Expr;
}

interface Split {
  readonly partition: Partition;
  readonly node: Expr;
  /** The statement after which the scored rows are separate from the others. */
  readonly statement: Stmt;
}

/** The last division that separates the scored rows from the rest of the rows something was computed over. */
function splitBetween(rows: readonly Region[], scored: readonly Region[]): Split | undefined {
  // Parts of these very rows come before parts of others that they were picked from, as the rows of another class.
  return (
    divisionBelow(scored, (parent) => rows.includes(parent)) ??
    divisionBelow(scored, (parent) => rows.some((region) => relationOf(region, parent) === 'inside'))
  );
}

function divisionBelow(scored: readonly Region[], isDivided: (parent: Region) => boolean): Split | undefined {
  for (const part of scored) {
    let current: Region | undefined = part;
    // Splitting each row into several divides nothing: the division below it does.
    let division = part;
    while (current?.parent !== undefined) {
      const parent: Region = current.parent;
      if (current.partition?.pieces === undefined) division = current;
      if (isDivided(parent)) return splitAt(division);
      current = parent;
    }
  }
  return undefined;
}

function splitAt(part: Region): Split | undefined {
  const { partition, parent } = part;
  if (partition === undefined) return undefined;
  countWork(parent?.parts.size ?? 0);
  const siblings = [...(parent?.parts.values() ?? [])].filter((other) => other.partition === partition);
  const last = siblings.reduce((a, b) => ((b.madeBy?.start ?? 0) > (a.madeBy?.start ?? 0) ? b : a), part);
  const statement = last.madeBy ?? partition.statement;
  return { partition, node: partition.node, statement };
}

/** Whether these rows are only watched while a model is trained, and others are held out for its score. */
function isOnlyWatched({ prediction }: ScoredPredictions, all: readonly ScoredPredictions[]): boolean {
  return all.some(
    (other) =>
      !other.watched &&
      heldOutFrom(other.prediction.training, other.prediction.rows) &&
      overlapOf(other.prediction.rows, prediction.rows) === 'no',
  );
}

/** Kinds that put values on another scale, or smooth them. */
const SCALES: ReadonlySet<LeakKind> = new Set([
  'scaling',
  'statistics',
  'group-statistics',
  'binning',
  'future-values',
]);

/** Ranks, scaled or smoothed values of predictions, as in a blend: neither a model nor a feature was made with them. */
function isOfPredictions(fit: FitEvent, { prediction }: ScoredPredictions): boolean {
  const { fits, training } = prediction;
  return (
    fit.ofPredictions === true &&
    SCALES.has(fit.kind) &&
    !fits.includes(fit) &&
    training?.fits.includes(fit) !== true
  );
}

function isChoice({ kind }: FitEvent): boolean {
  return kind === 'early-stopping' || kind === 'selection';
}

/** Whether the same model is scored later on rows of another file: then these rows are there to choose it. */
function isTestedOnOtherFile(
  { prediction: { training }, score }: ScoredPredictions,
  all: readonly ScoredPredictions[],
): boolean {
  const trained = training?.rows.map(originOf) ?? [];
  return all.some(
    ({ prediction, score: later, watched }) =>
      !watched &&
      later.node.start > score.node.start &&
      prediction.training?.node === training?.node &&
      prediction.rows.length > 0 &&
      prediction.rows.every((row) => originOf(row).isFile === true && !trained.includes(originOf(row))),
  );
}

const NOT_CLEAR = 'whether the scored rows are among those of the training is not clear';

/** All leaks that reach a score, most certain evidence only. */
export function findLeaks(interp: Interpreter): Leak[] {
  const leaks = new Map<string, Leak>();
  const add = (leak: Leak): void => {
    const key = `${leak.kind}:${leak.statement.start}:${leak.statement.end}`;
    const known = leaks.get(key);
    if (known === undefined) leaks.set(key, leak);
    else if (!known.nodes.includes(leak.node))
      leaks.set(key, { ...known, nodes: [...known.nodes, leak.node] });
  };
  const certain = interp.record.scored.filter(({ prediction }) => isCertain(interp, prediction));
  const scored = certain.filter((record) => !record.watched || !isOnlyWatched(record, certain));
  for (const record of scored) {
    const { prediction, score } = record;
    const { training } = prediction;
    if (training === undefined) continue;
    const scoredNames = prediction.rows.flatMap((region) => (region.name === undefined ? [] : [region.name]));
    const base = { scoredText: prediction.rowsText, scoreNode: score.node, scoredNames };
    const overlap = overlapOf(training.rows, prediction.rows);
    if (overlap === 'unknown') {
      interp.skip(prediction.node, NOT_CLEAR);
      continue;
    }
    if (overlap === 'yes') {
      if (!isHeldOut(interp, training, record) || insideTrainingSide(prediction.rows, scored)) continue;
      const kind =
        training.pseudo === true
          ? 'pseudo-labels'
          : training.predictions.length > 0
            ? 'stacking'
            : 'training-rows';
      const split = splitBetween(training.rows, prediction.rows);
      const slicedBy = commonSlice(training.rows, prediction.rows);
      const statement = slicedBy ?? training.statement;
      add(leakAt(kind, { ...training, statement }, base, { split, joinedBy: interp.joinOf(training.rows) }));
    }
    const inSample = training.predictions.find(isInSample)?.training;
    if (overlap === 'no' && inSample !== undefined) {
      // The first models are to be mended, not the second: the block begins with their fit.
      const isFirst = inSample.statement.start < training.statement.start;
      add(leakAt('stacking', training, base, isFirst ? { scoredBy: inSample.statement } : {}));
    }
    // A model of an earlier stage has seen the scored rows, and the later one learns or gets what it says.
    if (overlap === 'no' && inSample === undefined) {
      const stages = [...training.predictions, ...(training.teachers ?? []), ...prediction.inputs];
      for (const { training: stage } of stages) {
        if (stage === undefined || !hasSeen(stage, prediction.rows)) continue;
        const split = splitBetween(stage.rows, prediction.rows);
        add(leakAt('training-rows', stage, base, { split, joinedBy: interp.joinOf(stage.rows) }));
      }
    }
    const groups = ignoredGroups(prediction.rows, training.labels);
    if (groups !== undefined && overlap === 'no' && !insideTrainingSide(prediction.rows, scored)) {
      const { rows, rowsText } = prediction;
      add(leakAt('group-overlap', { ...groups, rows, rowsText }, base, { joinedBy: groups.joinedBy }));
    }
    for (const fit of [...training.fits, ...prediction.fits, ...record.fits]) {
      if (!fit.certain || overlapOf(fit.rows, prediction.rows) !== 'yes') continue;
      if (isOfPredictions(fit, record)) continue;
      // Chosen on one part of the predictions, and scored on another one.
      if (fit.kind === 'selection' && overlapOf(fit.rows, scoredPart(score)) !== 'yes') continue;
      // The next choice is made on what was chosen: whether the same rows are scored, the score that is shown says.
      if (fit.kind === 'selection' && interp.record.isOnlyToChoose(score)) continue;
      if (fit.kind === 'shuffled-time' && !isShuffledLabel(interp, fit, training, prediction.rows)) continue;
      // Copies of rows of one side alone, as views of the scored rows, are on no other side.
      if (fit.kind === 'duplicated-rows' && overlapOf(fit.rows, training.rows) !== 'yes') continue;
      if (fit.kind === 'duplicated-rows' && keepsCopies(fit.copies, training.rows, prediction.rows)) continue;
      if (insideTrainingSide(fit.rows, scored)) continue;
      if (isChoice(fit) && isTestedOnOtherFile(record, scored)) continue;
      const leak = leakOf(interp, fit, prediction.rows, base, score);
      // A statistic of the label by group is a target encoding.
      const ofLabel =
        fit.kind === 'group-statistics' &&
        training.labels.some((label) => fit.columns?.includes(label) === true);
      if ((!ofLabel || fit.isOfEarlier === true) && isOfWholeGroups(fit, training.rows, prediction.rows))
        continue;
      if (fit.kind === 'shuffled-time') add(atShuffle(leak, prediction.rows));
      else add(ofLabel ? { ...leak, kind: 'target-encoding' } : leak);
    }
  }
  const final = finalPrints(interp);
  const isNotebook = interp.record.prints.every(({ rank }) => rank === 0);
  const isNamedFinal = !isNotebook;
  for (const { fit, score, node } of interp.record.printedChoices) {
    // A notebook that calls no score its last one has many: the best of several models is one of them.
    const isOneOfMany = isNotebook && comparesModels(score) && !isScoredElsewhere(score.rows, scored);
    if (!final.has(node) && !isOneOfMany) continue;
    if (fit.isBestOfSearch === true && !(isNamedFinal && final.has(node))) continue;
    if (!fit.certain || insideTrainingSide(fit.rows, scored)) continue;
    const [prediction] = score.predictions;
    if (prediction === undefined || !heldOutFrom(prediction.training, prediction.rows)) continue;
    const scoring = { scoredText: prediction.rowsText, scoreNode: node, scoredNames: [] };
    add(leakOf(interp, fit, score.rows, scoring, score));
  }
  if (leaks.size === 0) for (const leak of claimedInSample(interp, scored)) add(leak);
  return [...leaks.values()].sort((a, b) => a.node.start - b.node.start);
}

/** Whether two texts name the same rows: by another name they may be a part, divided in a way not followed. */
function isSameText(a: string, b: string): boolean {
  return a.replaceAll(/\s+/g, '') === b.replaceAll(/\s+/g, '');
}

/** Scores of training rows that the script prints as validation scores, where it has no other score. */
function claimedInSample(interp: Interpreter, scored: readonly ScoredPredictions[]): Leak[] {
  // Rows that are not followed may be the held-out ones.
  const trained = new Set(scored.map(({ prediction }) => prediction.model));
  const isFollowed = (record: ScoredPredictions): boolean =>
    scored.includes(record) ||
    // What a network says before its first step.
    (record.prediction.training === undefined && trained.has(record.prediction.model));
  if (!interp.record.scored.every(isFollowed)) return [];
  const hasHeldOutScore = scored.some(
    ({ prediction }) =>
      prediction.training !== undefined && overlapOf(prediction.training.rows, prediction.rows) !== 'yes',
  );
  if (hasHeldOutScore) return [];
  return scored.flatMap(({ prediction, score }) => {
    const { training } = prediction;
    if (training === undefined) return [];
    const isClaimed = interp.record.isClaimed(score) && covers(training.rows, prediction.rows);
    // Of all rows, where the model was trained on one part of them.
    const isOfAll =
      interp.record.isPrinted(score) &&
      training.rows.every((region) => hasRole(region, 'train')) &&
      !covers(training.rows, prediction.rows) &&
      covers(prediction.rows, training.rows);
    // The very table that it was trained on, by its name or handed to a function under another one.
    const isSame = training.data === prediction.data || isSameText(training.rowsText, prediction.rowsText);
    if (!isOfAll && !(isClaimed && isSame)) {
      if (isClaimed) interp.skip(prediction.node, NOT_CLEAR);
      return [];
    }
    const scoring = { scoredText: prediction.rowsText, scoreNode: score.node, scoredNames: [] };
    // The model is trained on a training part, as it should be: the score is what is wrong.
    const isOfPart = training.rows.every((region) => hasRole(region, 'train'));
    const statement = isOfPart
      ? outerCall(score.statement, score.callers, training.statement)
      : training.statement;
    return [leakAt('training-rows', { ...training, statement }, scoring, { joinedBy: training.statement })];
  });
}

/** Whether all rows of each group that a statistic is of are on one side of the division. */
function isOfWholeGroups(
  { groupedBy = [] }: FitEvent,
  trained: readonly Region[],
  scored: readonly Region[],
): boolean {
  return (
    groupedBy.length > 0 &&
    keepsEqual(trained, scored, (_, column) => column !== undefined && groupedBy.includes(column))
  );
}

/** Whether a model was trained on these rows; one that is trained fold by fold has not seen those of its own fold. */
function hasSeen(training: Training, rows: readonly Region[]): boolean {
  return (
    training.supervised &&
    training.certain &&
    training.rows.length > 0 &&
    overlapOf(training.rows, rows) === 'yes' &&
    !training.rows.some(isOfFolds)
  );
}

function isOfFolds(region: Region): boolean {
  countWork(region.depth);
  for (let part: Region | undefined = region; part !== undefined; part = part.parent)
    if (part.partition?.form === 'folds') return true;
  return false;
}

/** Predictions of a model for rows that it was trained on. */
function isInSample({ training, rows }: Prediction): boolean {
  return training?.supervised === true && training.certain && overlapOf(training.rows, rows) === 'yes';
}

/** Of two slices that have rows in common: the statement that takes the scored one, which is to be mended. */
function commonSlice(trained: readonly Region[], scored: readonly Region[]): Stmt | undefined {
  return scored.find((part) => isSliceAcross(part, trained))?.madeBy;
}

/** A leak by shuffling is mended at the split that shuffles. */
function atShuffle(leak: Leak, rows: readonly Region[]): Leak {
  const part = rows.map(randomPart).find((found) => found !== undefined);
  const split = part === undefined ? undefined : splitAt(part);
  if (split === undefined) return leak;
  const haveNoCommonSuite = statementsBetween(leak.statement, split.statement) === undefined;
  return { ...leak, split, statement: haveNoCommonSuite ? split.statement : leak.statement };
}

/** Whether a lag of the label, or an overlapping window, is a feature while rows are dealt out at random. */
function isShuffledLabel(
  interp: Interpreter,
  fit: FitEvent,
  training: Training,
  rows: readonly Region[],
): boolean {
  if (!rows.some((region) => randomPart(region) !== undefined)) return false;
  // A label that is a column some rows later: lags of this column are labels of other rows.
  const labels = training.labels.flatMap((label) => [
    label,
    ...(interp.columnOrigins.of(label)?.ahead ?? []),
  ]);
  return [ANY_LABEL, ...labels].some((label) => fit.columns?.includes(label) === true);
}

/** Whether the division deals rows out at random, and not groups of rows as a whole. */
function isShuffling({ partition }: Region): boolean {
  return partition?.random === true && partition.keepsGroups !== true;
}

/** The part around some rows, or they themselves, that was dealt out at random. */
function randomPart(region: Region): Region | undefined {
  let current: Region | undefined = region;
  while (current !== undefined && !isShuffling(current)) current = current.parent;
  return current;
}

type Computation = Pick<Leak, 'subject' | 'rowsText' | 'rows' | 'node' | 'statement'>;
type Scoring = Pick<Leak, 'scoredText' | 'scoreNode' | 'scoredNames'>;

function leakAt(
  kind: LeakKind,
  { subject, rowsText, rows, node, statement }: Computation,
  scoring: Scoring,
  more: Partial<Pick<Leak, 'split' | 'joinedBy' | 'scoredBy' | 'calledBy' | 'isAtCall' | 'callers'>> = {},
): Leak {
  const computation = { kind, subject, rowsText, rows, node, nodes: [node], statement };
  return { ...computation, split: undefined, joinedBy: undefined, ...more, ...scoring };
}

function leakOf(
  interp: Interpreter,
  fit: FitEvent,
  rows: readonly Region[],
  scoring: Scoring,
  score: Score,
): Leak {
  const { kind, joinedBy, scoredBy } = fit;
  const split = splitBetween(fit.rows, rows);
  const calledBy = outerCall(fit.statement, fit.callers, split?.statement ?? scoring.scoreNode);
  return leakAt(kind, fit, scoring, {
    split,
    joinedBy,
    callers: fit.callers,
    ...(scoredBy === undefined ? {} : { scoredBy }),
    ...(calledBy === fit.statement
      ? {}
      : { calledBy, isAtCall: isRightHelper(interp, fit, calledBy, score) }),
  });
}

function isCertain(interp: Interpreter, prediction: ScoredPredictions['prediction']): boolean {
  const { training, rows, certain, node } = prediction;
  if (training === undefined || rows.length === 0) return false;
  if (training.rows.length === 0) {
    interp.skip(node, 'which rows are trained on here is not known');
    return false;
  }
  if (certain && training.certain) return true;
  interp.skip(node, 'which rows are trained on or scored here is not clear');
  return false;
}

/** A division that the scored rows went through, and the groups that it cuts through. */
interface CutGroups extends Pick<Leak, 'subject' | 'node' | 'statement' | 'joinedBy'> {}

/** The groups that a division of these rows cuts through. */
function ignoredGroups(rows: readonly Region[], labels: readonly string[]): CutGroups | undefined {
  for (const row of rows) {
    let shuffled: Region | undefined;
    for (let current: Region | undefined = row; current !== undefined; current = current.parent) {
      const { partition } = current;
      if (partition === undefined) continue;
      const { node, statement, ignoredGroups: ignored, pieces } = partition;
      // Persons that are the classes have to be on both sides.
      const areClasses = ignored?.columns?.some((column) => labels.includes(column)) === true;
      if (ignored !== undefined && !areClasses) {
        return { subject: `the groups \`${ignored.text}\``, node, statement, joinedBy: ignored.madeBy };
      }
      if (partition.random === true && partition.keepsGroups !== true) shuffled = current;
      if (pieces === undefined || shuffled?.partition === undefined) continue;
      // Rows were split into several before they were dealt out.
      const split = shuffled.madeBy ?? shuffled.partition.statement;
      return {
        subject: `which rows ${pieces} made of one`,
        node: shuffled.partition.node,
        statement: split,
        joinedBy: statement,
      };
    }
  }
  return undefined;
}
