import type { Interpreter } from '../interpret/interpreter.js';
import { ANY_LABEL } from '../interpret/row-events.js';
import type { ScoredPredictions } from '../interpret/score-record.js';
import type { LeakKind } from '../kinds.js';
import type { Expr, Stmt } from '../syntax/ast.js';
import { sidesDisjoint } from '../values/comparison.js';
import type { FitEvent, Prediction, Training } from '../values/facts.js';
import {
  covers,
  isCondition,
  overlapOf,
  type Partition,
  type Region,
  relationOf,
  sameRows,
} from '../values/region.js';
import { countWork } from '../values/work.js';
import { statementsBetween } from './block.js';

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
  for (const part of scored) {
    let current: Region | undefined = part;
    // Splitting each row into several divides nothing: the division below it does.
    let division = part;
    while (current?.parent !== undefined) {
      const parent: Region = current.parent;
      if (current.partition?.pieces === undefined) division = current;
      if (rows.some((region) => region === parent || relationOf(region, parent) === 'inside'))
        return splitAt(division);
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

/** Whether rows lie in the train side of a division whose other side is scored as well. */
function insideTrainingSide(rows: readonly Region[], scored: readonly ScoredPredictions[]): boolean {
  return rows.every((region) => {
    let current: Region | undefined = region;
    while (current !== undefined) {
      const here: Region = current;
      const others = scored.some(
        ({ prediction, crossValidated }) =>
          !crossValidated &&
          heldOutFrom(prediction.training, prediction.rows) &&
          prediction.rows.every((row) => isAcross(here, row, true)),
      );
      if (others) return true;
      current = here.parent;
    }
    return false;
  });
}

function heldOutFrom(training: Training | undefined, rows: readonly Region[]): boolean {
  return training !== undefined && overlapOf(training.rows, rows) === 'no';
}

/** Whether `row` lies on another side of the division that made `region`; folds count where the caller says so. */
function isAcross(region: Region, row: Region, withFolds = false): boolean {
  if (region.partition === undefined) return false;
  if (region.partition.form === 'folds' && !withFolds) return false;
  let current: Region | undefined = row;
  countWork(1 + row.depth);
  while (current !== undefined) {
    if (current.partition === region.partition) {
      if (current.parent === region.parent) return relationOf(current, region) === 'disjoint';
      if (isCondition(region.partition) && sidesDisjoint(current.side, region.side)) return true;
    }
    current = current.parent;
  }
  return false;
}

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
  const scored = interp.record.scored.filter(({ prediction }) => isCertain(interp, prediction));
  for (const record of scored) {
    const { prediction, score } = record;
    const { training } = prediction;
    if (training === undefined) continue;
    const scoredNames = prediction.rows.flatMap((region) => (region.name === undefined ? [] : [region.name]));
    const base = { scoredText: prediction.rowsText, scoreNode: score.node, scoredNames };
    const overlap = overlapOf(training.rows, prediction.rows);
    if (overlap === 'unknown') {
      interp.skip(prediction.node, 'whether the scored rows are among those of the training is not clear');
      continue;
    }
    if (overlap === 'yes') {
      if (!isHeldOut(interp, training, prediction) || insideTrainingSide(prediction.rows, scored)) continue;
      const kind =
        training.pseudo === true
          ? 'pseudo-labels'
          : training.predictions.length > 0
            ? 'stacking'
            : 'training-rows';
      const split = splitBetween(training.rows, prediction.rows);
      add(leakAt(kind, training, base, { split, joinedBy: interp.joinOf(training.rows) }));
    }
    const inSample = training.predictions.find(isInSample)?.training;
    if (overlap === 'no' && inSample !== undefined) {
      // The first models are to be mended, not the second: the block begins with their fit.
      const isFirst = inSample.statement.start < training.statement.start;
      add(leakAt('stacking', training, base, isFirst ? { scoredBy: inSample.statement } : {}));
    }
    const groups = ignoredGroups(prediction.rows);
    if (groups !== undefined && overlap === 'no' && !insideTrainingSide(prediction.rows, scored)) {
      const { rows, rowsText } = prediction;
      add(leakAt('group-overlap', { ...groups, rows, rowsText }, base, { joinedBy: groups.joinedBy }));
    }
    for (const fit of [...training.fits, ...prediction.fits, ...record.fits]) {
      if (!fit.certain || overlapOf(fit.rows, prediction.rows) !== 'yes') continue;
      if (fit.kind === 'shuffled-time' && !isShuffledLabel(fit, training, prediction.rows)) continue;
      // Copies of rows of one side alone, as views of the scored rows, are on no other side.
      if (fit.kind === 'duplicated-rows' && overlapOf(fit.rows, training.rows) !== 'yes') continue;
      if (insideTrainingSide(fit.rows, scored)) continue;
      const leak = leakOf(fit, prediction.rows, base);
      // A statistic of the label by group is a target encoding.
      const ofLabel =
        fit.kind === 'group-statistics' &&
        training.labels.some((label) => fit.columns?.includes(label) === true);
      if (fit.kind === 'shuffled-time') add(atShuffle(leak, prediction.rows));
      else add(ofLabel ? { ...leak, kind: 'target-encoding' } : leak);
    }
  }
  const final = finalPrints(interp);
  for (const { fit, score, node } of interp.record.printedChoices) {
    if (!final.has(node)) continue;
    if (!fit.certain || insideTrainingSide(fit.rows, scored)) continue;
    const [prediction] = score.predictions;
    if (prediction === undefined || !heldOutFrom(prediction.training, prediction.rows)) continue;
    add(leakOf(fit, score.rows, { scoredText: prediction.rowsText, scoreNode: node, scoredNames: [] }));
  }
  if (leaks.size === 0) for (const leak of claimedInSample(interp, scored)) add(leak);
  return [...leaks.values()].sort((a, b) => a.node.start - b.node.start);
}

/**
 * The calls that print the score the script is evaluated by: those that call it final, or the last one. A best value
 * that is shown beside it, as the precision at some recall, was chosen for the reader.
 */
function finalPrints({ record: { prints } }: Interpreter): ReadonlySet<Expr> {
  const top = prints.reduce((most, { rank }) => Math.max(most, rank), 0);
  const named = prints.filter(({ rank }) => rank === top);
  return new Set((top === 0 ? named.slice(-1) : named).map(({ node }) => node));
}

/** Whether two texts name the same rows: by another name they may be a part, divided in a way not followed. */
function isSameText(a: string, b: string): boolean {
  return a.replaceAll(/\s+/g, '') === b.replaceAll(/\s+/g, '');
}

/** Scores of training rows that the script prints as validation scores, where it has no other score. */
function claimedInSample(interp: Interpreter, scored: readonly ScoredPredictions[]): Leak[] {
  // Rows that are not followed may be the held-out ones.
  if (scored.length < interp.record.scored.length) return [];
  const hasHeldOutScore = scored.some(
    ({ prediction }) =>
      prediction.training !== undefined && overlapOf(prediction.training.rows, prediction.rows) !== 'yes',
  );
  if (hasHeldOutScore) return [];
  return scored.flatMap(({ prediction, score }) => {
    const { training } = prediction;
    if (training === undefined || !interp.record.isClaimed(score) || !covers(training.rows, prediction.rows))
      return [];
    if (!isSameText(training.rowsText, prediction.rowsText)) return [];
    const scoring = { scoredText: prediction.rowsText, scoreNode: score.node, scoredNames: [] };
    return [leakAt('training-rows', training, scoring)];
  });
}

/** Predictions of a model for rows that it was trained on. */
function isInSample({ training, rows }: Prediction): boolean {
  return training?.supervised === true && training.certain && overlapOf(training.rows, rows) === 'yes';
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
function isShuffledLabel(fit: FitEvent, training: Training, rows: readonly Region[]): boolean {
  if (!rows.some((region) => randomPart(region) !== undefined)) return false;
  return (
    fit.columns?.includes(ANY_LABEL) === true ||
    training.labels.some((label) => fit.columns?.includes(label) === true)
  );
}

/** The part around some rows, or they themselves, that was dealt out at random. */
function randomPart(region: Region): Region | undefined {
  let current: Region | undefined = region;
  while (current !== undefined && current.partition?.random !== true) current = current.parent;
  return current;
}

type Computation = Pick<Leak, 'subject' | 'rowsText' | 'rows' | 'node' | 'statement'>;
type Scoring = Pick<Leak, 'scoredText' | 'scoreNode' | 'scoredNames'>;

function leakAt(
  kind: LeakKind,
  { subject, rowsText, rows, node, statement }: Computation,
  scoring: Scoring,
  more: Partial<Pick<Leak, 'split' | 'joinedBy' | 'scoredBy'>> = {},
): Leak {
  const computation = { kind, subject, rowsText, rows, node, nodes: [node], statement };
  return { ...computation, split: undefined, joinedBy: undefined, ...more, ...scoring };
}

function leakOf(fit: FitEvent, rows: readonly Region[], scoring: Scoring): Leak {
  const { kind, joinedBy, scoredBy } = fit;
  const split = splitBetween(fit.rows, rows);
  return leakAt(kind, fit, scoring, { split, joinedBy, ...(scoredBy === undefined ? {} : { scoredBy }) });
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

/**
 * Whether scored rows that the model was trained on were meant to be held out: a part that the code names a
 * test part, a proper part of the training rows, or rows that another model is tested on.
 */
function isHeldOut(interp: Interpreter, training: Training, { rows, inputs }: Prediction): boolean {
  const isTest = rows.every((region) => hasRole(region, 'test'));
  if (isTest) return true;
  if (rows.some((region) => hasRole(region, 'train'))) return false;
  if (!sameRows(training.rows, rows) && covers(training.rows, rows)) {
    const proper = rows.every(
      (region) => region.partition !== undefined || training.rows.indexOf(region) > 0,
    );
    if (proper && rows.every((region) => region.partition === undefined || complementTrained(interp, region)))
      return true;
  }
  // A second model scored on the out-of-fold predictions that it was trained on.
  const isSecond = inputs.length > 0 && inputs.every((input) => heldOutFrom(input.training, input.rows));
  if (isSecond && sameRows(training.rows, rows)) return true;
  return (
    sameRows(training.rows, rows) &&
    rows.every((region) => complementTrained(interp, region) && !isTrainingSide(interp, region, training))
  );
}

function hasRole(region: Region, role: 'train' | 'test'): boolean {
  let current: Region | undefined = region;
  while (current !== undefined) {
    if (current.role !== undefined) return current.role === role;
    current = current.parent;
  }
  return false;
}

/** Whether some model was trained on the other side of the division that made these rows. */
function complementTrained(interp: Interpreter, region: Region): boolean {
  return interp.record.trainings.some(
    (training) => training?.rows.some((row) => isAcross(region, row)) === true,
  );
}

/** Whether other models are trained on these rows and scored on the other side. */
function isTrainingSide(interp: Interpreter, region: Region, except: Training): boolean {
  return interp.record.scored.some(
    ({ prediction }) =>
      prediction.training !== undefined &&
      prediction.training !== except &&
      prediction.training.rows.includes(region) &&
      prediction.rows.some((row) => isAcross(region, row)),
  );
}

/** A division that the scored rows went through, and the groups that it cuts through. */
interface IgnoredGroups extends Pick<Leak, 'subject' | 'node' | 'statement' | 'joinedBy'> {}

/** The groups that a division of these rows cuts through. */
function ignoredGroups(rows: readonly Region[]): IgnoredGroups | undefined {
  for (const row of rows) {
    let shuffled: Region | undefined;
    for (let current: Region | undefined = row; current !== undefined; current = current.parent) {
      const { partition } = current;
      if (partition === undefined) continue;
      const { node, statement, ignoredGroups: ignored, pieces } = partition;
      if (ignored !== undefined) {
        return { subject: `the groups \`${ignored.text}\``, node, statement, joinedBy: undefined };
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
