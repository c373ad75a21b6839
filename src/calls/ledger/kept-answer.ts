import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { ContentBlockSchema, type ReceivedMessage } from '../message.js';

const count = z.int().nonnegative();

const KeptAnswerSchema = z.object({
  id: z.string().optional(),
  model: z.string().optional(),
  content: z.array(ContentBlockSchema),
  stopReason: z.string(),
  refusal: z.string().optional(),
  tokens: z.object({
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    cacheWrite1hTokens: count,
  }),
});

/** Answers are small; the fastest level already takes most of what there is to take. */
const LEVEL = 1;
/** No answer has more; a stored text that claims to is not one. */
const MOST_BYTES = 64 * 2 ** 20;

/** A whole message as the bytes that are stored. */
export function packAnswer(message: ReceivedMessage): Buffer {
  return deflateRawSync(Buffer.from(JSON.stringify(message), 'utf8'), { level: LEVEL });
}

/** The message of stored bytes. @throws where they are not of this version's making. */
export function unpackAnswer(bytes: Buffer): ReceivedMessage {
  const text = inflateRawSync(bytes, { maxOutputLength: MOST_BYTES }).toString('utf8');
  const { id, model, refusal, ...kept } = KeptAnswerSchema.parse(JSON.parse(text));
  return { ...kept, id, model, refusal };
}
