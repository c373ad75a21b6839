import type { Target } from './row.js';

/** Median of a list; the mean of the two middle values if the length is even. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Percentile of a list, by the nearest rank. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
}

/** Whether a ratio reaches its target; null without a target. */
export function meets(ratio: number, target: Target): boolean | null {
  if (target === null) return null;
  return 'atLeast' in target ? ratio >= target.atLeast : ratio <= target.atMost;
}

export function targetText(target: Target): string {
  if (target === null) return 'stated';
  return 'atLeast' in target ? `>= ${target.atLeast}` : `<= ${target.atMost}`;
}

/** Runs an action and returns the milliseconds that it took. */
export async function timed(action: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await action();
  return performance.now() - started;
}
