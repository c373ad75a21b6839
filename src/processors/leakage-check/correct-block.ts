import type { ScriptAnalyst } from '../../agents/script-analyst.js';
import type { CorrectionWay } from '../../queues/solution-check.js';
import type { LocatedBlock } from '../../solution/locate-block.js';
import type { ScriptTrial } from '../../trial/script-trial.js';
import type { CorrectedScript } from './corrected-script.js';
import type { DetectionContext } from './detect-leakage.js';
import { requestCorrection } from './request-correction.js';
import type { Span } from './second-opinion.js';
import { afterTrial } from './trial-of-correction.js';
import { type CorrectionResult, validateCorrection, whyNotRewritten } from './validate-correction.js';

export interface CorrectionContext extends DetectionContext {
  readonly analyst: ScriptAnalyst;
  /** Whether the script was valid Python before any correction. */
  readonly parsedBefore: boolean;
  /** Whether a finding says who agrees: both the agent and the analysis looked for leaks. */
  readonly asksBoth: boolean;
  /** Whether a leak that the analysis names too is rewritten without a call, if that is certain. */
  readonly rewritesFirst: boolean;
  /** How corrections are asked for. */
  readonly corrections: CorrectionWay;
  /** Whether the agent sees only the lines of the script that matter when it is first asked for a correction. */
  readonly showsSlice: boolean;
  /** Whether static analysis has seen the whole script, if only it checks. */
  readonly isFollowed: boolean;
  /** Runs each corrected script beside the original, if the job asks for it. */
  readonly trial?: ScriptTrial | undefined;
}

/** Maximum number of requests for one block: the second one includes the problem of the first answer (decision 5). */
const MAX_ATTEMPTS = 2;

/** The correction of a block, and where it is in the script. */
export interface LocatedCorrection {
  readonly block: LocatedBlock;
  readonly correction: CorrectionResult;
}

/**
 * Rewrites a block that static analysis found, or the lines of the script in which its leak is mended, if the correction is
 * certain; otherwise undefined.
 */
export async function rewriteBlock(
  located: LocatedBlock,
  script: CorrectedScript,
  context: CorrectionContext,
): Promise<LocatedCorrection | undefined> {
  const { analyst, trial } = context;
  const repaired = await analyst.repair(script.content, located.text);
  if (!repaired.ok) return undefined;
  const block = repaired.codeBlock === located.text ? located : script.locate(repaired.codeBlock);
  if (block === null) return undefined;
  const problem = await whyNotRewritten(repaired.replacement, block, script, context);
  if (problem !== undefined) {
    context.log?.warn(`a rewrite was refused: ${problem}`);
    return undefined;
  }
  const correction = await afterTrial({ ok: true, block: repaired.replacement }, block, script, trial);
  return correction.ok ? { block, correction } : undefined;
}

/**
 * Requests the correction of one block until it is valid.
 * @param leaks The parts of the block that leak, if there are several.
 * @throws AgentError if the call itself failed (rate limit, key, network), so the job is tried again.
 */
export async function correctBlock(
  located: LocatedBlock,
  script: CorrectedScript,
  step: string,
  others: readonly Span[],
  context: CorrectionContext,
  leaks: readonly string[] = [],
): Promise<CorrectionResult> {
  let problem = '';
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const answer = await requestCorrection(
      { located, script, step: `${step}-${attempt}`, problem, leaks },
      context,
    );
    if (!answer.ok && !answer.isRepairable) return { ok: false, problem: answer.problem };
    const valid = answer.ok
      ? await validateCorrection(answer.text, located, script, context, others, leaks.length > 0)
      : { ok: false as const, problem: answer.problem };
    const result = await afterTrial(valid, located, script, context.trial);
    if (result.ok) return result;
    problem = result.problem;
    context.log?.warn(`${step}: correction ${attempt} of ${MAX_ATTEMPTS} was rejected: ${problem}`);
    // There is no problem that the agent could fix, and another answer would cost money.
    if (result.isUnchecked) return result;
    await answer.withdraw?.();
  }
  return { ok: false, problem };
}
