import type { FitEvent } from '../values/facts.js';
import type { TableState, Value } from '../values/value.js';
import { countWork } from '../values/work.js';

/** What a call gives of a column: the rows that it looks ahead, and of which columns, are recorded. */
export function takenFrom(
  before: TableState,
  column: Value,
  ahead: number,
  of: readonly string[] = [],
): Value {
  const { fits } = column.type === 'table' ? column.cell.value : before;
  const event = fits.at(-1);
  if (event === undefined || !isLater(event)) return column;
  // One call in a loop may look ahead again and again, or by different numbers of rows.
  event.ahead = before.fits.includes(event) ? Number.POSITIVE_INFINITY : Math.max(event.ahead ?? 0, ahead);
  if (of.length > 0) event.aheadOf = of;
  return column;
}

/**
 * `target.shift(1)` of `target = close.shift(-1) > close`: a column that is moved down by as many rows as it looks ahead holds
 * what is known in each row.
 */
export function movedDown(state: TableState, rows: number): TableState {
  if (state.shape !== 'column') return state;
  countWork(state.fits.length);
  const later = state.fits.filter(isLater);
  const ahead = later.reduce((sum, event) => sum + (event.ahead ?? Number.POSITIVE_INFINITY), 0);
  return later.length === 0 || ahead > rows
    ? state
    : { ...state, fits: state.fits.filter((event) => !isLater(event)) };
}

function isLater({ kind }: FitEvent): boolean {
  return kind === 'future-values';
}
