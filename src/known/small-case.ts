// Workers use this to choose a thread for a case; only the threads load the comparison itself.
import type { ContaminationCase } from '../contamination/contamination-checker.js';

/**
 * Maximum of characters to read for a check: the output, the thoughts, and for each known solution its text and the output
 * again. The slowest known texts of this size take 6 ms; twice as many took 13 ms.
 */
const MAX_CHARACTERS = 4_096;

/** How many characters the case's own texts leave. */
export function roomLeft({ output, testCase }: ContaminationCase): number {
  const own = [output, ...(testCase.thoughtChain ?? []), testCase.starter ?? ''];
  return own.reduce((room, text) => room - text.length, MAX_CHARACTERS);
}

/** Whether a case may be small, by its own texts. */
export function maybeSmall(input: ContaminationCase): boolean {
  return roomLeft(input) >= 0;
}
