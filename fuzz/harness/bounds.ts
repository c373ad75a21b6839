import type { Input } from '../target.js';

/** Largest input of ordinary size, in UTF-16 code units. */
const ORDINARY_SIZE = 65_536;
/** Processor time that a task on an input of ordinary size may take, in milliseconds. */
export const MAX_CPU_MS = 1_000;
/** An input that uses this many times its bound is aborted. */
export const MAX_OVERRUN = 6;
/** Heap of the process that runs inputs, in megabytes. */
export const MAX_HEAP_MB = 512;
/** An input without a result for so long is stuck, in milliseconds. */
export const MAX_WAIT_MS = 120_000;

export function sizeOf(input: Input): number {
  return input.reduce((size, text) => size + text.length, 0);
}

/** The bound of an input: constant up to 65,536 code units, and proportional to the size above. */
export function maxCpuMs(input: Input, ordinaryMs: number): number {
  return ordinaryMs * Math.max(1, sizeOf(input) / ORDINARY_SIZE);
}
