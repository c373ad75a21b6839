import type { NamedLeak } from '../../agents/analysis-answer.js';
import { analyzedOnce, type ScriptAnalyst } from '../../agents/script-analyst.js';
import { CorrectedScript } from './corrected-script.js';
import { removedKinds, whatGotWorse } from './second-opinion.js';

/** Lines of a script, in UTF-16 offsets, and what replaces them. */
export interface ProvenRewrite {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/**
 * The rewrite that mends one leak of a script, whatever becomes of its other leaks; undefined if there is none, or if it is not
 * shown that what reaches the scores differs by nothing but the leak. A check accepts more: it says of a rewrite what could not be shown.
 */
export async function proveRewrite(
  content: string,
  leak: NamedLeak,
  analyst: ScriptAnalyst,
): Promise<ProvenRewrite | undefined> {
  const once = analyzedOnce(analyst);
  // With all of the script in view, as a check without a model has it.
  if ((await once.analyze(content)).exhausted) return undefined;
  const own = content.slice(leak.ownBlock.start, leak.ownBlock.end);
  for (const block of new Set([leak.uniqueBlock, own])) {
    const rewrite = await rewriteOf(content, block, once);
    if (rewrite === undefined) continue;
    const corrected = content.slice(0, rewrite.start) + rewrite.replacement + content.slice(rewrite.end);
    const removed = await removedKinds(content, corrected, once);
    if (!removed.includes(leak.kind) || (await whatGotWorse(content, corrected, once)) !== undefined)
      continue;
    const { outcome } = await once.proveCorrection(content, corrected, removed);
    if (outcome === 'proven') return rewrite;
  }
  return undefined;
}

async function rewriteOf(
  content: string,
  block: string,
  analyst: ScriptAnalyst,
): Promise<ProvenRewrite | undefined> {
  const repaired = await analyst.repair(content, block);
  const located = repaired.ok ? new CorrectedScript(content).locate(repaired.codeBlock) : null;
  if (!repaired.ok || located === null) return undefined;
  return { start: located.start, end: located.end, replacement: repaired.replacement };
}
