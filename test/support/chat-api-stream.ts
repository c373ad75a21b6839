import type { MessageReply } from './messages-api-replies.js';
import { pieces, type StreamEvent } from './messages-api-stream.js';

/** Finish reasons of the Chat Completions API by stop reasons; any other is sent as it is. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'stop',
};

let completions = 0;

interface ChatMessage {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly refusal: string | null;
  readonly tool_calls?: readonly Record<string, unknown>[];
}

/** A reply as a whole chat completion, as the API answers without `stream`. */
export function wholeChat(reply: MessageReply, model: string): Record<string, unknown> {
  const choice = { index: 0, message: messageOf(reply), logprobs: null, finish_reason: finishOf(reply) };
  return { ...baseOf(reply, model), object: 'chat.completion', choices: [choice], usage: usageOf(reply) };
}

/** The same as the chunks of a stream: the counts come last, in a chunk without a choice. */
export function chatEvents(reply: MessageReply, model: string): StreamEvent[] {
  const base = { ...baseOf(reply, model), object: 'chat.completion.chunk' };
  const chunk = (delta: object, finish_reason: string | null = null) =>
    data({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null });
  const { content, refusal, tool_calls = [] } = messageOf(reply);
  const size = reply.deltaSize ?? 40;
  return [
    chunk({ role: 'assistant', content: '', refusal: null }),
    ...pieces(content ?? '', size).map((text) => chunk({ content: text })),
    ...pieces(refusal ?? '', size).map((text) => chunk({ refusal: text })),
    ...tool_calls.flatMap((call, index) =>
      callChunks(call, index, size).map((each) => chunk({ tool_calls: [each] })),
    ),
    chunk({}, finishOf(reply)),
    data({ ...base, choices: [], usage: usageOf(reply) }),
    { event: '', data: '[DONE]' },
  ];
}

/** How many events of a stream come before the one with the finish reason: a stream that breaks later is whole. */
export function unfinishedEvents(events: readonly StreamEvent[]): number {
  return events.findIndex(({ data: text }) => /"finish_reason":"/.test(text));
}

function callChunks(call: Record<string, unknown>, index: number, size: number): Record<string, unknown>[] {
  const { name, arguments: json } = call.function as { name: string; arguments: string };
  return [
    { ...call, index, function: { name, arguments: '' } },
    ...pieces(json, size).map((piece) => ({ index, function: { arguments: piece } })),
  ];
}

function messageOf({ content, stopReason, stopDetails }: MessageReply): ChatMessage {
  const text = content.map((block) => (block.type === 'text' ? String(block.text) : '')).join('');
  const calls = content.flatMap((block) =>
    block.type === 'tool_use'
      ? [
          {
            id: block.id,
            type: 'function',
            function: { name: block.name, arguments: JSON.stringify(block.input) },
          },
        ]
      : [],
  );
  const why = [stopDetails?.category, stopDetails?.explanation].filter(Boolean).join(': ');
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    refusal: stopReason === 'refusal' ? why || 'I cannot help with that.' : null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function finishOf({ stopReason }: MessageReply): string | null {
  return stopReason === null || !Object.hasOwn(FINISH_REASONS, stopReason)
    ? stopReason
    : (FINISH_REASONS[stopReason] ?? null);
}

/** The API counts cached input as input. */
function usageOf({ usage }: MessageReply): Record<string, unknown> {
  const { input_tokens, output_tokens, cache_read_input_tokens: cached = 0 } = usage;
  return {
    prompt_tokens: input_tokens + cached,
    completion_tokens: output_tokens,
    total_tokens: input_tokens + cached + output_tokens,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

function baseOf(reply: MessageReply, model: string): Record<string, unknown> {
  completions += 1;
  return { id: `chatcmpl-${completions}`, created: 1_790_000_000, model: reply.model ?? model };
}

function data(chunk: object): StreamEvent {
  return { event: '', data: JSON.stringify(chunk) };
}
