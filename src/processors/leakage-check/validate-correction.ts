import type { AgentRunner } from '../../agents/agent-runner.js';
import type { ScriptAnalyst } from '../../agents/script-analyst.js';
import { isAnalysisLimit } from '../../errors.js';
import type { CorrectionProof } from '../../leakage/score-flow/prove-correction.js';
import type { CorrectionScope } from '../../solution/correction-scope.js';
import type { LocatedBlock } from '../../solution/locate-block.js';
import { withNotes } from '../agent-provenance.js';
import type { CorrectionContext } from './correct-block.js';
import type { CorrectedScript } from './corrected-script.js';
import { leaksMeant, remainingMeant, removedKinds, type Span, whatGotWorse } from './second-opinion.js';

/**
 * A valid correction, or its problem as a sentence for the next request. `isUnchecked`: checking it exceeded the limits, so
 * no problem is known, and a second request would not help.
 */
export type CorrectionResult =
  | { readonly ok: true; readonly block: string; readonly notes?: readonly string[] }
  | { readonly ok: false; readonly problem: string; readonly isUnchecked?: true };

/** One proposed correction of the script. */
interface Proposal {
  readonly block: string;
  readonly located: LocatedBlock;
  readonly script: CorrectedScript;
  readonly analyst: ScriptAnalyst;
  /** The blocks of other findings, which other corrections are for. */
  readonly others: readonly Span[];
  /** Whether it has to remove all leaks of its block. */
  readonly needsAll: boolean;
}

/**
 * Validates the answer of a correction agent (REQ-SF-019, decision 5): the fenced block is extracted, fitted to the script, and rejected
 * if it is empty, unchanged, not code, a placeholder or changes other lines; if it breaks the syntax of a script that parsed
 * before, or no longer defines what later code uses; if a leak that static analysis found remains, another one is new or
 * the score is gone; if a model's answer does more than the correction requires; and if what reaches the scores differs for
 * certain by more than the leak. What could not be shown is a note.
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
  others: readonly Span[] = [],
  needsAll = false,
): Promise<CorrectionResult> {
  try {
    const taken = await analyst.takeCorrection(answer, located, script.content, parsedBefore);
    if (!taken.ok) return taken;
    const proposal = { block: taken.block, located, script, analyst, others, needsAll };
    const problem =
      (parsedBefore ? await brokenCode(proposal) : undefined) ?? (await remainingLeak(proposal));
    if (problem !== undefined) return { ok: false, problem };
    // The text of the script cannot manipulate static analysis.
    const scope: CorrectionScope =
      runner.name === 'offline'
        ? { notes: [] }
        : await analyst.correctionScope(located, proposal.block, script.content, script.original);
    const corrected = script.with(located, proposal.block);
    const worse = scope.problem ?? (await whatGotWorse(script.content, corrected, analyst));
    if (worse !== undefined) return { ok: false, problem: worse };
    const proof = await proofOf(proposal, corrected);
    if (proof.outcome === 'contradicted')
      return { ok: false, problem: `the correction changes more than the leak: ${proof.problem}` };
    const notes =
      proof.outcome === 'proven'
        ? scope.notes
        : [...scope.notes, `not shown that the correction changes nothing but the leak: ${proof.unknown}`];
    return { ok: true, block: proposal.block, ...withNotes(notes) };
  } catch (thrown) {
    if (!isAnalysisLimit(thrown)) throw thrown;
    return {
      ok: false,
      problem: `the correction could not be checked: ${thrown.message}`,
      isUnchecked: true,
    };
  }
}

/**
 * Why a rewrite of other lines than those of its finding is refused, as `validateCorrection` refuses an answer: it breaks the
 * script, adds a leak or loses the score. That the leak is gone, and all else as it was, the rewrite has checked itself.
 */
export async function whyNotRewritten(
  block: string,
  located: LocatedBlock,
  script: CorrectedScript,
  { parsedBefore, analyst }: Pick<CorrectionContext, 'parsedBefore' | 'analyst'>,
): Promise<string | undefined> {
  try {
    const proposal = { block, located, script, analyst, others: [], needsAll: false };
    const corrected = script.with(located, block);
    return (
      (parsedBefore ? await brokenCode(proposal) : undefined) ??
      (await whatGotWorse(script.content, corrected, analyst))
    );
  } catch (thrown) {
    if (!isAnalysisLimit(thrown)) throw thrown;
    return thrown.message;
  }
}

/** What a correction would break in a Python script, as a sentence; undefined if it breaks nothing. */
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

/** Compares the scripts as far as the leaks that the correction removes allow. */
async function proofOf(
  { located, script, analyst, others }: Proposal,
  corrected: string,
): Promise<CorrectionProof> {
  const meant = await leaksMeant(script.content, located, others, analyst);
  const removed = await removedKinds(script.content, corrected, analyst);
  const kinds = new Set([...meant.map(({ kind }) => kind), ...removed]);
  return analyst.proveCorrection(script.content, corrected, [...kinds]);
}

async function remainingLeak(proposal: Proposal): Promise<string | undefined> {
  const { block, located, script, analyst, others, needsAll } = proposal;
  const meant = await leaksMeant(script.content, located, others, analyst);
  const isShared = others.some(({ start, end }) => start === located.start && end === located.end);
  return remainingMeant(script.content, script.with(located, block), meant, isShared, analyst, needsAll);
}
