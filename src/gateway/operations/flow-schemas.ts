import { z } from 'zod';
import { PayloadError } from '../../errors.js';
import { ON_UNCORRECTED } from '../../producers/flows/evaluation-guard.js';
import { SUBMISSION_FIELDS } from '../../producers/submission-fields.js';
import { modelField, SolutionSchema, TagsSchema, workspaceField } from '../../queues/common.js';
import { MAX_PREVIOUS_BLOCKS } from '../../queues/extract.js';
import { isQueueName, nameField, QUEUE_NAME, QUEUE_NAME_RULE } from '../../queues/names.js';
import type { KindRegistry } from '../../queues/registry.js';
import {
  RequiredStatusesSchema,
  SolutionCheckPayloadSchema,
  trialField,
} from '../../queues/solution-check.js';
import { ContaminationSettingsSchema } from '../../queues/test-case.js';
import { SubmittedSchema } from './job-schemas.js';

/** Name of a pipeline queue. */
export const PipelineQueueSchema = z
  .string()
  .regex(QUEUE_NAME, QUEUE_NAME_RULE)
  .refine(isQueueName, QUEUE_NAME_RULE)
  .describe('Queue of the pipeline’s own.');

/**
 * Checks that a queue is not that of a kind, whose jobs only workers take.
 * @throws PayloadError with the field.
 */
export function assertPipelineQueue(kinds: KindRegistry, queue: string): void {
  if (!kinds.has(queue)) return;
  const problem = `queue: "${queue}" is a queue of the fleet; name a pipeline queue`;
  throw new PayloadError('invalid-payload', problem, { field: 'queue' });
}

/** The options of a pipeline job that may be set through HTTP. */
const JobOptionsSchema = z.strictObject({
  attempts: z.int().min(1).max(100).optional(),
  backoff: z
    .strictObject({ type: z.enum(['fixed', 'exponential']), delay: z.int().nonnegative().max(86_400_000) })
    .optional(),
  priority: z.int().min(1).max(2_097_151).optional(),
  delay: z.int().nonnegative().max(31_536_000_000).optional(),
});

/** A pipeline job. */
const EvaluationSchema = z
  .strictObject({
    queue: PipelineQueueSchema,
    name: nameField(200).describe('Name of the job in that queue.'),
    data: z.record(z.string(), z.unknown()).optional(),
    opts: JobOptionsSchema.optional(),
  })
  .meta({ id: 'Evaluation' });

const checkSettings = {
  workspace: workspaceField.optional(),
  model: modelField.optional(),
  verify: SolutionCheckPayloadSchema.shape.verify,
  trial: trialField,
  tags: TagsSchema.optional(),
  onUncorrected: z
    .enum(ON_UNCORRECTED)
    .optional()
    .describe('What becomes of a script with a leak that could not be corrected; default: evaluate.'),
  contamination: ContaminationSettingsSchema.optional().describe(
    'The script that the check leaves is compared with the fleet’s known solutions.',
  ),
  allowUnjudged: z
    .boolean()
    .optional()
    .describe(
      'Hands a script out although nobody checked its score (`notAnalyzed` of the check); default: it fails with `solution-refused`.',
    ),
  require: RequiredStatusesSchema.optional().describe(
    'Statuses without which the evaluation is not handed out; it fails with `solution-refused`.',
  ),
};

export const RefinementBody = z.strictObject({
  ablationCode: z.string().min(1),
  rawOutput: z.string(),
  solution: SolutionSchema,
  previousBlocks: z.array(z.string()).max(MAX_PREVIOUS_BLOCKS),
  workspace: workspaceField.optional(),
  model: modelField.optional(),
  tags: TagsSchema.optional(),
  ...SUBMISSION_FIELDS,
});

export const GuardedEvaluationBody = z.strictObject({
  solution: SolutionSchema,
  evaluation: EvaluationSchema,
  ...checkSettings,
  ...SUBMISSION_FIELDS,
});

/** Most candidates of one batch. */
export const MAX_CANDIDATES = 5_000;

export const CandidateBatchBody = z.strictObject({
  candidates: z
    .array(
      z.strictObject({
        solution: SolutionSchema,
        data: z.record(z.string(), z.unknown()).optional().describe('Added to the evaluation’s data.'),
        key: SUBMISSION_FIELDS.key,
      }),
    )
    .min(1)
    .max(MAX_CANDIDATES),
  evaluation: EvaluationSchema,
  afterAll: EvaluationSchema.optional().describe('A job that starts when every candidate has ended.'),
  ...checkSettings,
  ...SUBMISSION_FIELDS,
});

export const RefinementAnswer = z.strictObject({ extract: SubmittedSchema, summarize: SubmittedSchema });
export const GuardedEvaluationAnswer = z
  .strictObject({ evaluation: SubmittedSchema, check: SubmittedSchema })
  .meta({ id: 'GuardedEvaluation' });
export const CandidateBatchAnswer = z.strictObject({
  evaluations: z.array(GuardedEvaluationAnswer).describe('In the order of the candidates.'),
  afterAll: SubmittedSchema.optional(),
});
