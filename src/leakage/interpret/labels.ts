import type { Call, Stmt } from '../syntax/ast.js';
import type { FitEvent } from '../values/facts.js';
import { type Region, sameRows } from '../values/region.js';
import type { TableState, Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import { type Arguments, argument } from './calls.js';
import type { Interpreter } from './interpreter.js';

/** Which columns the labels of a fit are, and whether one of them is among the features as well. */
export function labelsOf(
  interp: Interpreter,
  args: Arguments,
  call: Call,
): { columns: readonly string[]; fits: FitEvent[] } {
  const [features, labels] = [argument(args, 0, 'X', 'x'), argument(args, 1, 'y', 'label')];
  const columns = labels?.type === 'table' ? labels.cell.value.from : [];
  const copy = labelCopy(features, labels);
  if (copy === undefined || features?.type !== 'table') return { columns, fits: [] };
  const state = features.cell.value;
  const rows = { rows: [...new Set(state.rows.map(rootOf))], certain: state.certain };
  const event = interp.fit(
    'label-in-features',
    `column \`${copy.column}\``,
    rows,
    interp.label(call),
    call,
    copy.madeBy ?? interp.statement,
    columns,
  );
  return { columns, fits: [event] };
}

function rootOf(region: Region): Region {
  countWork(region.depth);
  let current = region;
  while (current.parent !== undefined) current = current.parent;
  return current;
}

/** A feature column that is the label or is computed from it alone, row by row; only where that is certain. */
function labelCopy(
  features: Value | undefined,
  labels: Value | undefined,
): { column: string; madeBy: Stmt | undefined } | undefined {
  if (features?.type !== 'table' || labels?.type !== 'table') return undefined;
  const [x, y] = [features.cell.value, labels.cell.value];
  const [label] = y.from;
  if (label === undefined || y.from.length !== 1 || x.shape !== 'frame' || !sameRows(x.rows, y.rows))
    return undefined;
  if (x.partial && !x.closed) return undefined;
  countWork(x.columns.size);
  for (const [column, { from, madeBy }] of x.columns) {
    if (column !== label && from.includes(label)) return { column, madeBy };
  }
  return hasColumn(x, label) ? { column: label, madeBy: x.selectedBy } : undefined;
}

function hasColumn(state: TableState, name: string): boolean {
  return state.closed ? state.columns.has(name) : !state.dropped.has(name);
}
