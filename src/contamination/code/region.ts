import type { Program } from './program.js';

/** Half-open range of statements. */
export interface Region {
  readonly from: number;
  readonly to: number;
}

/** An output longer than this many times the known program is looked at in one region only. */
const TIMES = 6;
const MARGIN = 30;

/**
 * The region of the output in which most of the known program's statements are. In a very long output almost
 * every statement is somewhere; a copy has them together, however much is put between.
 */
export function likelyRegion(output: Program, known: Program): Region {
  const all = { from: 0, to: output.statements.length };
  const width = known.statements.length * TIMES + MARGIN;
  if (output.statements.length <= width) return all;
  const wanted = new Map<string, { count: number; readonly weight: number }>();
  for (const { template, weight } of known.statements) {
    const entry = wanted.get(template);
    if (entry === undefined) wanted.set(template, { count: 1, weight });
    else entry.count += 1;
  }
  let score = 0;
  let best = -1;
  let from = 0;
  const add = (index: number, by: 1 | -1): void => {
    const entry = wanted.get(output.statements[index]?.template ?? '');
    if (entry === undefined) return;
    // Only as many as the known program has count; below zero are those that are too many.
    if (by === 1 ? entry.count > 0 : entry.count >= 0) score += by * entry.weight;
    entry.count -= by;
  };
  for (let end = 0; end < output.statements.length; end++) {
    add(end, 1);
    if (end >= width) add(end - width, -1);
    if (score > best) {
      best = score;
      from = Math.max(0, end - width + 1);
    }
  }
  return { from, to: Math.min(output.statements.length, from + width) };
}
