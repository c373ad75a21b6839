import { z } from 'zod';
import { LEAKAGE_STATUSES, type Severity } from '../queues/solution-check.js';
import { hasControls } from './well-formed.js';

/** Many times the size of an honest answer. Each named leak may cost two more calls. */
export const MAX_ANSWERS = 50;
/** Many times what a block of usual length can have. */
const MAX_EDITS = 500;
export const MAX_PLAN = 20_000;

/**
 * A bound that the model does not see: refinements are not part of the JSON schema in the request.
 */
function atMost(count: number): [(list: readonly unknown[]) => boolean, string] {
  return [(list) => list.length <= count, `has more than ${count} entries`];
}

/**
 * Output schemas of the agents, as the model sees them: field names are those of the requirements, and no field is added,
 * because the schema is part of the request (REQ-SF-014, REQ-P2O-015).
 */
const LeakageAnswerSchema = z.object({
  leakage_status: z.enum(LEAKAGE_STATUSES),
  code_block: z.string().describe('Exact copy of the lines of the script that this answer is about.'),
});
type LeakageAnswer = z.infer<typeof LeakageAnswerSchema>;

/** One answer for each leak; one "No Data Leakage" answer if there is none (REQ-DM-019). */
export const LeakageDetectionOutputSchema = z.object({
  answers: z
    .array(LeakageAnswerSchema)
    .min(1)
    .refine(...atMost(MAX_ANSWERS)),
});

/** The same of a part of a script, which may not be enough. A model may leave the field out. */
export const SliceDetectionOutputSchema = LeakageDetectionOutputSchema.extend({
  needs_whole_script: z
    .boolean()
    .optional()
    .describe('Whether the lines that were left out may change an answer.'),
});

/**
 * What the agent says to leaks that static analysis found. The schema of the detection has no reason, so a request of the
 * detection is the same as before there were such answers. An answer without a reason counts: a model may leave it out.
 */
export const LeakOpinionsSchema = z.object({
  answers: z
    .array(
      LeakageAnswerSchema.extend({
        reason: z.string().optional().describe('One sentence: why it is a leak, or why it is none.'),
      }),
    )
    .min(1)
    .refine(...atMost(MAX_ANSWERS)),
});
export type LeakOpinion = z.infer<typeof LeakOpinionsSchema>['answers'][number];

/** Changed lines of a block, whose lines are counted from 1. */
export const CorrectionEditsSchema = z.object({
  edits: z
    .array(
      z.object({
        first_line: z.int().describe('Number of the first line of the block that is replaced.'),
        last_line: z
          .int()
          .describe(
            'Number of the last one; one less than first_line inserts before that line and replaces none.',
          ),
        new_lines: z.string().describe('What replaces them; empty to remove them.'),
      }),
    )
    .min(1)
    .refine(...atMost(MAX_EDITS)),
});
export type CorrectionEdit = z.infer<typeof CorrectionEditsSchema>['edits'][number];

const RefinePlanSchema = z.object({
  code_block: z.string().describe('Exact copy of consecutive lines of the script.'),
  plan: z
    .string()
    .describe('How to improve the block, in three to five sentences.')
    .refine((plan) => plan.trim() !== '', 'is empty')
    .refine((plan) => plan.length <= MAX_PLAN, `has more than ${MAX_PLAN} characters`)
    .refine((plan) => !hasControls(plan), 'holds control characters'),
});
export type RefinePlan = z.infer<typeof RefinePlanSchema>;

/** Best plan first (REQ-DM-017). */
export const ExtractorOutputSchema = z.object({
  plans: z
    .array(RefinePlanSchema)
    .min(1)
    .refine(...atMost(MAX_ANSWERS)),
});
export type ExtractorOutput = z.infer<typeof ExtractorOutputSchema>;

/** What a runner may know beyond the schema. Static analysis fills these; models do not. */
interface LeakageAnnotations {
  /** Name of the leak's kind, as in `scaler-fitted-before-split`. */
  readonly kind?: string;
  readonly severity?: Severity;
  /** Why the block leaks, for people. */
  readonly reason?: string;
}
export type AnnotatedLeakageAnswer = LeakageAnswer & LeakageAnnotations;

/** Every answer that fits `LeakageDetectionOutputSchema` is of this type; use it as `Output` of the request. */
export interface LeakageDetectionOutput {
  answers: AnnotatedLeakageAnswer[];
}
