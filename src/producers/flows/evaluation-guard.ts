import { z } from 'zod';

/** Field of an evaluation job's data that contains the guard. */
export const GUARD_FIELD = 'solutionFleet';

export const ON_UNCORRECTED = ['evaluate', 'refuse'] as const;

/** Ties an evaluation job to the check of its script. */
export const EvaluationGuardSchema = z.strictObject({
  v: z.literal(1),
  /** Id of the solution-check job. */
  check: z.string().min(1),
  /** SHA-256 of the submitted script. */
  digest: z.string().length(64),
  onUncorrected: z.enum(ON_UNCORRECTED),
});
export type EvaluationGuard = z.infer<typeof EvaluationGuardSchema>;
