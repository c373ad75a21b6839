import type { AgentRunner } from '../../agents/agent-runner.js';
import { rejectUnknownOptions } from '../../known-options.js';
import type { Solution } from '../../queues/common.js';
import type { SolutionCheckResult } from '../../queues/solution-check.js';
import { assertReadable } from './assert-readable.js';
import { checkByOpinion } from './check-by-opinion.js';
import { CHECK_OPTIONS, type LeakageCheckOptions } from './check-options.js';
import { DEFAULT_AUDIT_FRACTION } from './static-first/audit.js';
import { checkStaticFirst } from './static-first/check-static-first.js';

export type { LeakageCheckOptions };

/**
 * Detects data leakage in a script and corrects the leaky blocks one after the other (REQ-SF-020, MLE-STAR
 * paper, section 3.4). The correction agent is only called after a "Yes".
 *
 * @returns the whole result of a `solution-check` job; `result.solution` is the script that may be evaluated.
 * @throws PayloadError if the script is empty or an option does not exist; AgentError if the detection returned no usable answer or a call failed: it
 *   never passes a script that was not checked. TrialError if scripts are to be tried out and cannot be.
 */
export async function checkAndFixLeakage(
  solution: Solution,
  runner: AgentRunner,
  options: LeakageCheckOptions = {},
): Promise<SolutionCheckResult> {
  rejectUnknownOptions(options, CHECK_OPTIONS);
  assertReadable(solution.content);
  const opinion = options.opinion ?? runner.opinion ?? 'both';
  if (opinion !== 'static-first') return checkByOpinion(solution, runner, options, { opinion });
  // Without a model the analysis decides all the same.
  if (runner.name === 'offline') return checkByOpinion(solution, runner, options, { opinion: 'analysis' });
  const auditFraction = options.auditFraction ?? runner.auditFraction ?? DEFAULT_AUDIT_FRACTION;
  return checkStaticFirst(solution, runner, { ...options, auditFraction });
}
