import { z } from 'zod';
import { SolutionSchema } from './common.js';

/*
 * What a refinement loop and the pipeline's workers say to each other: the loop asks for the new text of a block, and for the
 * score of a script.
 */

export const SCORE_DIRECTIONS = ['higher', 'lower'] as const;

/** A plan of an earlier round, and what it came to. */
const TriedPlanSchema = z.strictObject({
  plan: z.string(),
  score: z.number().nullable().describe('null if the round has no score.'),
  gain: z.boolean().describe('Whether the score was the best until then.'),
  reason: z.string().optional().describe('Why the round has no score.'),
});

/** Value of `request` in the data of a job that asks for a new block. */
const NEW_BLOCK = 'new-block';

/** Data of a job that asks the pipeline for the new text of a block. The pipeline's own data are beside these fields. */
export const NewBlockRequestSchema = z.looseObject({
  request: z.literal(NEW_BLOCK),
  round: z.int().positive(),
  rounds: z.int().positive().describe('Maximum number of rounds.'),
  solution: SolutionSchema.describe('The script with the block.'),
  codeBlock: z.string().describe('The block to rewrite, an exact substring of the script.'),
  plan: z.string().describe('The plan for the first round. Later rounds need a new one, made with `tried`.'),
  summary: z.string().describe('Summary of the ablation study.'),
  score: z.number().describe('Score of the script.'),
  direction: z.enum(SCORE_DIRECTIONS).describe('Which score is better.'),
  tried: z.array(TriedPlanSchema).describe('The earlier rounds, the first one first.'),
});
export type NewBlockRequest = z.infer<typeof NewBlockRequestSchema>;

/** Fields that the pipeline's own data may not have, because jobs of the loop have them. */
const RESERVED_FIELDS = [...Object.keys(NewBlockRequestSchema.shape), 'tags', 'solutionFleet'];

/** What the pipeline returns for a new block. Other fields are ignored. */
export const NewBlockAnswerSchema = z.object({
  codeBlock: z
    .string()
    .max(1_000_000)
    .nullable()
    .describe('The new text of the block; null: there is nothing more to try.'),
  plan: z.string().min(1).max(20_000).optional().describe('The plan that it follows, if not the one given.'),
});
export type NewBlockAnswer = z.infer<typeof NewBlockAnswerSchema>;

/** What the pipeline returns for an evaluation: `{score}`, with any other fields, or the bare score. */
export const ScoreAnswerSchema = z
  .union([z.number(), z.object({ score: z.number() })])
  .transform((answer) => (typeof answer === 'number' ? answer : answer.score));

/** Maximum size of the pipeline's own data as JSON, in characters. */
const MAX_DATA_LENGTH = 32_768;

/** The pipeline's own data in the jobs of a loop. */
export const PipelineDataSchema = z
  .record(z.string(), z.unknown())
  .refine(
    (data) => !RESERVED_FIELDS.some((field) => field in data),
    `must not have the fields of the loop: ${RESERVED_FIELDS.join(', ')}`,
  )
  .refine(
    (data) => JSON.stringify(data).length <= MAX_DATA_LENGTH,
    `has more than ${MAX_DATA_LENGTH} characters as JSON; store larger data elsewhere and pass their location`,
  );
