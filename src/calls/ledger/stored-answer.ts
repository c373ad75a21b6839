import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { messageOf } from '../../errors.js';
import { type RecordReading, readRecord } from '../../queues/read-record.js';
import { ContentBlockSchema, type ReceivedMessage } from '../message.js';

const count = z.int().nonnegative();

export const StoredAnswerSchema = z.object({
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

/** Answers are small; the fastest level already saves most of what can be saved. */
const LEVEL = 1;
/** For fewer bytes compression saves little, and setting it up is a third of what a call costs a worker. */
const MIN_COMPRESSED_BYTES = 512;
/** No answer has more; a stored text that claims to is not one. */
const MAX_BYTES = 64 * 2 ** 20;

/** A whole message as the bytes that are stored. */
export function packAnswer(message: ReceivedMessage): Buffer {
  const bytes = Buffer.from(JSON.stringify(message), 'utf8');
  return bytes.length < MIN_COMPRESSED_BYTES ? storedBlock(bytes) : deflateRawSync(bytes, { level: LEVEL });
}

/** A deflate stream (RFC 1951, section 3.2.4) of one block that is not compressed; any inflater reads it. */
function storedBlock(bytes: Buffer): Buffer {
  const block = Buffer.allocUnsafe(5 + bytes.length);
  block.writeUInt8(1);
  block.writeUInt16LE(bytes.length, 1);
  block.writeUInt16LE(0xffff - bytes.length, 3);
  bytes.copy(block, 5);
  return block;
}

/** The message of stored bytes, or why they cannot be understood. */
export function unpackAnswer(bytes: Buffer): RecordReading<ReceivedMessage> {
  let text: string;
  try {
    text = inflateRawSync(bytes, { maxOutputLength: MAX_BYTES }).toString('utf8');
  } catch (thrown) {
    return { broken: `its ${bytes.length} bytes cannot be expanded: ${messageOf(thrown)}` };
  }
  const reading = readRecord(StoredAnswerSchema, text) ?? { broken: 'there is none' };
  if (reading.value === undefined) return reading;
  const { id, model, refusal, ...fields } = reading.value;
  return { value: { ...fields, id, model, refusal } };
}
