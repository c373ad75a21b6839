import { z } from 'zod';
import { agentResultBase, modelField, payloadBase, SolutionSchema, workspaceField } from './common.js';
import { type ChildResult, DEFAULT_JOB, defineContract } from './kind.js';
import { readResult } from './read-result.js';
import { type SummarizeResult, summarize } from './summarize.js';
import { UsageSchema } from './usage.js';

/** Why no block is chosen after an ablation without scores. */
export const WITHOUT_SCORES = 'the ablation printed no score, so no block can be chosen';

/** Maximum number of blocks of earlier steps in one payload. */
export const MAX_PREVIOUS_BLOCKS = 1_000;

export const ExtractPayloadSchema = z.strictObject({
  ...payloadBase,
  solution: SolutionSchema,
  summary: z
    .string()
    .min(1, 'the ablation summary is empty')
    .optional()
    .describe('Summary of the ablation study; left out if a summarize child supplies it.'),
  withoutScores: z
    .literal(true)
    .optional()
    .describe('The ablation printed no score: the job is skipped without a call. A summarize child sets it.'),
  previousBlocks: z
    .array(z.string())
    .max(MAX_PREVIOUS_BLOCKS)
    .describe('Blocks that were refined before; may be empty.'),
  workspace: workspaceField.optional(),
  model: modelField.optional(),
});
export type ExtractPayload = z.infer<typeof ExtractPayloadSchema>;

export const ExtractResultSchema = z.strictObject({
  outcome: z.enum(['selected', 'skipped']),
  codeBlock: z.string().optional().describe('Exact substring of the script.'),
  plan: z.string().optional(),
  matched: z.enum(['exact', 'whitespace']).optional(),
  planIndex: z.int().nonnegative().optional(),
  reason: z.string().optional().describe('Why no block was selected.'),
  attempts: z.int().nonnegative().describe('Number of requests; 0 if the ablation printed no score.'),
  plans: z.array(z.strictObject({ codeBlock: z.string(), plan: z.string(), valid: z.boolean() })),
  solutionDigest: z.string().describe('SHA-256 of the script that the block was taken from.'),
  usage: UsageSchema,
  ...agentResultBase,
});
export type ExtractResult = z.infer<typeof ExtractResultSchema>;

function summarizedBy({ kind, result }: ChildResult): SummarizeResult | undefined {
  return kind === summarize.name ? readResult(summarize.result, result).data : undefined;
}

export const extract = defineContract({
  name: 'extract',
  summary: 'Picks the code block with most impact and a plan to refine it.',
  payload: ExtractPayloadSchema,
  result: ExtractResultSchema,
  limits: {},
  suppliedByChild: { summary: (child) => summarizedBy(child)?.summary },
  setByChild: { withoutScores: (child) => summarizedBy(child)?.withoutScores },
  defaults: DEFAULT_JOB,
  fieldsSince: { withoutScores: 2 },
});
