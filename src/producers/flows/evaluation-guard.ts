import { z } from 'zod';
import { CHECK_STATUSES, type CheckStatus } from '../../queues/solution-check.js';

/** Field of an evaluation job's data that contains the guard. */
export const GUARD_FIELD = 'solutionFleet';

export const ON_UNCORRECTED = ['evaluate', 'refuse'] as const;

/** The statuses with which a script may be evaluated. */
export const RequiredStatusesSchema = z.strictObject({
  leakage: z
    .array(z.enum(CHECK_STATUSES))
    .min(1)
    .max(CHECK_STATUSES.length)
    .readonly()
    .optional()
    .describe('Statuses of the leakage check; default: as `onUncorrected` says.'),
  contamination: z.literal('clean').optional().describe('Needs `contamination`, which has the test case.'),
});
export type RequiredStatuses = z.infer<typeof RequiredStatusesSchema>;

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
});
export type EvaluationGuard = z.infer<typeof EvaluationGuardSchema>;

/** The statuses of the leakage check with which a script may be evaluated. */
export function allowedStatuses({
  onUncorrected,
  require,
}: Pick<EvaluationGuard, 'onUncorrected' | 'require'>): readonly CheckStatus[] {
  return require?.leakage ?? (onUncorrected === 'refuse' ? ['clean', 'corrected'] : CHECK_STATUSES);
}
