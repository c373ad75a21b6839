import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BatchesApi, type BatchLine } from './batches-api.js';
import { asMessagesBody, type ChatBody } from './chat-api-request.js';
import { chatEvents, unfinishedEvents, wholeChat } from './chat-api-stream.js';
import { errorReply, type MessageReply, type Reply } from './messages-api-replies.js';
import { type StreamEvent, streamEvents, wholeMessage } from './messages-api-stream.js';

export * from './messages-api-replies.js';

/** The body of a request, as far as tests look at it. */
interface RequestBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly stream?: boolean;
  readonly system?: readonly { readonly text: string; readonly cache_control?: unknown }[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly tool_choice?: { readonly type: string };
  readonly output_config?: {
    readonly format?: { readonly type: string; readonly schema: Record<string, unknown> };
  };
}

export interface RecordedRequest {
  readonly body: RequestBody;
  /** The body as it was sent. */
  readonly json: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** All text of the request: system and messages. */
  readonly text: string;
  /** Resolves when the connection has been closed by the other side before the answer was whole. */
  readonly aborted: Promise<void>;
}

/** Answers by hand: one reply for each request, in order, or a function of the request. */
export type Script = readonly Reply[] | ((request: RecordedRequest, index: number) => Reply | Promise<Reply>);

export interface MessagesApi {
  /** For `baseURL` or `ANTHROPIC_BASE_URL`. */
  readonly url: string;
  /** All requests so far. */
  readonly requests: readonly RecordedRequest[];
  /** Resolves once so many requests have come. */
  arrived(count: number): Promise<void>;
  /** Its Message Batches API. */
  readonly batches: BatchesApi;
  close(): Promise<void>;
}

/**
 * A stand-in for the Messages API: a real HTTP server that speaks its shapes and answers by script. A request
 * beyond the script gets a 400 that says so. It speaks the Chat Completions API as well; the same replies have its shapes
 * there, and its requests are recorded in the form of the Messages API.
 *
 * @example
 * const api = await startMessagesApi({ reply: [textReply('hello'), errorReply(401)] });
 */
export async function startMessagesApi(options: {
  readonly reply: Script;
  readonly port?: number;
  /** Address to listen on; default: loopback. */
  readonly host?: string;
}): Promise<MessagesApi> {
  const { host = '127.0.0.1' } = options;
  const requests: RecordedRequest[] = [];
  let lines = 0;
  const batches = new BatchesApi((line) => {
    lines += 1;
    return replyTo(options.reply, recordedLine(line), lines - 1);
  });
  const arrivals: { count: number; resolve: () => void }[] = [];

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(incoming);
    if (incoming.url?.startsWith('/v1/messages/batches')) {
      await batches.handle(incoming, text, response);
      return;
    }
    const isChat = incoming.url?.startsWith('/chat/completions') === true;
    if (incoming.method !== 'POST' || !(isChat || incoming.url?.startsWith('/v1/messages'))) {
      await send(errorReply(404, 'no such route'), response, '', false, MESSAGES);
      return;
    }
    const json: unknown = JSON.parse(text);
    const body: RequestBody = isChat ? asMessagesBody(json as ChatBody) : (json as RequestBody);
    const request: RecordedRequest = {
      ...recorded(json, body),
      headers: incoming.headers,
      aborted: new Promise((resolve) => {
        response.on('close', () => {
          if (!response.writableFinished) resolve();
        });
      }),
    };
    const index = requests.push(request) - 1;
    for (const arrival of arrivals) if (requests.length >= arrival.count) arrival.resolve();
    const reply = await replyTo(options.reply, request, index);
    await send(reply, response, body.model, body.stream === true, isChat ? CHAT : MESSAGES);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    requests,
    batches,
    arrived: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) resolve();
        else arrivals.push({ count, resolve });
      }),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

/** A request of a batch as one that came by itself. */
export function recordedLine({ params }: BatchLine): RecordedRequest {
  return recorded(params, params as RequestBody);
}

function recorded(json: unknown, body: RequestBody): RecordedRequest {
  return {
    body,
    json,
    headers: {},
    text: [
      ...(body.system ?? []).map((block) => block.text),
      ...body.messages.map((message) => textIn(message.content)),
    ].join('\n\n'),
    aborted: new Promise(() => undefined),
  };
}

async function replyTo(script: Script, request: RecordedRequest, index: number): Promise<Reply> {
  if (typeof script === 'function') return script(request, index);
  return script[index] ?? errorReply(400, `the script of this stand-in has no reply number ${index + 1}`);
}

/** The shapes of an API. */
interface Shapes {
  whole(reply: MessageReply, model: string): Record<string, unknown>;
  events(reply: MessageReply, model: string): StreamEvent[];
  /** After how many events at most a stream breaks. */
  maxBroken(events: readonly StreamEvent[]): number;
}

const MESSAGES: Shapes = { whole: wholeMessage, events: streamEvents, maxBroken: ({ length }) => length };
const CHAT: Shapes = { whole: wholeChat, events: chatEvents, maxBroken: unfinishedEvents };

async function send(
  reply: Reply,
  response: ServerResponse,
  model: string,
  streamed: boolean,
  shapes: Shapes,
): Promise<void> {
  if (reply.delayMs !== undefined && !(await staysOpen(reply.delayMs, response))) return;
  switch (reply.kind) {
    case 'message':
      if (streamed && !reply.asJson) sendStream(reply, response, model, shapes);
      else sendJson(reply, response, model, shapes);
      break;
    case 'raw':
      response.writeHead(reply.status, { 'request-id': 'req_test', ...reply.headers }).end(reply.body);
      break;
    case 'reset':
      response.socket?.resetAndDestroy();
      break;
    case 'hang':
      break;
  }
}

function sendStream(
  reply: MessageReply,
  response: ServerResponse,
  model: string,
  { events: eventsOf, maxBroken }: Shapes,
): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'request-id': 'req_test',
    ...reply.headers,
  });
  const events = eventsOf(reply, model);
  const { fault } = reply;
  for (const { event, data } of fault ? events.slice(0, Math.min(fault.after, maxBroken(events))) : events) {
    response.write(`${event === '' ? '' : `event: ${event}\n`}data: ${data}\n\n`);
  }
  if (!fault || fault.effect.what === 'end') {
    response.end();
  } else if (fault.effect.what === 'event') {
    response.end(`event: ${fault.effect.event}\ndata: ${fault.effect.data}\n\n`);
  } else if (fault.effect.what === 'reset') {
    // What was written has to leave first, or the reset overtakes it.
    response.write(': reset follows\n\n', () => response.socket?.resetAndDestroy());
  }
}

function sendJson(reply: MessageReply, response: ServerResponse, model: string, { whole }: Shapes): void {
  const text = JSON.stringify(whole(reply, model));
  response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_test', ...reply.headers });
  response.end(reply.fault ? text.slice(0, reply.fault.after) : text);
}

/** Waits; false if the other side has gone meanwhile. */
function staysOpen(ms: number, response: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms);
    response.once('close', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? content.map((block) => textInBlock(block as Record<string, unknown>)).join('\n')
    : '';
}

function textInBlock(block: Record<string, unknown>): string {
  return typeof block.text === 'string' ? block.text : textIn(block.content);
}
