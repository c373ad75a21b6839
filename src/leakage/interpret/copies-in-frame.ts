import type { Stmt } from '../syntax/ast.js';
import type { CopiesInFrame, FitEvent } from '../values/facts.js';
import { keepsEqual, overlapOf, type Region } from '../values/region.js';
import type { Step, TableState, Value } from '../values/value.js';
import { countWork } from '../values/work.js';

/** What tells the copies of a row apart where frames of the same rows are put under each other. */
export function copiesInFrame(values: readonly Value[]): CopiesInFrame | undefined {
  const parts = values.flatMap((value) =>
    value.type === 'table' && value.cell.value.shape === 'frame' ? [value.cell.value] : [],
  );
  const [first] = parts;
  if (first === undefined || parts.length !== values.length) return undefined;
  const isShared = (column: string): boolean => {
    countWork(parts.length);
    const known = originOf(first, column);
    return known !== undefined && parts.every((part) => originOf(part, column) === known);
  };
  const names = (column: string): boolean => {
    const constants = parts.map((part) => part.columns.get(column)?.constant);
    countWork(parts.length);
    return !constants.includes(undefined) && new Set(constants).size === parts.length;
  };
  return { isShared, names };
}

/** What a column is: the name that it had where it was read, or the statement that made it; nothing if it is not there. */
function originOf({ columns, dropped }: TableState, name: string): string | Stmt | undefined {
  const { madeBy, from = [name] } = columns.get(name) ?? {};
  return dropped.has(name) ? undefined : (madeBy ?? from.join());
}

/** Rows that have one value in a column that names the copy: one copy of each row. */
export function withoutCopies(state: TableState, steps: readonly Step[]): TableState {
  const named = steps.flatMap(({ partition: { key }, side }) =>
    key.startsWith('compare:') && side.startsWith('=') ? [key.slice('compare:'.length)] : [],
  );
  if (named.length === 0) return state;
  const isOne = ({ copies }: FitEvent): boolean =>
    copies !== undefined && named.some((column) => copies.names(column));
  countWork(state.fits.length);
  if (!state.fits.some(isOne)) return state;
  return withFitsThat(state, (fit) => !isOne(fit));
}

/** A table with those fits of it and its columns that a condition keeps. */
export function withFitsThat(state: TableState, keeps: (fit: FitEvent) => boolean): TableState {
  countWork(8 * state.columns.size + state.fits.length);
  const columns = new Map(
    [...state.columns].map(([name, column]) => [name, { ...column, fits: column.fits.filter(keeps) }]),
  );
  return { ...state, fits: state.fits.filter(keeps), columns };
}

/** Whether the division between two parts goes by a column that all copies of a row share, or by groups that hold them all. */
export function keepsCopies(
  copies: CopiesInFrame | undefined,
  trained: readonly Region[],
  scored: readonly Region[],
): boolean {
  return keepsEqual(
    trained,
    scored,
    (partition, column) =>
      partition.keepsGroups === true || (column !== undefined && copies?.isShared(column) === true),
  );
}

/**
 * What a table brings along that is looked up row by row. If each row of `into` was put into it several times, as the two teams of a
 * game, and the keys name one of these, the rows are still there once.
 */
export function withoutLookedUpCopies(
  fits: readonly FitEvent[],
  into: readonly Region[],
  keys: readonly string[],
): readonly FitEvent[] {
  countWork(fits.length);
  return fits.filter(({ kind, rows, copies }) => {
    if (kind !== 'duplicated-rows' || copies === undefined) return true;
    const namesOne = keys.length > 1 || keys.some((column) => !copies.isShared(column));
    return !namesOne || overlapOf(rows, into) !== 'yes';
  });
}
