import { z } from 'zod';
import { ContaminationConfigInputSchema } from '../contamination/config.js';
import { nameField } from './names.js';

/** Maximum number of thoughts in one answer. */
const MAX_THOUGHTS = 10_000;

/** The task that an answer is compared for, and how the answer was found. */
const TestCaseSchema = z.strictObject({
  id: nameField(1_000),
  name: z.string().max(1_000),
  difficulty: z.enum(['easy', 'medium', 'hard']),
  solveTime: z.number().positive().optional().describe('Milliseconds that the answer took.'),
  thoughtChain: z.array(z.string()).max(MAX_THOUGHTS).optional(),
  starter: z.string().optional().describe('Text that the task hands out; matches with it do not count.'),
});

/** What a contamination check needs besides the text. */
export const contaminationFields = {
  testCase: TestCaseSchema,
  config: ContaminationConfigInputSchema.optional(),
};

/** How a script is compared with the fleet's known solutions after its leakage check. */
export const ContaminationSettingsSchema = z.strictObject(contaminationFields);
export type ContaminationSettings = z.infer<typeof ContaminationSettingsSchema>;

const CONTAMINATION_STATUSES = ['clean', 'contaminated', 'not-compared'] as const;

/** What the contamination check of a checked script found. */
export const ScriptContaminationSchema = z.strictObject({
  status: z
    .enum(CONTAMINATION_STATUSES)
    .describe('not-compared: there was no known solution to compare the script with.'),
  digest: z.string().describe('SHA-256 of the script that was compared.'),
  testCaseId: z.string(),
  reason: z.string().optional(),
  confidence: z.number().min(0).max(1).describe('How likely that is right.'),
});
export type ScriptContamination = z.infer<typeof ScriptContaminationSchema>;
