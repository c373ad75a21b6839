import { type IgnoredGroups, type Partition, type Region, sameRows } from '../values/region.js';
import type { EstimatorState, Value } from '../values/value.js';
import type { Interpreter } from './interpreter.js';

/** Whether a splitter deals rows out at random. */
export function isRandomSplitter({ path, options }: EstimatorState): boolean {
  if (/(ShuffleSplit)$/.test(path)) return true;
  const shuffle = options.get('shuffle');
  return /KFold$/.test(path) && shuffle?.type === 'constant' && shuffle.value === true;
}

/** Whether a splitter keeps groups together; one that nobody described is taken to. */
export function knowsGroups({ path }: EstimatorState): boolean {
  return !/\.(KFold|StratifiedKFold|RepeatedKFold|RepeatedStratifiedKFold|ShuffleSplit|StratifiedShuffleSplit)$/.test(
    path,
  );
}

/** Whether a splitter was made to keep groups together. */
export function keepsGroups({ path }: EstimatorState): boolean {
  return /Groups?(Out|KFold|ShuffleSplit|TimeSeriesSplit)/.test(path);
}

/** The column that groups are the values of, where a splitter keeps them together. */
export function columnOfGroups(groups: Value | undefined): string | undefined {
  return groups?.type === 'table' && groups.cell.value.shape !== 'frame'
    ? groups.cell.value.from[0]
    : undefined;
}

/** What is known about the `cv` argument of a cross-validation. */
export function validationOptions(cv: Value | undefined): {
  random: boolean;
  knowsGroups: boolean;
  keepsGroups: boolean;
} {
  const isDefault = cv === undefined || cv.type === 'constant';
  if (isDefault) return { random: false, knowsGroups: false, keepsGroups: false };
  if (cv.type !== 'estimator') return { random: false, knowsGroups: true, keepsGroups: false };
  const state = cv.cell.value;
  return {
    random: isRandomSplitter(state),
    knowsGroups: knowsGroups(state),
    keepsGroups: keepsGroups(state),
  };
}

/** The folds that the sides in a value belong to: `train, val` or `fold, (train, val)`. */
export function foldsIn(value: Value, depth = 0): readonly Partition[] {
  if (depth > 2) return [];
  if (value.type === 'sequence') {
    return value.cell.value.items.slice(0, 4).flatMap((item) => foldsIn(item, depth + 1));
  }
  const partition = value.type === 'positions' ? value.steps.at(-1)?.partition : undefined;
  return partition?.form === 'folds' ? [partition] : [];
}

/** One pair of sides taken from a splitter, as by `next(splitter.split(X))`: a hold-out. */
export function takeOneFold(pair: Value): void {
  if (pair.type !== 'sequence') return;
  for (const side of pair.cell.value.items) {
    const partition = side.type === 'positions' ? side.steps.at(-1)?.partition : undefined;
    if (partition?.form === 'folds') partition.form = 'holdout';
  }
}

const GROUPS = ['groups', 'group', 'group_ids', 'group_id'];

/** A variable that the code itself calls the groups of these rows. */
function namedGroups(interp: Interpreter, rows: readonly Region[]): string | undefined {
  return GROUPS.find((name) => {
    const value = interp.scope.lookup(name)?.value;
    if (value?.type !== 'table' || value.cell.value.shape === 'frame') return false;
    return rows.length > 0 && sameRows(value.cell.value.rows, rows);
  });
}

/** Groups that a random division of this value splits; `stratified`: what is to be on both sides alike. */
export function groupsOf(
  interp: Interpreter,
  divided: Value | undefined,
  stratified?: Value,
): IgnoredGroups | undefined {
  if (divided === undefined) return undefined;
  const text = namedGroups(interp, interp.dataOf(divided).rows);
  return text === undefined ? interp.counted.of(divided, stratified) : { text };
}
