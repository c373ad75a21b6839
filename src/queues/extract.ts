import { z } from 'zod';
import { agentResultBase, modelField, payloadBase, SolutionSchema, workspaceField } from './common.js';
import { type ChildResult, DEFAULT_JOB, defineKind } from './kind.js';
import { summarize } from './summarize.js';
import { UsageSchema } from './usage.js';

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
  attempts: z.int().positive(),
  plans: z.array(z.strictObject({ codeBlock: z.string(), plan: z.string(), valid: z.boolean() })),
  solutionDigest: z.string().describe('SHA-256 of the script that the block was taken from.'),
  usage: UsageSchema,
  ...agentResultBase,
});
export type ExtractResult = z.infer<typeof ExtractResultSchema>;

/** The summary of a summarize child. */
function summaryOf({ kind, result }: ChildResult): string | undefined {
  return kind === summarize.name ? summarize.result.safeParse(result).data?.summary : undefined;
}

export const extract = defineKind({
  name: 'extract',
  summary: 'Picks the code block with most impact and a plan to refine it.',
  payload: ExtractPayloadSchema,
  result: ExtractResultSchema,
  largeTexts: [],
  suppliedByChild: { summary: summaryOf },
  defaults: DEFAULT_JOB,
});
