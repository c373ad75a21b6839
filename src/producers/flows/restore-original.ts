import { digestOf } from '../../queues/digest.js';
import type { Finding } from '../../queues/solution-check.js';

/**
 * Whether a corrected script differs from the script with the digest only by the corrections that its findings list: the
 * corrections are reverted at their offsets, the last one first.
 */
export function restoresOriginal(corrected: string, findings: readonly Finding[], digest: string): boolean {
  let content = corrected;
  for (const { codeBlock, correctedBlock, correctedAt } of [...findings].reverse()) {
    if (correctedBlock === undefined) continue;
    if (correctedAt === undefined || !content.startsWith(correctedBlock, correctedAt)) return false;
    content = content.slice(0, correctedAt) + codeBlock + content.slice(correctedAt + correctedBlock.length);
  }
  return digestOf(content) === digest;
}
