import type { Expr } from '../syntax/ast.js';
import { union } from '../values/facts.js';
import { noteShuffled, type Region, sameRows } from '../values/region.js';
import { type Positions, type Step, type TableState, tableFacts, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import type { Interpreter } from './interpreter.js';
import { pickRows } from './rows-and-columns.js';
import { otherSide, textStep } from './steps.js';

/** The steps that lead from the rows of a source to a part of them. */
function pathOf(region: Region): Step[] {
  const steps: Step[] = [];
  countWork(region.depth);
  for (let part: Region | undefined = region; part?.partition !== undefined; part = part.parent) {
    const { partition, side, role } = part;
    steps.push({ partition, side, ...(role === undefined ? {} : { role }) });
  }
  return steps.reverse();
}

function startsWith(path: readonly Step[], start: readonly Step[]): boolean {
  return start.every((step, at) => path[at]?.partition === step.partition && path[at]?.side === step.side);
}

/**
 * The steps that lead from some rows to those that carry the labels: none where the labels are those of all rows,
 * `undefined` where nobody knows how the two lie to each other.
 */
export function stepsToLabels(rows: readonly Region[], labels: Positions): readonly Step[] | undefined {
  if (labels.of === undefined) return labels.steps;
  if (labels.alsoOf !== undefined && sameRows(rows, labels.alsoOf)) return labels.steps;
  const [own, wanted] = [rows[0], labels.of[0]];
  if (own === undefined || wanted === undefined || rows.length > 1 || labels.of.length > 1) return undefined;
  const [from, to] = [pathOf(own), pathOf(wanted)];
  if (startsWith(to, from)) return [...to.slice(from.length), ...labels.steps];
  return startsWith(from, to) && labels.steps.length === 0 ? [] : undefined;
}

/** Rows of a table by position, or by the labels of another table: `y.loc[X_train.index]`. */
export function pickPositions(interp: Interpreter, state: TableState, at: Positions, node: Expr): TableState {
  if (at.isShuffled === true) noteShuffled(state.rows);
  const picked = pickRows(interp, state, stepsToLabels(state.rows, at) ?? [textStep(interp, node)]);
  return at.repeatedBy === undefined ? picked : withRepeatedRows(interp, picked, at.repeatedBy);
}

/** Rows at positions of which some are there several times; of predictions that is the spread of a score. */
function withRepeatedRows(interp: Interpreter, state: TableState, by: Expr): TableState {
  if (state.rows.length === 0 || tableFacts(state).predictions.length > 0) return state;
  const text = interp.label(by);
  const event = interp.fit('duplicated-rows', `\`${text}\``, state, text, by);
  return { ...state, fits: union(state.fits, [event]) };
}

/** The rows that positions leave out. */
export function leftOut(
  interp: Interpreter,
  rows: readonly Region[],
  positions: Value | undefined,
  node: Expr,
): Step {
  const steps = positions?.type === 'positions' ? stepsToLabels(rows, positions) : undefined;
  const [only] = steps ?? [];
  return otherSide(steps?.length === 1 && only !== undefined ? only : textStep(interp, node));
}
