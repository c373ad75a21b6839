import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';

/** A script after the repair of every leak that the analysis finds in it and that can be rewritten. */
export async function rewrittenScript(script: string): Promise<string> {
  let text = script;
  for (const { codeBlock } of (await analyzeLeakage(script)).findings) {
    if (!text.includes(codeBlock)) continue;
    const repair = await repairLeak(text, codeBlock);
    if (repair.ok) text = text.replace(codeBlock, () => repair.replacement);
  }
  return text;
}
