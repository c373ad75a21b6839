import type { MeasuredRow } from '../harness/measurement.js';
import { median } from '../harness/statistics.js';

/** Median of a number over the samples of a row; undefined if it was not measured. */
export function numberOf(rows: readonly MeasuredRow[], row: string, number: string): number | undefined {
  const found = valuesOf(rows, row, number);
  return found.length === 0 ? undefined : median(found);
}

export function valuesOf(rows: readonly MeasuredRow[], row: string, number: string): number[] {
  return samplesOf(rows, row).flatMap(({ numbers }) => numbers?.[number] ?? []);
}

/** All values of a series over the samples of a row. */
export function seriesOf(rows: readonly MeasuredRow[], row: string, series: string): number[] {
  return samplesOf(rows, row).flatMap((sample) => sample.series?.[series] ?? []);
}

function samplesOf(rows: readonly MeasuredRow[], row: string): MeasuredRow['samples'] {
  return rows.find((each) => each.row.name === row)?.samples ?? [];
}
