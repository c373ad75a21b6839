import { z } from 'zod';
import { CHECK_STATUSES, type CheckStatus, RequiredStatusesSchema } from '../../queues/solution-check.js';

/** Field of an evaluation job's data that contains the guard. */
export const GUARD_FIELD = 'solutionFleet';

export const ON_UNCORRECTED = ['evaluate', 'refuse'] as const;

/**
 * Ties an evaluation job to the check of its script. Evaluating sides that do not know a field refuse the job: they cannot
 * demand what it says.
 */
export const EvaluationGuardSchema = z.strictObject({
  v: z.literal(1),
  /** Id of the solution-check job. */
  check: z.string().min(1),
  /** SHA-256 of the submitted script. */
  digest: z.string().length(64),
  onUncorrected: z.enum(ON_UNCORRECTED),
  require: RequiredStatusesSchema.optional(),
  /** A script whose score nobody checked is evaluated all the same. */
  allowUnjudged: z.literal(true).optional(),
});
export type EvaluationGuard = z.infer<typeof EvaluationGuardSchema>;

/** The statuses of the leakage check with which a script may be evaluated. */
export function allowedStatuses({
  onUncorrected,
  require,
}: Pick<EvaluationGuard, 'onUncorrected' | 'require'>): readonly CheckStatus[] {
  return require?.leakage ?? (onUncorrected === 'refuse' ? ['clean', 'corrected'] : CHECK_STATUSES);
}
