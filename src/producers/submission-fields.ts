import { z } from 'zod';
import { PayloadError } from '../errors.js';
import { MAX_PRIORITY } from '../queues/fairness/schedule-script.js';
import { nameField } from '../queues/names.js';

/** Longest delay, in milliseconds: a year, which the score of a delayed job can hold. */
const MAX_DELAY_MS = 365 * 86_400_000;

/** Two keys must not become one; the NUL separates the parts of the keys that the fleet itself makes. */
const keyField = nameField(65_536).describe(
  'The pipeline’s own name for the work: the same key and payload is the same job.',
);

/** How a job is submitted, besides its payload: the rules of every door. */
export const SUBMISSION_FIELDS = {
  key: keyField.optional(),
  force: z.boolean().describe('Runs a job anew although the job of its key has ended.').optional(),
  tenant: nameField(200).optional().describe('For whom the job is done; default: its run.'),
  priority: z.int().min(1).max(MAX_PRIORITY).optional().describe('1 is the most urgent.'),
  delayMs: z.int().nonnegative().max(MAX_DELAY_MS).optional(),
  budgetUsd: z.number().nonnegative().max(1e9).optional(),
};

const SubmissionSchema = z.object(SUBMISSION_FIELDS);

/**
 * Holds the options of a submission against the rules, whatever they were typed as.
 * @throws PayloadError with the field at fault: a budget that is no number would else be none.
 */
export function checkSubmission(options: object): void {
  if (Object.keys(options).length === 0) return;
  const issue = SubmissionSchema.safeParse(options).error?.issues[0];
  if (issue === undefined) return;
  const field = issue.path.join('.');
  throw new PayloadError('invalid-payload', `${field}: ${issue.message}`, { field });
}
