import { z } from 'zod';
import { PayloadError } from '../errors.js';
import { firstIssue } from '../queues/validate.js';

/** A known solution as it is handed in, one line of a JSONL file. */
export const KnownInputSchema = z.strictObject({
  testCaseId: z.string().min(1).max(1_000),
  solution: z.string().min(1),
  language: z.string().min(1).max(50).optional(),
  addedToTraining: z.iso.datetime({ offset: true }).optional(),
});
export type KnownInput = z.infer<typeof KnownInputSchema>;

/** A known solution as the set keeps and exports it. */
export interface KnownEntry extends KnownInput {
  readonly hash: string;
  readonly addedToTraining: string;
}

/**
 * Validates a known solution.
 * @throws PayloadError `invalid-payload` with the field at fault.
 */
export function parseKnownInput(data: unknown): KnownInput {
  const parsed = KnownInputSchema.safeParse(data);
  if (parsed.success) return parsed.data;
  const { field, message } = firstIssue(parsed.error);
  throw new PayloadError('invalid-payload', `known solution: ${field || 'entry'}: ${message}`, { field });
}
