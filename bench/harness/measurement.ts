import { messageOf } from '../../src/errors.js';
import type { NotMeasured, RowContext, RowGroup, RowHead, Sample } from './row.js';
import { median, meets, targetText } from './statistics.js';

/** One row in machine-readable form. `meets` is null without a target; numbers are null if they could not be measured. */
export interface Measurement {
  readonly name: string;
  readonly ratio: number | null;
  readonly unit?: string;
  readonly min: number | null;
  readonly max: number | null;
  readonly runs: number;
  readonly target: string;
  readonly meets: boolean | null;
}

/** A row with all that was measured for it. */
export interface MeasuredRow {
  readonly row: RowHead;
  readonly measurement: Measurement;
  readonly samples: readonly Sample[];
  /** Why there are no samples. */
  readonly notMeasured?: string;
}

export function measuredRow(row: RowHead, found: readonly Sample[] | NotMeasured): MeasuredRow {
  const samples = 'notMeasured' in found ? [] : found;
  const ratios = samples.map(({ ratio }) => ratio);
  const measured = ratios.length > 0;
  const ratio = measured ? median(ratios) : null;
  return {
    row,
    measurement: {
      name: row.name,
      ratio,
      ...(row.unit === undefined ? {} : { unit: row.unit }),
      min: measured ? Math.min(...ratios) : null,
      max: measured ? Math.max(...ratios) : null,
      runs: ratios.length,
      target: targetText(row.target),
      meets: ratio === null ? null : meets(ratio, row.target),
    },
    samples,
    ...('notMeasured' in found ? { notMeasured: found.notMeasured } : {}),
  };
}

/** Measures the wanted rows of a group. A row that fails reports its error, and the others are still measured. */
export async function measureGroup(
  group: RowGroup,
  wanted: (row: RowHead) => boolean,
  context: RowContext,
): Promise<MeasuredRow[]> {
  const rows = group.rows.filter(wanted);
  try {
    await context.redis.flush();
    const found = await group.measure(context);
    return rows.map((row) => measuredRow(row, found[row.name] ?? { notMeasured: 'no sample was taken' }));
  } catch (thrown) {
    const notMeasured = `failed: ${messageOf(thrown)}`;
    return rows.map((row) => measuredRow(row, { notMeasured }));
  }
}

/** The middle sample: the one whose ratio is nearest to the median. The row shows its numbers. */
export function middleSample({ samples, measurement }: MeasuredRow): Sample | undefined {
  const ratio = measurement.ratio ?? Number.NaN;
  return [...samples].sort((a, b) => Math.abs(a.ratio - ratio) - Math.abs(b.ratio - ratio))[0];
}
