import { z } from 'zod';
import { CHECKS } from '../contamination/checks.js';
import { ContaminationConfigSchema } from '../contamination/config.js';
import { payloadBase } from './common.js';
import { type ChildResult, DEFAULT_JOB, defineContract } from './kind.js';
import { readResult } from './read-result.js';
import { solutionCheck } from './solution-check.js';
import { contaminationFields } from './test-case.js';

const fraction = z.number().min(0).max(1);
export const ContaminationPayloadSchema = z.strictObject({
  ...payloadBase,
  output: z
    .string()
    .min(1, 'the output is empty')
    .optional()
    .describe('The answer to be checked; left out if a child supplies it.'),
  ...contaminationFields,
});
export type ContaminationPayload = z.infer<typeof ContaminationPayloadSchema>;

const SpanSchema = z.tuple([z.int().nonnegative(), z.int().nonnegative()]);
const SpanPairsSchema = z.array(z.strictObject({ output: SpanSchema, known: SpanSchema }));

const SimilarityCheckSchema = z.strictObject({
  similarity: fraction,
  threshold: z.number(),
  contaminated: z.boolean(),
  matchedRegions: z.array(z.string()),
  spans: SpanPairsSchema.describe('Where the matched regions are, as UTF-16 offsets.'),
});
const TimingCheckSchema = z.strictObject({
  actualTime: z.number(),
  expectedTime: z.number(),
  ratio: z.number(),
  contaminated: z.boolean(),
});
const ReasoningCheckSchema = z.strictObject({
  thoughtCount: z.int(),
  explorationDepth: z.int(),
  jumpsToSolution: z.boolean(),
  suspiciousPatterns: z.array(z.string()),
  solutionAt: z
    .int()
    .nonnegative()
    .optional()
    .describe('Index of the first thought that contains the solution.'),
  containment: fraction
    .optional()
    .describe('Largest fraction of the known solution that one thought contains.'),
});
const EvasionCheckSchema = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('ran'),
    value: z.number(),
    threshold: z.number(),
    contaminated: z.boolean(),
    known: z.strictObject({ testCaseId: z.string(), hash: z.string() }).optional(),
    spans: SpanPairsSchema,
  }),
  z.strictObject({ status: z.literal('skipped'), threshold: z.number(), skipped: z.string() }),
]);

export const ContaminationResultSchema = z.strictObject({
  contaminated: z.boolean(),
  reason: z.string().optional(),
  confidence: fraction.describe('How likely the result is right.'),
  note: z.string().optional().describe('Why nothing could be told; only with a confidence of 0.5.'),
  checks: z.strictObject({
    similarity: SimilarityCheckSchema.optional(),
    timing: TimingCheckSchema.optional(),
    reasoning: ReasoningCheckSchema.optional(),
    exact: EvasionCheckSchema.optional(),
    containment: EvasionCheckSchema.optional(),
    evidence: EvasionCheckSchema.optional(),
    fingerprint: EvasionCheckSchema.optional(),
    wording: EvasionCheckSchema.optional(),
    crossTask: EvasionCheckSchema.optional(),
    skipped: z.partialRecord(z.enum(CHECKS), z.string()).describe('Every check that did not run, and why.'),
  }),
  config: ContaminationConfigSchema.describe('The thresholds in force.'),
});
export type ContaminationJobResult = z.infer<typeof ContaminationResultSchema>;

/** The checked script of a solution-check child, or the text that any other child returned. */
function outputOf({ kind, result }: ChildResult): string | undefined {
  if (kind === solutionCheck.name) return readResult(solutionCheck.result, result).data?.solution.content;
  return typeof result === 'string' ? result : undefined;
}

export const contamination = defineContract({
  name: 'contamination',
  summary: 'Decides whether an answer is a copy of a known solution.',
  payload: ContaminationPayloadSchema,
  result: ContaminationResultSchema,
  limits: { largeTexts: ['output'] },
  suppliedByChild: { output: outputOf },
  defaults: DEFAULT_JOB,
});
