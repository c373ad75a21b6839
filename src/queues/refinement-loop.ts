import { z } from 'zod';
import { modelField, payloadBase, SolutionSchema, workspaceField } from './common.js';
import { MAX_PREVIOUS_BLOCKS } from './extract.js';
import { DEFAULT_JOB, defineContract } from './kind.js';
import { isQueueName, QUEUE_NAME, QUEUE_NAME_RULE } from './names.js';
import { PipelineDataSchema, SCORE_DIRECTIONS } from './refinement-requests.js';
import {
  CHECK_STATUSES,
  FindingSchema,
  RequiredStatusesSchema,
  SolutionCheckPayloadSchema,
  trialField,
} from './solution-check.js';
import { ContaminationSettingsSchema } from './test-case.js';
import { UsageSchema } from './usage.js';

/** Maximum number of rounds: each starts two child jobs, and a job has at most 100. */
const MAX_ROUNDS = 40;

/** A queue of the pipeline in which the loop starts jobs. */
const pipelineQueue = {
  queue: z
    .string()
    .regex(QUEUE_NAME, QUEUE_NAME_RULE)
    .refine(isQueueName, QUEUE_NAME_RULE)
    .describe('Queue of the pipeline’s own.'),
  data: PipelineDataSchema.optional().describe('Added to the data of each job.'),
  attempts: z.int().min(1).max(100).optional().describe('Maximum number of attempts of a job; default 1.'),
};

export const RefinementLoopPayloadSchema = z
  .strictObject({
    ...payloadBase,
    solution: SolutionSchema.describe('The best script so far. Each round replaces the block in it.'),
    score: z.number().describe('Score of the script.'),
    direction: z.enum(SCORE_DIRECTIONS).describe('Which score is better.'),
    ablationCode: z.string().min(1, 'the ablation script is empty'),
    rawOutput: z.string().describe('What the ablation script printed; may be empty.'),
    previousBlocks: z
      .array(z.string())
      .max(MAX_PREVIOUS_BLOCKS)
      .describe('Blocks that were refined before; may be empty.'),
    rounds: z.int().min(1).max(MAX_ROUNDS).describe('Maximum number of rounds.'),
    maxRoundsWithoutGain: z
      .int()
      .min(1)
      .max(MAX_ROUNDS)
      .optional()
      .describe('The loop stops after so many rounds in a row without a better score; default 2.'),
    newBlock: z.strictObject(pipelineQueue).describe('Where the pipeline rewrites the block.'),
    evaluation: z.strictObject(pipelineQueue).describe('Where the pipeline scores checked scripts.'),
    allowUnjudged: z
      .boolean()
      .optional()
      .describe('A script whose score nobody checked is evaluated all the same; default: no.'),
    onUncorrected: z
      .enum(['evaluate', 'refuse'])
      .optional()
      .describe(
        'What becomes of a script with a leak that could not be corrected; default: refuse, because a leak makes the score better.',
      ),
    contamination: ContaminationSettingsSchema.optional().describe(
      'Each script that a check leaves is compared with the fleet’s known solutions.',
    ),
    require: RequiredStatusesSchema.optional().describe('Statuses without which a script is not evaluated.'),
    verify: SolutionCheckPayloadSchema.shape.verify,
    trial: trialField,
    workspace: workspaceField.optional(),
    model: modelField.optional(),
  })
  .refine(({ newBlock, evaluation }) => newBlock.queue !== evaluation.queue, {
    path: ['newBlock', 'queue'],
    message: 'is also the queue of the evaluations; name two queues',
  })
  .refine(({ require, onUncorrected }) => require?.leakage === undefined || onUncorrected === undefined, {
    path: ['onUncorrected'],
    message: 'is said by require.leakage already; leave one of them out',
  })
  .refine(
    ({ require, contamination }) => require?.contamination === undefined || contamination !== undefined,
    {
      path: ['contamination'],
      message: 'is missing; require.contamination needs its testCase, to know what to compare with',
    },
  );
export type RefinementLoopPayload = z.infer<typeof RefinementLoopPayloadSchema>;

const RoundSchema = z.strictObject({
  round: z.int().positive(),
  plan: z.string(),
  codeBlock: z.string().optional().describe('The new text of the block; absent if the pipeline gave none.'),
  check: z.enum(CHECK_STATUSES).optional().describe('Status of the leakage check of the new script.'),
  findings: z.array(FindingSchema).optional().describe('The leaks that the check found, if it found any.'),
  score: z.number().optional(),
  gain: z.boolean().describe('Whether the score was the best until then.'),
  reason: z.string().optional().describe('Why the round has no score.'),
  jobs: z
    .strictObject({ newBlock: z.string(), evaluation: z.string().optional() })
    .describe('Ids of the jobs in the queues of the pipeline.'),
  usage: UsageSchema.optional().describe('What the agent calls of the check used.'),
});
export type RefinementRound = z.infer<typeof RoundSchema>;

const STOP_REASONS = ['all-rounds', 'no-gain', 'no-new-block', 'no-block'] as const;

export const RefinementLoopResultSchema = z.strictObject({
  outcome: z
    .enum(['improved', 'unchanged', 'skipped'])
    .describe('skipped: no block could be chosen, so there was no round.'),
  solution: SolutionSchema.describe(
    'The best script, as its check left it; the given one if none is better.',
  ),
  score: z.number().describe('Its score.'),
  stopped: z
    .enum(STOP_REASONS)
    .describe('Why there was no further round. no-new-block: the pipeline had nothing more to try.'),
  reason: z.string().optional().describe('Why no block was chosen.'),
  summary: z.string(),
  codeBlock: z.string().optional().describe('The block that was refined.'),
  plan: z.string().optional().describe('The plan for the first round.'),
  rounds: z.array(RoundSchema),
  previousBlocks: z
    .array(z.string())
    .describe('The given blocks, this one, and its form in the best script: for the next loop.'),
  jobs: z
    .strictObject({ summarize: z.string(), extract: z.string().optional() })
    .describe('Ids of the jobs that chose the block.'),
  childUsage: UsageSchema.describe(
    'What the agent calls of all child jobs used. The loop itself makes none.',
  ),
});
export type RefinementLoopResult = z.infer<typeof RefinementLoopResultSchema>;

export const refinementLoop = defineContract({
  name: 'refinement-loop',
  summary:
    'Refines one code block in several rounds, with the pipeline’s coder and evaluator, and returns the best script.',
  payload: RefinementLoopPayloadSchema,
  result: RefinementLoopResultSchema,
  limits: { largeTexts: ['rawOutput'] },
  suppliedByChild: {},
  defaults: DEFAULT_JOB,
  queueFields: ['newBlock.queue', 'evaluation.queue'],
});
