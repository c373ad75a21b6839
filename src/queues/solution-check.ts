import { z } from 'zod';
import { agentResultBase, modelField, payloadBase, SolutionSchema, workspaceField } from './common.js';
import { DEFAULT_JOB, defineKind } from './kind.js';
import { UsageSchema } from './usage.js';

export const LEAKAGE_STATUSES = ['Yes Data Leakage', 'No Data Leakage'] as const;
export const SEVERITIES = ['high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** One answer of the detection, and what became of it. */
export const FindingSchema = z.strictObject({
  leakageStatus: z.enum(LEAKAGE_STATUSES),
  codeBlock: z.string().describe('The block as it stands in the script (the answer where it was not found).'),
  kind: z.string().optional(),
  severity: z.enum(SEVERITIES).optional(),
  outcome: z
    .enum(['corrected', 'uncorrected', 'superseded', 'not-found', 'no-leakage'])
    .describe('superseded: an earlier correction swallowed the block.'),
  correctedBlock: z.string().optional(),
  occurrences: z.int().positive().optional().describe('How often the block stands in the script.'),
  matched: z.enum(['exact', 'whitespace']).optional(),
  reason: z.string().optional().describe('Why it is leakage, or why it was not corrected.'),
});
export type Finding = z.infer<typeof FindingSchema>;

export const SolutionCheckPayloadSchema = z.strictObject({
  ...payloadBase,
  solution: SolutionSchema,
  workspace: workspaceField.optional(),
  model: modelField.optional(),
});
export type SolutionCheckPayload = z.infer<typeof SolutionCheckPayloadSchema>;

export const SolutionCheckResultSchema = z.strictObject({
  status: z.enum(['clean', 'corrected', 'partly-corrected', 'uncorrected']),
  solution: SolutionSchema.describe('The script that may be evaluated.'),
  solutionDigest: z.string().describe('SHA-256 of the script that was judged.'),
  findings: z.array(FindingSchema),
  notFollowed: z
    .array(z.strictObject({ line: z.int().positive(), reason: z.string() }))
    .optional()
    .describe('Code that static analysis could not follow, and therefore did not accuse.'),
  usage: UsageSchema,
  ...agentResultBase,
});
export type SolutionCheckResult = z.infer<typeof SolutionCheckResultSchema>;

export const solutionCheck = defineKind({
  name: 'solution-check',
  summary: 'Finds data leakage in a script, corrects the leaky blocks and hands back a script to evaluate.',
  payload: SolutionCheckPayloadSchema,
  result: SolutionCheckResultSchema,
  largeTexts: [],
  suppliedByChild: {},
  defaults: DEFAULT_JOB,
});
