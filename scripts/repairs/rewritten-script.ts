import { analyzeLeakage, type LeakKind, repairLeak } from '../../src/leakage/index.js';

export interface RewrittenScript {
  readonly text: string;
  /** Kinds of the leaks that were rewritten. */
  readonly kinds: ReadonlySet<LeakKind>;
}

/** A script after the repair of every leak that the analysis finds in it and that can be rewritten. */
export async function rewrittenScript(script: string): Promise<RewrittenScript> {
  let text = script;
  const kinds = new Set<LeakKind>();
  for (const { codeBlock, kind } of (await analyzeLeakage(script)).findings) {
    if (!text.includes(codeBlock)) continue;
    const repair = await repairLeak(text, codeBlock);
    if (!repair.ok) continue;
    text = text.replace(repair.codeBlock, () => repair.replacement);
    kinds.add(kind);
  }
  return { text, kinds };
}
