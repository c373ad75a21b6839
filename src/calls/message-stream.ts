import { z } from 'zod';
import {
  type ContentBlock,
  ContentBlockSchema,
  parseToolInput,
  type ReceivedMessage,
  receivedMessage,
  type TokenCounts,
  tokensOf,
  type WireMessage,
  WireMessageSchema,
  type WireUsage,
  WireUsageSchema,
} from './message.js';
import { CallFault } from './outcome.js';

const index = z.int().nonnegative();

const StreamEventSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('message_start'), message: WireMessageSchema }),
  z.looseObject({ type: z.literal('content_block_start'), index, content_block: ContentBlockSchema }),
  z.looseObject({
    type: z.literal('content_block_delta'),
    index,
    delta: z.looseObject({ type: z.string() }),
  }),
  z.looseObject({ type: z.literal('content_block_stop'), index }),
  z.looseObject({
    type: z.literal('message_delta'),
    delta: WireMessageSchema.pick({ stop_reason: true, stop_details: true }).loose(),
    usage: WireUsageSchema.nullish(),
  }),
  z.looseObject({ type: z.literal('message_stop') }),
]);
const KNOWN_EVENTS: ReadonlySet<string> = new Set(
  StreamEventSchema.options.map((option) => option.shape.type.value),
);
type StreamEvent = z.infer<typeof StreamEventSchema>;
type Delta = Extract<StreamEvent, { type: 'content_block_delta' }>['delta'];

/** Text that grows by one delta after the other: field of the delta, field of the block. */
const GROWING: Readonly<Record<string, readonly [from: string, to: string]>> = {
  text_delta: ['text', 'text'],
  thinking_delta: ['thinking', 'thinking'],
  signature_delta: ['signature', 'signature'],
  input_json_delta: ['partial_json', 'input'],
};

interface OpenBlock {
  readonly start: ContentBlock;
  readonly grown: Map<string, string[]>;
}

/**
 * Assembles a message from the events of its stream. Unknown event and delta types are ignored, as the API's
 * versioning rules require.
 */
export class MessageStream {
  #start: WireMessage | undefined;
  readonly #blocks: OpenBlock[] = [];
  #ended = false;

  /** Whether the stream's end event has come. Without it the message is not whole. */
  get ended(): boolean {
    return this.#ended;
  }

  /** What has been counted so far; undefined before the first event. */
  get tokens(): TokenCounts | undefined {
    return this.#start === undefined ? undefined : tokensOf(this.#start.usage);
  }

  /** @throws {CallFault} `incomplete`: an event that is cut, malformed or out of order. */
  accept(name: string, data: string): void {
    if (KNOWN_EVENTS.has(name)) this.#apply(parseEvent(name, data));
  }

  /** The message as it was received. @throws {CallFault} `incomplete`: it is not whole. */
  finish(): ReceivedMessage {
    if (!this.#start || !this.#ended) throw this.#broken('the stream ended without its end event');
    const message = receivedMessage({ ...this.#start, content: this.#blocks.map(closeBlock) });
    if (!message) throw this.#broken('the message ended without a stop reason');
    return message;
  }

  #apply(event: StreamEvent): void {
    if (event.type === 'message_start') {
      if (this.#start) throw this.#broken('a second message began inside the stream');
      this.#start = event.message;
      return;
    }
    const start = this.#start;
    if (!start) throw this.#broken(`the stream began with ${event.type}`);
    switch (event.type) {
      case 'content_block_start':
        if (event.index !== this.#blocks.length) throw this.#broken('a content block is missing');
        this.#blocks.push({ start: event.content_block, grown: new Map() });
        break;
      case 'content_block_delta':
        this.#grow(event.index, event.delta);
        break;
      case 'message_delta':
        start.stop_reason = event.delta.stop_reason ?? start.stop_reason;
        start.stop_details = event.delta.stop_details ?? start.stop_details;
        start.usage = grownCounts(start.usage ?? {}, event.usage ?? {});
        break;
      case 'message_stop':
        this.#ended = true;
        break;
      case 'content_block_stop':
        break;
    }
  }

  #grow(at: number, delta: Delta): void {
    const block = this.#blocks[at];
    if (!block) throw this.#broken('a delta names a content block that has not begun');
    const fields = GROWING[delta.type];
    const piece = fields && delta[fields[0]];
    if (!fields || typeof piece !== 'string') return;
    const pieces = block.grown.get(fields[1]);
    if (pieces) pieces.push(piece);
    else block.grown.set(fields[1], [piece]);
  }

  #broken(detail: string): CallFault {
    return new CallFault({ class: 'incomplete', detail, ...(this.tokens ? { tokens: this.tokens } : {}) });
  }
}

function parseEvent(name: string, data: string): StreamEvent {
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch (cause) {
    throw new CallFault({ class: 'incomplete', detail: `the event ${name} is cut or no JSON` }, cause);
  }
  const parsed = StreamEventSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new CallFault({ class: 'incomplete', detail: `the event ${name} has not the shape it should have` });
}

function closeBlock({ start, grown }: OpenBlock): ContentBlock {
  const block: ContentBlock = { ...start };
  for (const [field, pieces] of grown) {
    const text = pieces.join('');
    if (field === 'input') block.input = parseToolInput(text);
    else block[field] = (typeof start[field] === 'string' ? start[field] : '') + text;
  }
  return block;
}

/** Counts of a delta are cumulative, so none gets smaller; a delta may omit some. */
function grownCounts(before: WireUsage, delta: WireUsage): WireUsage {
  const grown = Object.entries(delta).flatMap(([name, value]) => {
    const had = before[name];
    if (value == null) return [];
    return [[name, typeof value === 'number' && typeof had === 'number' ? Math.max(had, value) : value]];
  });
  return { ...before, ...Object.fromEntries(grown) };
}
