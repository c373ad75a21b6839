import type { Interpreter } from '../interpret/interpreter.js';
import type { ScoredPredictions } from '../interpret/score-record.js';
import { sidesDisjoint } from '../values/comparison.js';
import type { Training } from '../values/facts.js';
import {
  covers,
  isCondition,
  isCut,
  isSample,
  originOf,
  overlapOf,
  type Region,
  relationOf,
  sameRows,
} from '../values/region.js';
import { countWork } from '../values/work.js';

/** Whether rows lie in the train side of a division whose other side is scored as well. */
export function insideTrainingSide(rows: readonly Region[], scored: readonly ScoredPredictions[]): boolean {
  return rows.every((region) => {
    let current: Region | undefined = region;
    while (current !== undefined) {
      const here: Region = current;
      const others = scored.some(
        ({ prediction, crossValidated }) =>
          !crossValidated &&
          heldOutFrom(prediction.training, prediction.rows) &&
          // Two parts of a table that no model is trained on are no training side for each other.
          prediction.training?.rows.some((row) => originOf(row) === originOf(here)) === true &&
          // Nor is a test part, where the model was trained on others alone.
          (here.role !== 'test' || overlapOf(prediction.training.rows, [here]) !== 'no') &&
          prediction.rows.every((row) => isAcross(here, row, true)),
      );
      if (others) return true;
      current = here.parent;
    }
    return false;
  });
}

export function heldOutFrom(training: Training | undefined, rows: readonly Region[]): boolean {
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

/**
 * Whether scored rows that the model was trained on were meant to be held out: a part that the code names a
 * test part, a proper part of the training rows, or rows that another model is tested on.
 */
export function isHeldOut(
  interp: Interpreter,
  training: Training,
  { prediction: { rows, inputs }, score }: ScoredPredictions,
): boolean {
  const isTest = rows.every((region) => hasRole(region, 'test'));
  if (isTest) return true;
  if (rows.some((region) => hasRole(region, 'train'))) return false;
  if (rows.every((region) => isSliceAcross(region, training.rows))) return true;
  if (!sameRows(training.rows, rows) && covers(training.rows, rows)) {
    const proper = rows.every(
      (region) => region.partition !== undefined || training.rows.indexOf(region) > 0,
    );
    if (proper && rows.every((region) => region.partition === undefined || complementTrained(interp, region)))
      return true;
    const isClaimed = interp.record.isClaimed(score);
    if (
      proper &&
      rows.every(
        (region) =>
          isLastPart(interp, region) ||
          (isClaimed && (isConditioned(region) || isDrawnAfter(region, training))),
      )
    )
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

/** Whether rows are a slice that has some of the others, and not all of its own among them. */
export function isSliceAcross(region: Region, others: readonly Region[]): boolean {
  return (
    region.partition !== undefined &&
    isCut(region.partition) &&
    others.some((row) => relationOf(row, region) === 'crossing')
  );
}

export function hasRole(region: Region, role: 'train' | 'test'): boolean {
  let current: Region | undefined = region;
  while (current !== undefined) {
    if (current.role !== undefined) return current.role === role;
    current = current.parent;
  }
  return false;
}

/** The rows after a cut, where the code takes those before it as well, and they are not scored. */
function isLastPart(interp: Interpreter, { partition, side, parent }: Region): boolean {
  if (partition === undefined || parent === undefined || !isCut(partition) || side !== 'after') return false;
  countWork(parent.parts.size);
  const first = [...parent.parts.values()].find(
    (part) => part.partition === partition && part.side === 'before',
  );
  return (
    first !== undefined && !interp.record.scored.some(({ prediction }) => prediction.rows.includes(first))
  );
}

function isConditioned({ partition }: Region): boolean {
  return partition !== undefined && (isCondition(partition) || isCut(partition));
}

/** A random sample of the very table that a model was trained on before: what was trained on had no chance to leave it out. */
function isDrawnAfter({ partition, parent, madeBy }: Region, { rows, statement }: Training): boolean {
  if (partition === undefined || parent === undefined || !isSample(partition)) return false;
  const { owner } = statement.suite;
  const isOnce = owner === undefined || owner.type === 'function';
  return (
    isOnce && rows.includes(parent) && madeBy?.suite === statement.suite && madeBy.start > statement.start
  );
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
