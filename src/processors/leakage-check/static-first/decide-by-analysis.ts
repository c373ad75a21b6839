import type { ScriptAnalyst } from '../../../agents/script-analyst.js';
import { AgentError, isAnalysisLimit } from '../../../errors.js';
import type { UnknownModule } from '../../../leakage/library-models/unknown-modules.js';
import type { Solution } from '../../../queues/common.js';
import type { SolutionCheckResult } from '../../../queues/solution-check.js';
import { checkByOpinion } from '../check-by-opinion.js';
import type { LeakageCheckOptions } from '../check-options.js';
import { removedKinds } from '../second-opinion.js';

/** The result of the analysis alone, if it is certain of it; else why it is not. */
type Decision = { readonly result: SolutionCheckResult } | { readonly why: string };

/**
 * Checks a script without a call. The analysis is certain if it followed the whole way to all scores, knows all modules, and either
 * found nothing, or corrected all that it found and has proven that nothing but the leaks is changed.
 */
export async function decideByAnalysis(
  solution: Solution,
  options: LeakageCheckOptions,
  analyst: ScriptAnalyst,
): Promise<Decision> {
  try {
    return await decide(solution, options, analyst);
  } catch (thrown) {
    const isExhausted = thrown instanceof AgentError && thrown.code === 'analysis-exhausted';
    if (isExhausted || isAnalysisLimit(thrown)) return { why: thrown.message };
    throw thrown;
  }
}

async function decide(
  solution: Solution,
  options: LeakageCheckOptions,
  analyst: ScriptAnalyst,
): Promise<Decision> {
  const { content } = solution;
  const parsed = await analyst.parses(content);
  if (!parsed.ok) return { why: `the script is not valid Python (line ${parsed.line}: ${parsed.message})` };
  const why = await notSeenIn(content, analyst);
  if (why !== undefined) return { why };
  const [module] = await analyst.unknownModules(content);
  if (module !== undefined) return { why: unknownModule(module) };
  const { createOfflineRunner } = await import('../../../agents/offline-runner.js');
  const result = await checkByOpinion(
    solution,
    createOfflineRunner(),
    { ...options, analyst },
    { opinion: 'analysis' },
  );
  if (result.status === 'clean') return { result };
  if (result.status !== 'corrected') return { why: 'a leak has no certain correction' };
  const corrected = result.solution.content;
  const proof = await analyst.proveCorrection(
    content,
    corrected,
    await removedKinds(content, corrected, analyst),
  );
  if (proof.outcome !== 'proven')
    return { why: 'it is not proven that the correction changes nothing but the leak' };
  const lost = await notSeenIn(corrected, analyst);
  return lost === undefined ? { result } : { why: `after the correction, ${lost}` };
}

/** Nobody knows what a function of such a module learns from the rows in its arguments. */
function unknownModule({ name, line }: UnknownModule): string {
  return `static analysis does not know the module ${name === '' ? 'of the user' : name} (line ${line})`;
}

/** What of a script the analysis did not follow, in words; undefined if it followed all of it. */
async function notSeenIn(content: string, analyst: ScriptAnalyst): Promise<string | undefined> {
  const { parsed, exhausted, coverage, notFollowed } = await analyst.analyze(content);
  if (parsed && !exhausted && coverage === 'full') return undefined;
  const [first] = notFollowed;
  const where = first === undefined ? '' : ` (line ${first.line}: ${first.reason})`;
  return `static analysis did not follow the whole way to the scores${where}`;
}
