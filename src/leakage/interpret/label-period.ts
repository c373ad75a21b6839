import type { FitEvent } from '../values/facts.js';
import { isCondition, isCut, originOf, overlapOf, type Region, relationOf } from '../values/region.js';
import { type TableState, tableFacts } from '../values/value.js';
import { countWork } from '../values/work.js';
import type { Interpreter } from './interpreter.js';

/**
 * Features that are put together over the rows that the label is made of: `churned = ~users["id"].isin(later["id"])` beside
 * `log.groupby("id")["paid"].sum()`, where `later` are the rows of `log` after a day.
 */
export function featuresOfLabelPeriod(
  interp: Interpreter,
  x: TableState,
  y: TableState,
): readonly FitEvent[] {
  const { fits } = tableFacts(x);
  // What the whole table was made with is in the features as well.
  const ofLabel = tableFacts(y).fits.filter((fit) => !x.fits.includes(fit));
  const periods = [
    ...(y.among ?? []),
    ...ofLabel.flatMap(({ kind, rows }) => (kind === 'group-statistics' ? rows : [])),
  ].filter((part) => isPeriod(part) && overlapOf([part], x.rows) === 'no');
  if (periods.length === 0 || x.rows.length === 0) return [];
  countWork(fits.length * periods.length);
  const rows = { rows: [...new Set(x.rows.map(originOf))], certain: x.certain };
  return fits
    .filter(
      (fit) =>
        fit.kind === 'group-statistics' &&
        fit.certain &&
        !ofLabel.includes(fit) &&
        !takesFirst(fit) &&
        fit.rows.some((around) => periods.some((part) => holds(around, part))),
    )
    .map(({ subject, rowsText, node, statement }) =>
      interp.fit('future-values', subject, rows, rowsText, node, statement),
    );
}

/** A part of the rows of a table that a condition or a cut picks. */
function isPeriod({ partition }: Region): boolean {
  return partition !== undefined && (isCondition(partition) || isCut(partition));
}

function holds(around: Region, part: Region): boolean {
  const relation = relationOf(around, part);
  return relation === 'contains' || relation === 'same';
}

/** `groupby("id")["country"].first()`: what does not change is the same before. */
function takesFirst({ node }: FitEvent): boolean {
  return node.type === 'call' && node.callee.type === 'attribute' && node.callee.name === 'first';
}
