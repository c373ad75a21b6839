import { z } from 'zod';

/** Tokens that the provider counted for one call. Cached input is not part of `inputTokens`. */
export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  /** All cache writes. */
  readonly cacheWriteTokens: number;
  /** Those of them that are kept for an hour, which cost more. */
  readonly cacheWrite1hTokens: number;
}

/** More than any call has; sums of them stay whole numbers. */
const MAX_TOKENS = 1e9;
const count = z.number().nonnegative().max(MAX_TOKENS).nullish();

export const WireUsageSchema = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  cache_creation: z.looseObject({ ephemeral_1h_input_tokens: count }).nullish(),
});
export type WireUsage = z.infer<typeof WireUsageSchema>;

/** A block of any type. It is kept whole, since the next request of a conversation must repeat it unchanged. */
export const ContentBlockSchema = z.looseObject({ type: z.string() });
export type ContentBlock = z.infer<typeof ContentBlockSchema>;

const StopDetailsSchema = z
  .looseObject({ category: z.string().nullish(), explanation: z.string().nullish() })
  .nullish();

/** A message as it comes over the wire, whole or as the start of a stream. */
export const WireMessageSchema = z.looseObject({
  type: z.literal('message'),
  id: z.string().nullish(),
  model: z.string().nullish(),
  content: z.array(ContentBlockSchema),
  stop_reason: z.string().nullish(),
  stop_details: StopDetailsSchema,
  usage: WireUsageSchema.nullish(),
});
export type WireMessage = z.infer<typeof WireMessageSchema>;

/** A whole message. */
export interface ReceivedMessage {
  readonly id: string | undefined;
  /** The model that answered; it may be a dated name of the requested one. */
  readonly model: string | undefined;
  readonly content: readonly ContentBlock[];
  readonly stopReason: string;
  /** Why it was refused, where the provider says so. */
  readonly refusal: string | undefined;
  readonly tokens: TokenCounts;
}

export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

const ToolUseBlockSchema = z.object({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.unknown(),
});

export function tokensOf(usage: WireUsage | null | undefined): TokenCounts {
  return {
    inputTokens: whole(usage?.input_tokens),
    outputTokens: whole(usage?.output_tokens),
    cacheReadTokens: whole(usage?.cache_read_input_tokens),
    cacheWriteTokens: whole(usage?.cache_creation_input_tokens),
    cacheWrite1hTokens: whole(usage?.cache_creation?.ephemeral_1h_input_tokens),
  };
}

function whole(tokens: number | null | undefined): number {
  return Math.round(tokens ?? 0);
}

/** Many times the longest answer of a model: an answer is sent again with each later call of its conversation. */
const MAX_CONTENT = 6 * 2 ** 20;
const MAX_BLOCKS = 1_000;

/** Which limit the content of a message exceeds, in words; undefined if none. */
export function tooMuchContent(content: readonly ContentBlock[]): string | undefined {
  if (content.length > MAX_BLOCKS) return `the answer has more than ${MAX_BLOCKS} content blocks`;
  try {
    if (JSON.stringify(content).length <= MAX_CONTENT) return undefined;
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return 'the answer is nested too deeply';
  }
  return `the answer has more than ${MAX_CONTENT} characters`;
}

/** A whole message of a wire message; null if it has no stop reason, so is not whole. */
export function receivedMessage(wire: WireMessage): ReceivedMessage | null {
  if (wire.stop_reason == null) return null;
  const details = [wire.stop_details?.category, wire.stop_details?.explanation].filter(Boolean).join(': ');
  return {
    id: wire.id ?? undefined,
    model: wire.model == null ? undefined : shortName(wire.model),
    content: wire.content,
    stopReason: wire.stop_reason,
    refusal: details === '' ? undefined : details,
    tokens: tokensOf(wire.usage),
  };
}

const MAX_NAME = 200;

/** A name as one short line: it goes into results and logs. */
export function shortName(text: string): string {
  return text.slice(0, MAX_NAME).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?');
}

/** All text of a message, in order. */
export function textOf(message: ReceivedMessage): string {
  return message.content
    .map((block) => (block.type === 'text' && typeof block.text === 'string' ? block.text : ''))
    .join('');
}

export function toolUsesOf(message: ReceivedMessage): ToolUse[] {
  return message.content.flatMap((block) => toolUseOf(block) ?? []);
}

export function toolUseOf(block: ContentBlock): ToolUse | undefined {
  return ToolUseBlockSchema.safeParse(block).data;
}

/** Input of a tool. An input that is cut off by the token limit stays a text, which no tool accepts. */
export function parseToolInput(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
