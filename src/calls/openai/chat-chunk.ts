import { z } from 'zod';
import type { TokenCounts } from '../message.js';

/** More than any call has; sums of them stay whole numbers. */
const MAX_TOKENS = 1e9;
const count = z.number().nonnegative().max(MAX_TOKENS).nullish();

const ToolCallSchema = z.looseObject({
  /** Some servers leave it out, or give every call the same. */
  index: z.int().nonnegative().nullish(),
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
  extra_content: z.unknown().optional(),
});
export type ToolCallPiece = z.infer<typeof ToolCallSchema>;

const ContentPartSchema = z.looseObject({ type: z.string(), text: z.string().nullish() });
/** Mistral sends a list of parts if the model thinks; its thoughts are no part of the answer. */
const ContentSchema = z.union([
  z.string(),
  z
    .array(ContentPartSchema)
    .transform((parts) => parts.map(({ type, text }) => (type === 'text' ? (text ?? '') : '')).join('')),
]);

const PieceSchema = z.looseObject({
  content: ContentSchema.nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(ToolCallSchema).nullish(),
});

const ChoiceSchema = z.looseObject({
  index: z.int().nonnegative().nullish(),
  /** Of a chunk. */
  delta: PieceSchema.nullish(),
  /** Of a whole answer. */
  message: PieceSchema.nullish(),
  finish_reason: z.string().nullish(),
});

const UsageSchema = z.looseObject({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_tokens_details: z.looseObject({ cached_tokens: count }).nullish(),
});

/** A chunk of a stream, or a whole answer of the Chat Completions API. */
export const ChatChunkSchema = z
  .looseObject({
    id: z.string().nullish(),
    model: z.string().nullish(),
    choices: z.array(ChoiceSchema).nullish(),
    /** Counts that cannot be right are not known; the answer is paid for all the same. */
    usage: UsageSchema.nullish().catch(null),
  })
  // Some servers leave out the choices where there are only counts.
  .refine(({ choices, usage }) => choices != null || usage !== undefined);
export type ChatChunk = z.infer<typeof ChatChunkSchema>;

/** Counts of a call. The API counts cached input as input, and hidden reasoning as output. */
export function chatTokens(usage: NonNullable<ChatChunk['usage']>): TokenCounts {
  const prompt = Math.round(usage.prompt_tokens ?? 0);
  const cached = Math.min(prompt, Math.round(usage.prompt_tokens_details?.cached_tokens ?? 0));
  return {
    inputTokens: prompt - cached,
    outputTokens: Math.round(usage.completion_tokens ?? 0),
    cacheReadTokens: cached,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
  };
}

/** Counts of chunks are those of the whole answer so far, so none gets smaller. */
export function moreTokens(before: TokenCounts | undefined, now: TokenCounts): TokenCounts {
  if (before === undefined) return now;
  // The sizes of both parts of the prompt go together.
  const prompt = promptTokens(now) < promptTokens(before) ? before : now;
  return { ...prompt, outputTokens: Math.max(before.outputTokens, now.outputTokens) };
}

function promptTokens({ inputTokens, cacheReadTokens }: TokenCounts): number {
  return inputTokens + cacheReadTokens;
}
