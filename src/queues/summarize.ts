import { z } from 'zod';
import { agentResultBase, modelField, payloadBase } from './common.js';
import { DEFAULT_JOB, defineContract } from './kind.js';
import { UsageSchema } from './usage.js';

export const SummarizePayloadSchema = z.strictObject({
  ...payloadBase,
  ablationCode: z.string().min(1, 'the ablation script is empty'),
  rawOutput: z.string().describe('What the ablation script printed; may be empty.'),
  model: modelField.optional(),
});
export type SummarizePayload = z.infer<typeof SummarizePayloadSchema>;

export const SummarizeResultSchema = z.strictObject({
  summary: z.string().min(1),
  withoutScores: z
    .literal(true)
    .optional()
    .describe('The ablation printed no score, so no block can be chosen; absent if it printed one.'),
  usage: UsageSchema,
  ...agentResultBase,
});
export type SummarizeResult = z.infer<typeof SummarizeResultSchema>;

export const summarize = defineContract({
  name: 'summarize',
  summary: "Turns an ablation study's printed output into a summary.",
  payload: SummarizePayloadSchema,
  result: SummarizeResultSchema,
  limits: { largeTexts: ['rawOutput'] },
  suppliedByChild: {},
  defaults: DEFAULT_JOB,
});
