import type { AgentRunner } from '../../agents/agent-runner.js';
import type { ScriptAnalyst } from '../../agents/script-analyst.js';
import { isAnalysisLimit } from '../../errors.js';
import type { CorrectionScope, LocatedBlock } from '../../solution/index.js';
import { withNotes } from '../agent-stamp.js';
import type { CorrectionContext } from './correct-block.js';
import type { CorrectedScript } from './corrected-script.js';
import { leakThatStillStands, whatGotWorse } from './second-opinion.js';

/**
 * A correction that may be put in, or what is wrong with it in words that a second try can use. `isUnchecked`: it took too
 * much to check, so that nothing is known against it, and a second try would tell no more.
 */
export type CorrectionResult =
  | { readonly ok: true; readonly block: string; readonly notes?: readonly string[] }
  | { readonly ok: false; readonly problem: string; readonly isUnchecked?: true };

/** One correction on its way into the script. */
interface Proposal {
  readonly block: string;
  readonly located: LocatedBlock;
  readonly script: CorrectedScript;
  readonly analyst: ScriptAnalyst;
}

/**
 * Checks the answer of a correction agent (REQ-SF-019, decision 5): the fenced block is taken out, fitted to the script,
 * and refused where it is empty, unchanged, no code, a placeholder or a change of other lines; where it breaks the syntax
 * of a script that parsed before, or no longer defines what later code uses; where a leak that static analysis knew is
 * still there, another one is new or the score is gone; and where a model's answer does more than a correction has to.
 */
export async function validateCorrection(
  answer: string,
  located: LocatedBlock,
  script: CorrectedScript,
  {
    parsedBefore,
    analyst,
    runner,
  }: Pick<CorrectionContext, 'parsedBefore' | 'analyst'> & { readonly runner: Pick<AgentRunner, 'name'> },
): Promise<CorrectionResult> {
  try {
    const taken = await analyst.takeCorrection(answer, located, script.content, parsedBefore);
    if (!taken.ok) return taken;
    const proposal = { block: taken.block, located, script, analyst };
    const problem = (parsedBefore ? await brokenCode(proposal) : undefined) ?? (await standingLeak(proposal));
    if (problem !== undefined) return { ok: false, problem };
    // What static analysis rewrites is not talked into anything.
    const scope: CorrectionScope =
      runner.name === 'offline'
        ? { notes: [] }
        : await analyst.correctionScope(located, proposal.block, script.content, script.original);
    const worse =
      scope.problem ?? (await whatGotWorse(script.content, script.with(located, proposal.block), analyst));
    if (worse !== undefined) return { ok: false, problem: worse };
    return { ok: true, block: proposal.block, ...withNotes(scope.notes) };
  } catch (thrown) {
    if (!isAnalysisLimit(thrown)) throw thrown;
    return {
      ok: false,
      problem: `the correction could not be checked: ${thrown.message}`,
      isUnchecked: true,
    };
  }
}

/** What a correction would break in a script that is Python, in words; undefined where it breaks nothing. */
async function brokenCode({ block, located, script, analyst }: Proposal): Promise<string | undefined> {
  const parsed = await analyst.parses(script.with(located, block));
  if (!parsed.ok) {
    return `with the correction the script no longer parses: line ${parsed.line}: ${parsed.message}`;
  }
  if ((await analyst.doesSomething(located.text)) && !(await analyst.doesSomething(block))) {
    return 'the correction has no statement that does anything; write out the corrected lines';
  }
  const lost = await analyst.lostNames(located, block, script.content);
  if (lost.length === 0) return undefined;
  return `the correction no longer defines ${lost.join(', ')}, which later lines of the script use`;
}

async function standingLeak({ block, located, script, analyst }: Proposal): Promise<string | undefined> {
  const corrected = { start: located.start, end: located.start + block.length };
  return leakThatStillStands(script.content, located, script.with(located, block), corrected, analyst);
}
