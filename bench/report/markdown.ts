import type { MeasuredRow } from '../harness/measurement.js';
export async function writeMarkdown(
  rows: readonly MeasuredRow[],
  run: { machine: string; minutes: number },
): Promise<string> {
  return `${rows.length}${run.machine}`;
}
