import type { Job } from 'bullmq';
import { RefusedSolutionError, UncheckedSolutionError } from '../../errors.js';
import { childValues } from '../../queues/child-values.js';
import type { Solution } from '../../queues/common.js';
import { digestOf } from '../../queues/digest.js';
import { parseJobKey } from '../../queues/job-key.js';
import {
  type Finding,
  type SolutionCheckResult,
  SolutionCheckResultSchema,
  statusOf,
} from '../../queues/solution-check.js';
import type { ScriptContamination } from '../../queues/test-case.js';
import {
  allowedStatuses,
  type EvaluationGuard,
  EvaluationGuardSchema,
  GUARD_FIELD,
} from './evaluation-guard.js';
import { restoresOriginal } from './restore-original.js';

/** A script that may be evaluated, and what its check found. */
export interface CheckedSolution {
  readonly solution: Solution;
  readonly status: SolutionCheckResult['status'];
  readonly findings: readonly Finding[];
  /** How the script compares with the known solutions, if that was asked. */
  readonly contamination?: ScriptContamination;
  /** The whole result of the check. */
  readonly check: SolutionCheckResult;
}

/**
 * The script that an evaluation job may run. The evaluating side gets a script only from here (REQ-SF-022).
 *
 * @throws UncheckedSolutionError if `addGuardedEvaluation` did not create the job, it has no completed solution-check
 *   among its children, or its script or the check's was changed since. RefusedSolutionError if the status of a check is
 *   not one that the evaluation requires.
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
  const { solution, status, findings, contamination } = check;
  if (contamination !== undefined && contamination.digest !== digestOf(solution.content))
    return reject('has a contamination check of another script than the one that its check left');
  assertRequired(guard, check, job);
  return { solution, status, findings, ...(contamination === undefined ? {} : { contamination }), check };
}

/** @throws RefusedSolutionError with the status that the evaluation does not allow. */
function assertRequired(
  guard: EvaluationGuard,
  { status, contamination, notAnalyzed }: SolutionCheckResult,
  job: Job,
): void {
  const { id = '' } = job;
  const refuse = (found: string, why: string): never => {
    throw new RefusedSolutionError(found, `evaluation job ${id} ${why}`, { jobId: id });
  };
  const statuses = allowedStatuses(guard);
  if (!statuses.includes(status)) {
    refuse(status, `requires a script whose leakage check is ${statuses.join(' or ')}; it is ${status}`);
  }
  if (notAnalyzed !== undefined && guard.allowUnjudged !== true) {
    refuse(
      'not-analyzed',
      `has a script whose score nobody checked (\`allowUnjudged\` allows it): ${notAnalyzed}`,
    );
  }
  if (guard.require?.contamination === undefined || contamination?.status === 'clean') return;
  if (contamination === undefined) {
    throw new UncheckedSolutionError(
      `evaluation job ${id} requires a contamination check, and its check has none`,
      { jobId: id },
    );
  }
  const { testCaseId, reason } = contamination;
  if (contamination.status === 'not-compared') {
    refuse(
      contamination.status,
      `requires a clean contamination check, and the fleet had no known solution to compare with`,
    );
  }
  refuse(
    contamination.status,
    `requires a clean contamination check; its script is ${contamination.status} (test case ${testCaseId}): ${reason}`,
  );
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
