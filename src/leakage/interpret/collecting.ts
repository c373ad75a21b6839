import type { Call, Expr, Stmt } from '../syntax/ast.js';
import { namesInExpression } from '../syntax/walk.js';
import type { FitEvent } from '../values/facts.js';
import { emptyTable, newTable } from '../values/join.js';
import type { Region } from '../values/region.js';
import { factsOf, type Value } from '../values/value.js';
import { ANY_LABEL } from './any-label.js';
import type { Interpreter } from './interpreter.js';
import { boundIn } from './loop-names.js';
import { repeatedLoop } from './repeated-rows.js';

/** Which rows the variables that a loop binds hold before its first round. */
export function rowsBefore(interp: Interpreter, loop: Stmt): ReadonlyMap<string, readonly Region[]> {
  const rows = new Map<string, readonly Region[]>();
  for (const name of boundIn(loop).all) {
    const value = interp.scope.names.get(name)?.value;
    if (value?.type === 'table' || value?.type === 'opaque') rows.set(name, interp.dataOf(value).rows);
  }
  return rows;
}

/**
 * `kept = pd.concat([kept, part])` in a loop: the rows that the variable already held before the loop, by position of
 * the argument that it is. What the loop adds is another piece each time round, so it is no copy of what is there.
 * Nothing where the pieces are the same in each round.
 */
export function collectedBefore(
  interp: Interpreter,
  call: Call,
  parts: readonly (Expr | undefined)[],
): { readonly at: number; readonly rows: readonly Region[] } | undefined {
  const loop = interp.context.outermostLoop;
  const { statement } = interp;
  if (loop === undefined || statement.type !== 'assign') return undefined;
  const [target] = statement.targets;
  const at = parts.findIndex(
    (part) => part?.type === 'name' && target?.type === 'name' && part.id === target.id,
  );
  if (at < 0 || target?.type !== 'name' || call.start < loop.statement.start) return undefined;
  const { varying } = boundIn(loop.statement);
  const pieces = parts.filter((part, index) => part !== undefined && index !== at);
  const vary = pieces.every(
    (part) =>
      part !== undefined &&
      [...namesInExpression(part)].some(({ id }) => id !== target.id && varying.has(id)),
  );
  return vary ? { at, rows: loop.before.get(target.id) ?? [] } : undefined;
}

/** What a loop collects piece by piece: one row for each round, the same rows for all lists it fills. */
export function collected(interp: Interpreter, value: Value): Value {
  const innermost = interp.context.innermostLoop;
  const isData = value.type === 'table' || (value.type === 'opaque' && value.countOf === undefined);
  if (innermost === undefined || !isData || isWholeSource(value)) return value;
  // A loop that does something several times for each row does not go through the rows: the one around it does.
  const loop = repeatedLoop(interp, innermost) ?? innermost;
  const facts = factsOf(value);
  if (facts.scores.length > 0 || facts.predictions.length > 0) return value;
  if (
    !facts.rows.every(
      (region) => region.parent === undefined && (region.loop === loop || region.loop === innermost),
    )
  )
    return value;
  // Words of one text: what they are looked up to be is of the row that the text is.
  const row = facts.rows.length === 0 ? interp.context.rowGoneThrough : undefined;
  if (row !== undefined && row.rows.length > 0 && value.type === 'opaque')
    return newTable(emptyTable({ ...facts, rows: row.rows, certain: row.certain, single: true }, 'row'));
  const rows = [interp.source(`loop:${interp.siteKey(loop)}`, interp.label(loop))];
  if (value.type === 'table') return newTable({ ...value.cell.value, rows });
  return newTable({ ...emptyTable({ ...facts, rows }), ...(value.formatted ? { formatted: true } : {}) });
}

/** A whole table that was read before all loops, perhaps changed: what a round appends are all its rows. */
function isWholeSource(value: Value): boolean {
  return (
    value.type === 'opaque' &&
    value.source !== undefined &&
    value.source.loop === undefined &&
    value.element !== true
  );
}

/**
 * `rows.append({"mean": visits["x"].mean(), "label": visits["y"].iloc[0]})` for each patient: statistics of what one round
 * looks at are numbers of the row that it appends, not of all rows.
 */
export function ofOneRound(interp: Interpreter, piece: Value): Value {
  if (piece.type !== 'mapping' && piece.type !== 'sequence') return piece;
  const { computedInRound, repeat } = interp.context;
  const facts = interp.dataOf(piece);
  if (computedInRound.size === 0 || repeat === undefined) return piece;
  const fits = withoutOwnStatistics(interp, facts.fits);
  // Windows that overlap are rows that share values.
  const window = fits.find(({ columns }) => columns?.includes(ANY_LABEL) === true);
  const areWindows = window !== undefined;
  // Numbers of a window have no rows themselves.
  if (areWindows && facts.rows.length === 0 && facts.predictions.length + facts.scores.length === 0) {
    const { rows, certain } = window;
    return newTable({ ...emptyTable({ ...facts, rows, certain, fits }, 'row'), single: true });
  }
  if (facts.rows.length === 0) return piece;
  if (fits.length === facts.fits.length || facts.predictions.length > 0 || facts.scores.length > 0)
    return piece;
  if (areWindows) return newTable({ ...emptyTable({ ...facts, fits }, 'row'), single: true });
  const region = interp.source(`rounds:${interp.siteKey(repeat)}`, interp.label(repeat));
  region.grouped = facts.rows;
  return newTable({ ...emptyTable({ ...facts, rows: [region], certain: true, fits }, 'row'), single: true });
}

/** What a value was computed with, without the statistics that the round computed. */
export function withoutOwnStatistics(
  interp: Interpreter,
  fits: readonly FitEvent[],
  isOwn: (fit: FitEvent) => boolean = isStatistic,
): readonly FitEvent[] {
  const { computedInRound } = interp.context;
  return fits.filter((fit) => !isOwn(fit) || !computedInRound.has(fit));
}

/** Whether it is a number that was computed over many rows, without a choice. */
export function isStatistic({ kind }: FitEvent): boolean {
  return kind === 'statistics' || kind === 'group-statistics';
}
