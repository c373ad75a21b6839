import Table from 'cli-table3';
import type { BenchRow } from './row.js';

/** One measured row. `meets` is null where nothing is to reach. */
export interface Measurement {
  readonly name: string;
  readonly ratio: number;
  readonly unit?: string;
  readonly min: number;
  readonly max: number;
  readonly runs: number;
  readonly target: string;
  readonly meets: boolean | null;
  readonly figures?: Readonly<Record<string, string>>;
}

const MARKS = new Map([
  [true, 'yes'],
  [false, 'NO'],
]);

/** A ratio with three significant digits, large ones whole. */
export function ratioText(ratio: number): string {
  return ratio >= 1_000 ? String(Math.round(ratio)) : ratio.toPrecision(3);
}

export function renderTable(rows: readonly { row: BenchRow; measured: Measurement }[]): string {
  const table = new Table({
    head: ['row', 'ratio', 'min – max', 'to reach', 'met', 'figures'],
    style: { head: [], border: [] },
  });
  for (const { measured } of rows) {
    table.push([
      measured.name,
      `${ratioText(measured.ratio)}${measured.unit === undefined ? '' : ` ${measured.unit}`}`,
      `${ratioText(measured.min)} – ${ratioText(measured.max)} (${measured.runs})`,
      measured.target,
      measured.meets === null ? '' : (MARKS.get(measured.meets) ?? ''),
      Object.entries(measured.figures ?? {})
        .map(([name, value]) => `${name} ${value}`)
        .join('\n'),
    ]);
  }
  return table.toString();
}
