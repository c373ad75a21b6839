/**
 * Scripted answers of the stand-in for the Messages API. Replies are plain data, so they can also be passed to a stand-in
 * in another process as JSON.
 */
export interface MessageReply {
  readonly kind: 'message';
  readonly content: readonly Record<string, unknown>[];
  readonly stopReason: string | null;
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cache_creation_input_tokens?: number;
    readonly cache_read_input_tokens?: number;
  };
  /** Default: the requested model. */
  readonly model?: string;
  readonly stopDetails?: Record<string, unknown>;
  /** Answers with JSON although a stream was requested. */
  readonly asJson?: boolean;
  /** Sent with the response, such as `anthropic-ratelimit-*`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Characters of text in one delta. Default: 40. */
  readonly deltaSize?: number;
  /** A `ping` between any two events. */
  readonly pings?: boolean;
  readonly fault?: StreamFault;
}

/** What goes wrong once `after` events (or, as JSON, `after` characters) have been sent. */
interface StreamFault {
  readonly after: number;
  readonly effect:
    | { readonly what: 'end' }
    | { readonly what: 'reset' }
    | { readonly what: 'hang' }
    | { readonly what: 'event'; readonly event: string; readonly data: string };
}

/** A response with any status and body: errors, pages of proxies. */
export interface RawReply {
  readonly kind: 'raw';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** No response: the connection stays open in silence, or is reset. */
export interface NoReply {
  readonly kind: 'hang' | 'reset';
}

export type Reply = (MessageReply | RawReply | NoReply) & {
  /** Milliseconds before anything is sent. */
  readonly delayMs?: number;
};

type MessageOptions = Partial<Omit<MessageReply, 'kind' | 'content'>>;

/** A message with any content blocks. */
export function messageReply(
  content: readonly Record<string, unknown>[],
  options: MessageOptions = {},
): MessageReply {
  return {
    kind: 'message',
    content,
    stopReason: 'end_turn',
    usage: { input_tokens: 100, output_tokens: 20 },
    ...options,
  };
}

export function textReply(text: string, options: MessageOptions = {}): MessageReply {
  return messageReply([{ type: 'text', text }], options);
}

/** Structured output: the value as JSON text. */
export function jsonReply(value: unknown, options: MessageOptions = {}): MessageReply {
  return textReply(JSON.stringify(value), options);
}

let toolUses = 0;

export function toolUseReply(
  name: string,
  input: Record<string, unknown>,
  options: MessageOptions = {},
): MessageReply {
  toolUses += 1;
  return messageReply([{ type: 'tool_use', id: `toolu_${toolUses}`, name, input }], {
    stopReason: 'tool_use',
    ...options,
  });
}

/** Cut off by the token limit. */
export function truncatedReply(text: string, options: MessageOptions = {}): MessageReply {
  return textReply(text, { stopReason: 'max_tokens', ...options });
}

export function pausedReply(text: string, options: MessageOptions = {}): MessageReply {
  return textReply(text, { stopReason: 'pause_turn', ...options });
}

export function refusalReply(category: string | null = null, options: MessageOptions = {}): MessageReply {
  return messageReply([], {
    stopReason: 'refusal',
    stopDetails: { type: 'refusal', category, explanation: 'This request was declined.' },
    ...options,
  });
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** An error as the API words it: right body for the status. */
export function errorReply(
  status: number,
  message = `error ${status}`,
  headers: Record<string, string> = {},
): RawReply {
  return {
    kind: 'raw',
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ type: 'error', error: { type: ERROR_TYPES[status] ?? 'api_error', message } }),
  };
}

export function rateLimitReply(retryAfter?: string): RawReply {
  return errorReply(
    429,
    'This request would exceed the rate limit',
    retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  );
}

export function overloadedReply(): RawReply {
  return errorReply(529, 'Overloaded');
}

/** A page of a proxy. */
export function htmlReply(status = 200): RawReply {
  return {
    kind: 'raw',
    status,
    headers: { 'content-type': 'text/html' },
    body: '<html><body>Bad gateway</body></html>',
  };
}

/** JSON under the status 200 that is cut in the middle. */
export function cutJsonReply(): RawReply {
  return {
    kind: 'raw',
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"type":"message","content":[{"type":"text","te',
  };
}

export const hangReply: NoReply = { kind: 'hang' };
export const resetReply: NoReply = { kind: 'reset' };

/** The stream ends after so many events, without its end event. */
export function cutAfter(reply: MessageReply, events: number): MessageReply {
  return { ...reply, fault: { after: events, effect: { what: 'end' } } };
}

/** The connection is reset after so many events. */
export function resetAfter(reply: MessageReply, events: number): MessageReply {
  return { ...reply, fault: { after: events, effect: { what: 'reset' } } };
}

/** The stream falls silent after so many events. */
export function stalledAfter(reply: MessageReply, events: number): MessageReply {
  return { ...reply, fault: { after: events, effect: { what: 'hang' } } };
}

/** An error event comes inside the stream after so many events. */
export function errorAfter(
  reply: MessageReply,
  events: number,
  type = 'overloaded_error',
  message = 'Overloaded',
): MessageReply {
  const data = JSON.stringify({ type: 'error', error: { type, message } });
  return { ...reply, fault: { after: events, effect: { what: 'event', event: 'error', data } } };
}
