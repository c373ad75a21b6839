// A worker decides by this which thread gets a case; the comparison itself is loaded in the threads alone.
import type { ContaminationCase } from '../contamination/contamination-checker.js';

/**
 * Characters that are read for a verdict at most: the output, the thoughts, and for each known solution this one and
 * the output again. The slowest texts found of this size take 6 ms; twice as many took 13 ms.
 */
const MAX_CHARACTERS = 4_096;

/** What the case's own texts leave of the characters that may be read. */
export function roomLeft({ output, testCase }: ContaminationCase): number {
  const own = [output, ...(testCase.thoughtChain ?? []), testCase.starter ?? ''];
  return own.reduce((room, text) => room - text.length, MAX_CHARACTERS);
}

/** Whether a case may be small: its own texts are. */
export function maybeSmall(input: ContaminationCase): boolean {
  return roomLeft(input) >= 0;
}
