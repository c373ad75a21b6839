import { z } from 'zod';
import { StoredAnswerSchema } from '../calls/ledger/stored-answer.js';
import { OUTCOMES, type OutcomeClass } from '../calls/outcome.js';
import { UsageError } from '../errors.js';
import { EndedCallSchema } from '../queues/call-record.js';
import { JobFailureSchema } from '../queues/failure.js';
import { CORRECTION_WAYS, OPINIONS } from '../queues/solution-check.js';
import { firstIssue } from '../queues/validate.js';

const price = z.number().nonnegative();
const prices = { input: price, output: price, cacheRead: price, cacheWrite: price, cacheWrite1h: price };

/** One agent call of a recorded job, in the order in which calls were first sent. */
const RecordedCallSchema = z.strictObject({
  /** Name of its conversation within the job. */
  step: z.string(),
  /** Number of the call within the conversation, from 1. */
  turn: z.int().positive(),
  model: z.string(),
  state: EndedCallSchema.shape.state,
  outcome: z.enum(Object.keys(OUTCOMES) as [OutcomeClass, ...OutcomeClass[]]),
  /** What happened, where there is no answer. */
  detail: z.string().optional(),
  tokens: EndedCallSchema.shape.tokens,
  answer: StoredAnswerSchema.optional(),
  /** Set if another job paid for the answer. */
  reused: z.literal(true).optional(),
});
export type RecordedCall = z.infer<typeof RecordedCallSchema>;

/** A request of the processor to a model, as it was sent: all that the model saw. */
const RecordedRequestSchema = z.strictObject({
  step: z.string(),
  turn: z.int().positive(),
  system: z.string(),
  messages: z.array(z.strictObject({ role: z.string(), content: z.unknown() })),
});
export type RecordedRequest = z.infer<typeof RecordedRequestSchema>;

/**
 * A job that ended, with all that it takes to run it again without a network: its payload, the answers of the model, and the
 * settings that decide what it does with them. Known secrets, and texts that look like one, are replaced.
 */
export const RecordingSchema = z.strictObject({
  /** Version of this format. */
  recording: z.literal(1),
  /** Version of solution-fleet that wrote it. */
  writtenBy: z.string(),
  kind: z.string(),
  jobId: z.string(),
  /** Complete: with the fields that other jobs supplied. */
  payload: z.record(z.string(), z.unknown()),
  settings: z.strictObject({
    runner: z.enum(['anthropic', 'openai', 'offline']),
    opinion: z.enum(OPINIONS),
    /** Absent: the default. */
    auditFraction: z.number().min(0).max(1).optional(),
    /** Absent: the default. */
    corrections: z.enum(CORRECTION_WAYS).optional(),
    maxTokens: z.int().positive(),
    /** Model of requests that name none. */
    model: z.string().optional(),
    /** Prices of the models that answered, in US dollars for a million tokens; null if they were not known. */
    prices: z.record(
      z.string(),
      z
        .strictObject({ ...prices, longPrompt: z.strictObject({ ...prices, above: price }).optional() })
        .nullable(),
    ),
  }),
  calls: z.array(RecordedCallSchema),
  requests: z.array(RecordedRequestSchema),
  /** How the job ended. */
  end: z.union([
    z.strictObject({ result: z.record(z.string(), z.unknown()) }),
    z.strictObject({ failure: JobFailureSchema }),
  ]),
});
export type Recording = z.infer<typeof RecordingSchema>;
export type RecordedEnd = Recording['end'];

/** @throws UsageError if the text is no recording. */
export function parseRecording(text: string, name: string): Recording {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new UsageError('usage', `${name}: is no recording of a job: it is no JSON`, { cause });
  }
  const parsed = RecordingSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const { field, message } = firstIssue(parsed.error);
  throw new UsageError('usage', `${name}: is no recording of a job: ${field}: ${message}`, { field });
}
