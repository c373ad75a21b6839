import { z } from 'zod';
import { PayloadError } from '../errors.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import { deadlineField } from '../queues/deadline.js';
import { DEFAULT_PRIORITY, MAX_PRIORITY } from '../queues/fairness/schedule-script.js';
import { nameField } from '../queues/names.js';
import { reuseField } from '../queues/reuse.js';
import type { AddOptions } from './add-options.js';

/** Maximum delay, in milliseconds: a year, which the score of a delayed job can represent. */
const MAX_DELAY_MS = 365 * 86_400_000;

/** Two keys must not become one; a NUL separates the parts of the keys that the fleet derives. */
const keyField = nameField(65_536).describe(
  'The pipeline’s name for the work: the same key and payload is the same job.',
);

/** The options of a submission besides its payload, with the rules of every API. */
export const SUBMISSION_FIELDS = {
  key: keyField.optional(),
  force: z.boolean().describe('Runs the job of the key again even if it has ended.').optional(),
  tenant: nameField(200).optional().describe('For whom the job is done; default: its run.'),
  priority: z
    .int()
    .min(1)
    .max(MAX_PRIORITY)
    .optional()
    .describe(`1 is the most urgent; default: ${DEFAULT_PRIORITY}. It orders the jobs of one tenant.`),
  delayMs: z
    .int()
    .nonnegative()
    .max(MAX_DELAY_MS)
    .optional()
    .describe('Wait before the first job may start, in milliseconds.'),
  budgetUsd: z
    .number()
    .nonnegative()
    .max(1e9)
    .optional()
    .describe(
      'What the agent calls of the run may cost, in US dollars; without a run, those of this submission.',
    ),
  deadline: deadlineField.optional(),
  reuse: reuseField.optional(),
};

const SubmissionSchema = z.object(SUBMISSION_FIELDS);
export type SubmissionFields = z.infer<typeof SubmissionSchema>;

/** The options of every submission, of single jobs, batches and flows alike. */
export const ADD_OPTIONS: OptionNames<AddOptions> = {
  key: true,
  force: true,
  tenant: true,
  submitter: true,
  priority: true,
  delayMs: true,
  budgetUsd: true,
  deadline: true,
  reuse: true,
};

/**
 * Validates the options of a submission; a caller without types may pass anything.
 * @throws PayloadError with the invalid field, or the option that does not exist: otherwise a budget that is not a number, or
 *   a misspelled one, would be ignored.
 */
export function checkSubmission(options: AddOptions): void {
  rejectUnknownOptions(options, ADD_OPTIONS);
  if (Object.keys(options).length === 0) return;
  const issue = SubmissionSchema.safeParse(options).error?.issues[0];
  if (issue === undefined) return;
  const field = issue.path.join('.');
  throw new PayloadError('invalid-payload', `${field}: ${issue.message}`, { field });
}
