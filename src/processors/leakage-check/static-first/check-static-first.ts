import type { z } from 'zod';
import type { AgentRequest, AgentRunner, RunContext } from '../../../agents/agent-runner.js';
import { analyzedOnce, IN_PLACE_ANALYST } from '../../../agents/script-analyst.js';
import { AgentError } from '../../../errors.js';
import type { Solution } from '../../../queues/common.js';
import type { SolutionCheckResult, StaticFirst } from '../../../queues/solution-check.js';
import { addUsage, NO_USAGE } from '../../../queues/usage.js';
import { withNotes } from '../../agent-provenance.js';
import { checkByOpinion } from '../check-by-opinion.js';
import type { LeakageCheckOptions } from '../check-options.js';
import { lackOf } from '../objections.js';
import { auditOf, isAudited } from './audit.js';
import { decideByAnalysis } from './decide-by-analysis.js';
import { detectInSlice } from './detect-in-slice.js';

/**
 * Checks a script with the agent only where the analysis is not certain. The agent then sees what the analysis says, and the lines
 * that matter. A sample of the scripts that the analysis is certain of is checked by both, as without `static-first`, and the
 * results are compared.
 *
 * @throws as `checkAndFixLeakage`.
 */
export async function checkStaticFirst(
  solution: Solution,
  runner: AgentRunner,
  options: LeakageCheckOptions & { readonly auditFraction: number },
): Promise<SolutionCheckResult> {
  const analyst = analyzedOnce(options.analyst ?? IN_PLACE_ANALYST);
  const decision = await decideByAnalysis(solution, options, analyst);
  if ('why' in decision) {
    options.log?.info(`the agent is asked: ${decision.why}`);
    let sent: StaticFirst['sent'];
    const result = await checkByOpinion(
      solution,
      runner,
      { ...options, analyst },
      {
        opinion: 'both',
        showsLeaks: true,
        rewritesFirst: true,
        detect: async (checked, context) => {
          const detection = await detectInSlice(checked, analyst, context);
          sent = detection.sent;
          return detection.answer;
        },
      },
    );
    return withDecision(result, {
      decidedBy: 'agent',
      why: decision.why,
      ...(sent === undefined ? {} : { sent }),
    });
  }
  const { result } = decision;
  if (!isAudited(solution.content, options.auditFraction)) {
    options.log?.info('the analysis is certain, so no call is made');
    return withDecision(result, { decidedBy: 'analysis' });
  }
  options.log?.info(
    'the analysis is certain; the agent is asked all the same, to compare (FLEET_AUDIT_SHARE)',
  );
  try {
    const both = await checkByOpinion(
      solution,
      independent(runner),
      { ...options, analyst },
      { opinion: 'both' },
    );
    const audit = auditOf(result, both);
    if (!audit.agrees)
      options.log?.warn(`the analysis calls the script ${audit.analysis}, the agent ${audit.agent}`);
    return withDecision(both, { decidedBy: 'agent', sent: 'whole', audit });
  } catch (thrown) {
    // The result is certain without the comparison.
    const problem = lackOf(thrown);
    if (problem === undefined) throw thrown;
    const notes = [...(result.notes ?? []), `${problem} this script, of which static analysis is certain`];
    const paid = (thrown instanceof AgentError ? thrown.usage : undefined) ?? NO_USAGE;
    const usage = addUsage(result.usage, paid);
    return withDecision({ ...result, usage, ...withNotes(notes) }, { decidedBy: 'analysis' });
  }
}

/** The same runner, whose answers are never those of other jobs: each comparison is one of its own. */
function independent(runner: AgentRunner): AgentRunner {
  const ask = (request: AgentRequest<unknown> & { schema: z.ZodType }, context?: RunContext) =>
    runner.ask({ ...request, independent: true }, context);
  return { ...runner, ask: ask as AgentRunner['ask'] };
}

function withDecision(result: SolutionCheckResult, staticFirst: StaticFirst): SolutionCheckResult {
  return { ...result, staticFirst };
}
