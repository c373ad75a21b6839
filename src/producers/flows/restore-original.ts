import { digestOf } from '../../queues/common.js';
import type { Finding } from '../../queues/solution-check.js';

/**
 * How many candidates are tried at most. A correction nearly always stands in the script once, and then there is
 * one candidate a correction; short corrections that stand in many places multiply.
 */
const MOST_CANDIDATES = 10_000;

/**
 * Whether a corrected script comes from the script with the digest by the corrections that its findings list, and by
 * nothing else: the corrections are taken back, the last one first.
 */
export function restoresOriginal(corrected: string, findings: readonly Finding[], digest: string): boolean {
  const corrections = findings.filter(({ correctedBlock }) => correctedBlock !== undefined);
  let candidates = 0;

  function restore(content: string, remaining: number): boolean {
    if (remaining === 0) return digestOf(content) === digest;
    const { codeBlock, correctedBlock = '' } = corrections[remaining - 1] as Finding;
    for (let at = content.indexOf(correctedBlock); at !== -1; at = content.indexOf(correctedBlock, at + 1)) {
      candidates += 1;
      if (candidates > MOST_CANDIDATES) return false;
      const before = content.slice(0, at) + codeBlock + content.slice(at + correctedBlock.length);
      if (restore(before, remaining - 1)) return true;
    }
    return false;
  }
  return restore(corrected, corrections.length);
}
