import { type MeasuredRow, measuredRow, measureGroup } from './measurement.js';
import { type BenchRow, groupOf, type RowContext, type RowGroup, type RowHead } from './row.js';

/** Longest time of the whole short form, in seconds: it runs with every change. */
const SHORT_FORM_SECONDS = 60;
const USUAL_SHORT_SECONDS = 3;

/** Names may be written with hyphens; the beginning of a name selects all that begin with it. */
export function matches(name: string, asked: string): boolean {
  const plain = (text: string) => text.toLowerCase().replaceAll('-', ' ');
  return plain(name).startsWith(plain(asked));
}

export function groupsOf(entries: readonly (BenchRow | RowGroup)[]): RowGroup[] {
  return entries.map((entry) => ('rows' in entry ? entry : groupOf(entry)));
}

export interface RunOptions {
  readonly wanted: (row: RowHead) => boolean;
  /**
   * Whether the run must end within the time of the short form: a group that would exceed it is skipped with a message, and
   * long groups are not included at all.
   */
  readonly bounded: boolean;
  readonly announce: (text: string) => void;
}

/** Measures all wanted rows, one group after the other. */
export async function runRows(
  groups: readonly RowGroup[],
  context: RowContext,
  { wanted, bounded, announce }: RunOptions,
): Promise<MeasuredRow[]> {
  const started = performance.now();
  const measured: MeasuredRow[] = [];
  for (const group of groups) {
    const rows = group.rows.filter(wanted);
    if (rows.length === 0 || (bounded && group.shortSeconds === null)) continue;
    const seconds = (performance.now() - started) / 1_000;
    if (bounded && seconds + (group.shortSeconds ?? USUAL_SHORT_SECONDS) > SHORT_FORM_SECONDS) {
      const notMeasured = `no time left within ${SHORT_FORM_SECONDS} s`;
      measured.push(...rows.map((row) => measuredRow(row, { notMeasured })));
      continue;
    }
    for (const row of rows) announce(`${row.name}: ${row.work}, against ${row.against} …`);
    const before = performance.now();
    measured.push(...(await measureGroup(group, wanted, context)));
    announce(`  ${((performance.now() - before) / 1_000).toFixed(1)} s`);
  }
  return measured;
}
