import type { MessageReply } from './messages-api-replies.js';

/** One server-sent event. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

let messages = 0;

/** The message as a whole, as the API answers without `stream`. */
export function wholeMessage(reply: MessageReply, requestedModel: string): Record<string, unknown> {
  messages += 1;
  return {
    id: `msg_${messages}`,
    type: 'message',
    role: 'assistant',
    model: reply.model ?? requestedModel,
    content: reply.content,
    stop_reason: reply.stopReason,
    stop_sequence: null,
    stop_details: reply.stopDetails ?? null,
    usage: {
      cache_creation: null,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      service_tier: 'standard',
      ...reply.usage,
    },
  };
}

/** The same message as the events of a stream: counts of output come last and are cumulative. */
export function streamEvents(reply: MessageReply, requestedModel: string): StreamEvent[] {
  const whole = wholeMessage(reply, requestedModel);
  const usage = whole.usage as Record<string, unknown>;
  const events: StreamEvent[] = [
    event('message_start', {
      message: {
        ...whole,
        content: [],
        stop_reason: null,
        stop_details: null,
        usage: { ...usage, output_tokens: Math.min(reply.usage.output_tokens, 1) },
      },
    }),
  ];
  reply.content.forEach((block, index) => {
    const { start, deltas } = blockParts(block, reply.deltaSize ?? 40);
    events.push(event('content_block_start', { index, content_block: start }));
    for (const delta of deltas) events.push(event('content_block_delta', { index, delta }));
    events.push(event('content_block_stop', { index }));
  });
  events.push(
    event('message_delta', {
      delta: { stop_reason: reply.stopReason, stop_sequence: null, stop_details: reply.stopDetails ?? null },
      usage: { output_tokens: reply.usage.output_tokens, input_tokens: null, cache_read_input_tokens: null },
    }),
    event('message_stop', {}),
  );
  return reply.pings ? events.flatMap((each) => [each, event('ping', {})]) : events;
}

function event(type: string, fields: Record<string, unknown>): StreamEvent {
  return { event: type, data: JSON.stringify({ type, ...fields }) };
}

function blockParts(block: Record<string, unknown>, size: number): { start: unknown; deltas: unknown[] } {
  if (block.type === 'text') {
    const deltas = pieces(String(block.text), size).map((text) => ({ type: 'text_delta', text }));
    return { start: { ...block, text: '' }, deltas };
  }
  if (block.type === 'thinking') {
    const deltas: unknown[] = pieces(String(block.thinking), size).map((thinking) => ({
      type: 'thinking_delta',
      thinking,
    }));
    return {
      start: { ...block, thinking: '', signature: '' },
      deltas: [...deltas, { type: 'signature_delta', signature: block.signature }],
    };
  }
  if (block.type === 'tool_use') {
    const json = pieces(JSON.stringify(block.input), size);
    return {
      start: { ...block, input: {} },
      deltas: json.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    };
  }
  return { start: block, deltas: [] };
}

/** Cuts between characters, as the API does. */
export function pieces(text: string, size: number): string[] {
  const characters = [...text];
  const found: string[] = [];
  for (let at = 0; at < characters.length; at += size) found.push(characters.slice(at, at + size).join(''));
  return found;
}
