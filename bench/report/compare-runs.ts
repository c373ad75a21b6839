import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Measurement } from '../harness/measurement.js';

/** The compared part of a row that `--json` printed. */
const EarlierRow = z.object({
  name: z.string(),
  ratio: z.number().nullable(),
  min: z.number().nullable(),
  max: z.number().nullable(),
});
export type EarlierRow = z.infer<typeof EarlierRow>;

/** @throws if the file cannot be read, or is not output of `--json`. */
export async function readEarlierRun(path: string): Promise<EarlierRow[]> {
  return z.array(EarlierRow).parse(JSON.parse(await readFile(path, 'utf8')));
}

/** Fraction by which a ratio is outside of a spread; 0 inside. */
function outside(ratio: number, min: number, max: number): number {
  if (ratio < min) return min === 0 ? 1 : (min - ratio) / min;
  if (ratio > max) return max === 0 ? 1 : (ratio - max) / max;
  return 0;
}

/**
 * Compares the ratios of one run with the spread (min – max) of an earlier run.
 * @returns a line for each row outside, and one with the count.
 */
export function compareRuns(now: readonly Measurement[], earlier: readonly EarlierRow[]): string[] {
  const before = new Map(earlier.map((row) => [row.name, row]));
  const lines: string[] = [];
  let compared = 0;
  for (const { name, ratio } of now) {
    const row = before.get(name);
    if (ratio === null || row === undefined || row.min === null || row.max === null) continue;
    compared += 1;
    const off = outside(ratio, row.min, row.max);
    if (off === 0) continue;
    const [was, is] = [`${number(row.min)} – ${number(row.max)}`, number(ratio)];
    lines.push(`${name}: ${is}, before ${was}: outside by ${(off * 100).toFixed(1)} %`);
  }
  return [
    ...lines,
    `${compared - lines.length} of ${compared} rows lie within the spread of the earlier run`,
  ];
}

function number(value: number): string {
  return value.toPrecision(3);
}
