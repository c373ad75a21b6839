import type { Job } from 'bullmq';
import { UncheckedSolutionError } from '../../errors.js';
import { childValues } from '../../queues/child-values.js';
import type { Solution } from '../../queues/common.js';
import { parseJobKey } from '../../queues/job-key.js';
import {
  type Finding,
  type SolutionCheckResult,
  SolutionCheckResultSchema,
  statusOf,
} from '../../queues/solution-check.js';
import { type EvaluationGuard, EvaluationGuardSchema, GUARD_FIELD } from './evaluation-guard.js';
import { restoresOriginal } from './restore-original.js';

/** A script that may be evaluated, and what its check found. */
export interface CheckedSolution {
  readonly solution: Solution;
  readonly status: SolutionCheckResult['status'];
  readonly findings: readonly Finding[];
  /** The whole result of the check. */
  readonly check: SolutionCheckResult;
}

/**
 * The script that an evaluation job may run. The evaluating side gets a script only from here (REQ-SF-022).
 *
 * @throws UncheckedSolutionError if `addGuardedEvaluation` did not create the job, it has no completed solution-check
 *   among its children, its script or the check's was changed since, or the script still has a leak and the pipeline asked
 *   to refuse such scripts.
 */
export async function checkedSolution(job: Job): Promise<CheckedSolution> {
  const reject = (why: string): never => {
    throw new UncheckedSolutionError(`evaluation job ${job.id} ${why}`, { jobId: job.id ?? '' });
  };
  const guard = EvaluationGuardSchema.safeParse(
    (job.data as Record<string, unknown> | null)?.[GUARD_FIELD],
  ).data;
  if (guard === undefined) return reject('was not created by addGuardedEvaluation');
  const returned = await checkResultOf(job, guard);
  if (returned === undefined)
    return reject(`has no completed solution-check ${guard.check} among its children`);
  const check = SolutionCheckResultSchema.safeParse(returned.result).data;
  if (check === undefined) return reject('has a check whose result breaks its contract');
  if (check.solutionDigest !== guard.digest)
    return reject('has a check of another script than it was created for');
  if (!isUntouched(check)) return reject('has a check whose script was changed after the check');
  if (
    guard.onUncorrected === 'refuse' &&
    (check.status === 'uncorrected' || check.status === 'partly-corrected')
  ) {
    return reject(`has a script whose leakage could not be corrected (${check.status})`);
  }
  return { solution: check.solution, status: check.status, findings: check.findings, check };
}

async function checkResultOf(job: Job, guard: EvaluationGuard): Promise<{ result: unknown } | undefined> {
  const children = await childValues(job);
  for (const [key, result] of Object.entries(children)) {
    const { queue, id } = parseJobKey(key);
    if (queue === 'solution-check' && id === guard.check) return { result };
  }
  return undefined;
}

/** Whether the script and the status follow from the findings and the script that was checked. */
function isUntouched({ solution, solutionDigest, findings, status }: SolutionCheckResult): boolean {
  return status === statusOf(findings) && restoresOriginal(solution.content, findings, solutionDigest);
}
