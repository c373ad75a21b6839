import type { Stmt } from '../syntax/ast.js';
import type { CopiesInFrame } from '../values/facts.js';
import type { Region } from '../values/region.js';
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
  const isOne = ({ copies }: TableState['fits'][number]): boolean =>
    copies !== undefined && named.some((column) => copies.names(column));
  countWork(state.fits.length);
  if (!state.fits.some(isOne)) return state;
  const rest = (fits: TableState['fits']): TableState['fits'] => fits.filter((fit) => !isOne(fit));
  countWork(8 * state.columns.size);
  const columns = new Map(
    [...state.columns].map(([name, column]) => [name, { ...column, fits: rest(column.fits) }]),
  );
  return { ...state, fits: rest(state.fits), columns };
}

/** Whether the division between two parts goes by a column that all copies of a row share, or by groups that hold them all. */
export function keepsCopies(
  copies: CopiesInFrame | undefined,
  trained: readonly Region[],
  scored: readonly Region[],
): boolean {
  return scored.every((part) => {
    for (let x: Region | undefined = part; x?.partition !== undefined; x = x.parent) {
      const { partition } = x;
      if (!trained.some((other) => isDividedBy(other, x))) continue;
      if (partition.keepsGroups === true) return true;
      const { key } = partition;
      return key.startsWith('compare:') && copies?.isShared(key.slice('compare:'.length)) === true;
    }
    return false;
  });
}

/** Whether a part came about by the same division as another one. */
function isDividedBy(part: Region, { partition, parent }: Region): boolean {
  countWork(part.depth);
  for (let x: Region | undefined = part; x?.partition !== undefined; x = x.parent)
    if (x.partition === partition && x.parent === parent) return true;
  return false;
}
