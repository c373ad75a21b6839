import { z } from 'zod';
import { agentResultBase, modelField, payloadBase, SolutionSchema, workspaceField } from './common.js';
import { DEFAULT_JOB, defineContract } from './kind.js';
import { ContaminationSettingsSchema, ScriptContaminationSchema } from './test-case.js';
import { UsageSchema } from './usage.js';

export const LEAKAGE_STATUSES = ['Yes Data Leakage', 'No Data Leakage'] as const;
/** Who can find a leak. */
const FINDING_SOURCES = ['agent', 'analysis'] as const;
export type FindingSource = (typeof FINDING_SOURCES)[number];
/** Whose findings count beside a model. */
export const OPINIONS = ['both', ...FINDING_SOURCES, 'static-first'] as const;
export type Opinion = (typeof OPINIONS)[number];
/** How corrections are asked for. */
export const CORRECTION_WAYS = ['each', 'shared', 'edits'] as const;
export type CorrectionWay = (typeof CORRECTION_WAYS)[number];
export const SEVERITIES = ['high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What a check can say about the leakage of a script. */
export const CHECK_STATUSES = ['clean', 'corrected', 'partly-corrected', 'uncorrected'] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];

/** What the agent, or the analysis, says of a script. */
const AUDIT_RESULTS = ['leaky', 'clean'] as const;

/** How much of the way to the scores of a script static analysis followed. */
const COVERAGES = ['full', 'partial', 'none'] as const;

/** One answer of the detection, with its outcome. */
export const FindingSchema = z.strictObject({
  leakageStatus: z.enum(LEAKAGE_STATUSES),
  codeBlock: z
    .string()
    .describe('The block as it is in the script (as the answer has it if it was not found).'),
  kind: z.string().optional(),
  severity: z.enum(SEVERITIES).optional(),
  outcome: z
    .enum(['corrected', 'uncorrected', 'superseded', 'not-found', 'no-leakage'])
    .describe('superseded: an earlier correction replaced the block.'),
  correctedBlock: z.string().optional(),
  correctedAt: z
    .int()
    .nonnegative()
    .optional()
    .describe('UTF-16 offset of the corrected block in the script, as it was right after this correction.'),
  occurrences: z.int().positive().optional().describe('How often the block occurs in the script.'),
  matched: z.enum(['exact', 'whitespace']).optional(),
  reason: z.string().optional().describe('Why it is leakage, or why it was not corrected.'),
  source: z
    .enum(FINDING_SOURCES)
    .optional()
    .describe(
      'Who found it: the agent, or static analysis, which runs in addition to a model. Absent before 0.2.0.',
    ),
  agreedBy: z
    .array(z.enum(FINDING_SOURCES))
    .optional()
    .describe(
      'Who says that it is a leak, if both the agent and static analysis were asked: one of them, or both. Absent before 0.2.0.',
    ),
  objection: z
    .string()
    .optional()
    .describe(
      'What the agent objected when it was shown a leak that only static analysis found: its reason and its lines.',
    ),
  notes: z.array(z.string()).optional().describe('What the correction changed besides the leak.'),
});
export type Finding = z.infer<typeof FindingSchema>;

/** What became of the corrected scripts that were run beside their original. */
const TrialSummarySchema = z.strictObject({
  sandbox: z.enum(['bubblewrap', 'unshare', 'command']).describe('In which sandbox they ran.'),
  passed: z.int().nonnegative().describe('Corrected scripts that ran as the original does.'),
  refused: z
    .int()
    .nonnegative()
    .describe(
      'Corrected scripts that failed, or printed no score, where the original does; they were refused.',
    ),
  notPossible: z.int().nonnegative().describe('Corrected scripts that could not be tried out.'),
  reason: z.string().optional().describe('Why one could not be tried out.'),
});
export type TrialSummary = z.infer<typeof TrialSummarySchema>;

/** Who decided about a script with `FLEET_OPINION=static-first`. */
const StaticFirstSchema = z.strictObject({
  decidedBy: z
    .enum(FINDING_SOURCES)
    .describe('analysis: it was certain, and its result is this one. agent: the agent was asked.'),
  why: z.string().optional().describe('Why the analysis was not certain.'),
  sent: z
    .enum(['slice', 'whole'])
    .optional()
    .describe('What the agent saw: the lines that the scores depend on, or the whole script.'),
  audit: z
    .strictObject({
      agrees: z.boolean(),
      analysis: z.enum(AUDIT_RESULTS),
      agent: z.enum(AUDIT_RESULTS),
    })
    .optional()
    .describe(
      'Set if the analysis was certain and the agent was asked for comparison (`FLEET_AUDIT_SHARE`).',
    ),
});
export type StaticFirst = z.infer<typeof StaticFirstSchema>;

/** Whether corrections are tried out. */
export const trialField = z
  .boolean()
  .optional()
  .describe(
    'Each corrected script is run beside the original on made-up data, in a sandbox of the worker, and refused if it fails where the original runs. A worker without an isolating sandbox fails the job with `trial-unavailable`. Default: nothing is run.',
  );

export const SolutionCheckPayloadSchema = z.strictObject({
  ...payloadBase,
  solution: SolutionSchema,
  workspace: workspaceField.optional(),
  model: modelField.optional(),
  verify: z
    .literal('agent')
    .optional()
    .describe(
      'A corrected script is checked once more by the agent, in a child job; default: by static analysis alone.',
    ),
  trial: trialField,
  contamination: ContaminationSettingsSchema.extend({
    onlyIf: z
      .array(z.enum(CHECK_STATUSES))
      .min(1)
      .max(CHECK_STATUSES.length)
      .readonly()
      .optional()
      .describe('Statuses of the check with which the script is compared; default: all.'),
  })
    .optional()
    .describe(
      'The script that the check leaves is compared with the fleet’s known solutions, in a child job without agent calls.',
    ),
});
export type SolutionCheckPayload = z.infer<typeof SolutionCheckPayloadSchema>;

export const SolutionCheckResultSchema = z.strictObject({
  status: z.enum(CHECK_STATUSES),
  solution: SolutionSchema.describe('The script that may be evaluated.'),
  solutionDigest: z.string().describe('SHA-256 of the script that was checked.'),
  findings: z.array(FindingSchema),
  notFollowed: z
    .array(z.strictObject({ line: z.int().positive(), reason: z.string() }))
    .optional()
    .describe('Code that static analysis could not follow, and therefore did not flag.'),
  coverage: z
    .enum(COVERAGES)
    .optional()
    .describe(
      'How much of the way to the scores static analysis followed: all of it, not all (`notFollowed` says what), or no score at all. Absent before 0.2.0.',
    ),
  checkedBy: z
    .array(z.enum(FINDING_SOURCES))
    .optional()
    .describe('Who checked a score of the script; empty if nobody did. Absent before 0.2.0.'),
  notAnalyzed: z
    .string()
    .optional()
    .describe(
      'Set if the script seems to have a score and nobody checked it, with the reason: `clean` then says nothing, and a guarded evaluation does not start.',
    ),
  staticFirst: StaticFirstSchema.optional().describe('Set with `FLEET_OPINION=static-first`.'),
  trial: TrialSummarySchema.optional().describe('Set if the payload has `trial`.'),
  contamination: ScriptContaminationSchema.optional(),
  usage: UsageSchema,
  ...agentResultBase,
});
export type SolutionCheckResult = z.infer<typeof SolutionCheckResultSchema>;

/** The statuses with which a script may be evaluated. */
export const RequiredStatusesSchema = z.strictObject({
  leakage: z
    .array(z.enum(CHECK_STATUSES))
    .min(1)
    .max(CHECK_STATUSES.length)
    .readonly()
    .optional()
    .describe('Statuses of the leakage check; default: as `onUncorrected` says.'),
  contamination: z.literal('clean').optional().describe('Needs `contamination`, which has the test case.'),
});
export type RequiredStatuses = z.infer<typeof RequiredStatusesSchema>;

/** The status of a check, from the outcomes of its findings (decision 5). */
export function statusOf(findings: readonly Finding[]): CheckStatus {
  const leaky = findings.filter(({ leakageStatus }) => leakageStatus === 'Yes Data Leakage');
  if (leaky.length === 0) return 'clean';
  const corrected = leaky.filter(({ outcome }) => outcome === 'corrected').length;
  const settled = leaky.filter(({ outcome }) => outcome === 'corrected' || outcome === 'superseded').length;
  if (settled === leaky.length) return 'corrected';
  return corrected === 0 ? 'uncorrected' : 'partly-corrected';
}

export const solutionCheck = defineContract({
  name: 'solution-check',
  summary: 'Finds data leakage in a script, corrects the leaky blocks and returns a script to evaluate.',
  payload: SolutionCheckPayloadSchema,
  result: SolutionCheckResultSchema,
  limits: {},
  suppliedByChild: {},
  defaults: DEFAULT_JOB,
  fieldsSince: { verify: 2, contamination: 2, trial: 2 },
});
