import Table from 'cli-table3';
import { type MeasuredRow, type Measurement, middleSample } from './measurement.js';

const SYMBOLS = new Map([
  [true, 'yes'],
  [false, 'NO'],
  [null, ''],
]);

/** A ratio with three significant digits, large ones whole. */
function ratioText(ratio: number | null): string {
  if (ratio === null) return '–';
  return Math.abs(ratio) >= 1_000 ? String(Math.round(ratio)) : ratio.toPrecision(3);
}

/** The cells of a row in both tables. */
export interface RowText {
  readonly ratio: string;
  readonly spread: string;
  readonly target: string;
  readonly met: string;
  readonly details: readonly string[];
}

export function rowText(measured: MeasuredRow): RowText {
  const { ratio, unit, min, max, runs, target, meets }: Measurement = measured.measurement;
  const details = Object.entries(middleSample(measured)?.details ?? {}).map(
    ([name, value]) => `${name} ${value}`,
  );
  return {
    ratio: `${ratioText(ratio)}${unit === undefined ? '' : ` ${unit}`}`,
    spread: runs === 0 ? '' : `${ratioText(min)} – ${ratioText(max)} (${runs})`,
    target,
    met: SYMBOLS.get(meets) ?? '',
    details: measured.notMeasured === undefined ? details : [`not measured: ${measured.notMeasured}`],
  };
}

export function renderTable(rows: readonly MeasuredRow[]): string {
  const table = new Table({
    head: ['row', 'ratio', 'min – max (runs)', 'to reach', 'met', 'numbers'],
    style: { head: [], border: [] },
  });
  for (const measured of rows) {
    const { ratio, spread, target, met, details } = rowText(measured);
    table.push([measured.row.name, ratio, spread, target, met, details.join('\n')]);
  }
  return table.toString();
}
