import type { LocatedBlock } from '../../solution/locate-block.js';
import type { ScriptTrial } from '../../trial/script-trial.js';
import type { CorrectedScript } from './corrected-script.js';
import type { CorrectionResult } from './validate-correction.js';

/**
 * A correction after its trial: refused if the corrected script fails where the original runs, else as it was. One that
 * cannot be tried out says so in a note.
 *
 * @throws the reason of the job's abort.
 */
export async function afterTrial(
  result: CorrectionResult,
  located: LocatedBlock,
  script: CorrectedScript,
  trial: ScriptTrial | undefined,
): Promise<CorrectionResult> {
  if (trial === undefined || !result.ok) return result;
  const tried = await trial.tryOut(script.with(located, result.block));
  if (tried.outcome === 'passed') return result;
  if (tried.outcome === 'refused') return { ok: false, problem: tried.reason };
  return { ...result, notes: [...(result.notes ?? []), `not tried out: ${tried.reason}`] };
}
