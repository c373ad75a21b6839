import { z } from 'zod';
import { payloadBase } from './common.js';
import { type ChildResult, DEFAULT_JOB, defineKind } from './kind.js';
import { solutionCheck } from './solution-check.js';

export const TestCaseSchema = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  difficulty: z.enum(['easy', 'medium', 'hard']),
  solveTime: z.number().positive().optional().describe('Milliseconds that the answer took.'),
  thoughtChain: z.array(z.string()).optional(),
});

export const ContaminationConfigSchema = z.strictObject({
  similarityThreshold: z.number().min(0).max(1).optional(),
  fastSolveThreshold: z.number().min(0).optional(),
  minExplorationDepth: z.int().nonnegative().optional(),
});

export const ContaminationPayloadSchema = z.strictObject({
  ...payloadBase,
  output: z
    .string()
    .min(1, 'the output is empty')
    .optional()
    .describe('The answer to be judged; left out where a child supplies it.'),
  testCase: TestCaseSchema,
  config: ContaminationConfigSchema.optional(),
});
export type ContaminationPayload = z.infer<typeof ContaminationPayloadSchema>;

const SimilarityCheckSchema = z.looseObject({
  similarity: z.number(),
  threshold: z.number(),
  contaminated: z.boolean(),
  matchedRegions: z.array(z.string()),
});
const TimingCheckSchema = z.looseObject({
  actualTime: z.number(),
  expectedTime: z.number(),
  ratio: z.number(),
  contaminated: z.boolean(),
});
const ReasoningCheckSchema = z.looseObject({
  thoughtCount: z.int(),
  explorationDepth: z.int(),
  jumpsToSolution: z.boolean(),
  suspiciousPatterns: z.array(z.string()),
});

export const ContaminationResultSchema = z.strictObject({
  contaminated: z.boolean(),
  reason: z.string().optional(),
  confidence: z.number().min(0).max(1),
  checks: z.looseObject({
    similarity: SimilarityCheckSchema.optional(),
    timing: TimingCheckSchema.optional(),
    reasoning: ReasoningCheckSchema.optional(),
  }),
});
export type ContaminationJobResult = z.infer<typeof ContaminationResultSchema>;

/** The checked script of a solution-check child, or the text that any other child returned. */
function outputOf({ kind, result }: ChildResult): string | undefined {
  if (kind === solutionCheck.name) return solutionCheck.result.safeParse(result).data?.solution.content;
  return typeof result === 'string' ? result : undefined;
}

export const contamination = defineKind({
  name: 'contamination',
  summary: 'Tells whether an answer is a copy of a known solution.',
  payload: ContaminationPayloadSchema,
  result: ContaminationResultSchema,
  largeTexts: ['output'],
  suppliedByChild: { output: outputOf },
  defaults: DEFAULT_JOB,
});
