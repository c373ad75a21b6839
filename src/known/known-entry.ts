import { z } from 'zod';
import { JobError, PayloadError } from '../errors.js';
import { readRecord } from '../queues/read-record.js';
import { firstIssue } from '../queues/validate.js';

/** A known solution as input, one line of a JSONL file. */
const KnownInputSchema = z.strictObject({
  testCaseId: z.string().min(1).max(1_000),
  solution: z.string().regex(/\S/, 'must be more than white space'),
  language: z.string().min(1).max(50).optional(),
  addedToTraining: z.iso.datetime({ offset: true }).optional(),
});
export type KnownInput = z.infer<typeof KnownInputSchema>;

const KnownEntrySchema = KnownInputSchema.extend({ hash: z.string(), addedToTraining: z.string() }).loose();

/** A known solution as the set stores and exports it. */
export interface KnownEntry extends KnownInput {
  readonly hash: string;
  readonly addedToTraining: string;
}

/**
 * Reads an entry of the set. A damaged one is not skipped: an output could be a copy of it.
 * @param field Field of the entry in the set.
 * @throws JobError `broken-record`.
 */
export function parseKnownEntry(field: string, text: string): KnownEntry {
  const reading = readRecord(KnownEntrySchema, text);
  if (reading?.value !== undefined) return reading.value;
  throw new JobError('broken-record', `the known solution ${field} cannot be read: ${reading?.broken}`);
}

/**
 * Validates a known solution.
 * @throws PayloadError `invalid-payload` with the invalid field.
 */
export function parseKnownInput(data: unknown): KnownInput {
  const parsed = KnownInputSchema.safeParse(data);
  if (parsed.success) return parsed.data;
  const { field, message } = firstIssue(parsed.error);
  throw new PayloadError('invalid-payload', `known solution: ${field || 'entry'}: ${message}`, { field });
}
