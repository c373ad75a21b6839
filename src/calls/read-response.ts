import { messageOf } from '../errors.js';
import {
  type ReceivedMessage,
  receivedMessage,
  tokensOf,
  tooMuchContent,
  WireMessageSchema,
} from './message.js';
import { MessageStream } from './message-stream.js';
import { CallFault } from './outcome.js';
import { providerError, shorten } from './provider-error.js';
import type { CallResponse } from './transport.js';

/**
 * Reads the answer of a successful response: an event stream, or a whole message from a server that does not
 * stream. Anything else, a proxy's page for instance, is a failure although its status says 200.
 *
 * @param onEvent called for every event of a stream, so that a silent one is noticed
 * @throws {CallFault}
 */
export async function readResponse(response: CallResponse, onEvent: () => void): Promise<ReceivedMessage> {
  const mediaType = response.contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType === 'text/event-stream') return bounded(await readStream(response, onEvent));
  if (mediaType === 'application/json' || mediaType.endsWith('+json'))
    return bounded(await readWhole(response));
  throw new CallFault({
    class: 'unreachable',
    status: response.status,
    headers: response.headers,
    detail: `the server answered with ${mediaType === '' ? 'no content type' : shorten(mediaType)} instead of a message, so it is no Messages API`,
  });
}

function bounded(message: ReceivedMessage): ReceivedMessage {
  const detail = tooMuchContent(message.content);
  if (detail === undefined) return message;
  throw new CallFault({ class: 'schema-invalid', detail, tokens: message.tokens });
}

async function readStream(response: CallResponse, onEvent: () => void): Promise<ReceivedMessage> {
  const stream = new MessageStream();
  try {
    for await (const { event, data } of response.events()) {
      onEvent();
      if (event === 'error') throw streamError(data, response, stream);
      if (event !== null) stream.accept(event, data);
      if (stream.ended) break;
    }
  } catch (thrown) {
    if (thrown instanceof CallFault) throw thrown;
    // The tokens of what did arrive are billed all the same.
    throw new CallFault(
      {
        class: 'incomplete',
        detail: `the connection broke in mid-answer: ${shorten(messageOf(thrown))}`,
        ...(stream.tokens ? { tokens: stream.tokens } : {}),
      },
      thrown,
    );
  }
  return stream.finish();
}

function streamError(data: string, response: CallResponse, stream: MessageStream): CallFault {
  const outcome = providerError(parseJson(data) ?? data, undefined, response.headers);
  return new CallFault(stream.tokens ? { ...outcome, tokens: stream.tokens } : outcome);
}

async function readWhole(response: CallResponse): Promise<ReceivedMessage> {
  let text: string;
  try {
    text = await response.text();
  } catch (cause) {
    throw incomplete(`the connection broke in mid-answer: ${shorten(messageOf(cause))}`, cause);
  }
  const json = parseJson(text);
  if (json === undefined) throw incomplete('the answer is cut or no JSON');
  const wire = WireMessageSchema.safeParse(json);
  if (!wire.success) {
    const isError = typeof json === 'object' && json !== null && 'error' in json;
    throw isError
      ? new CallFault(providerError(json, undefined, response.headers))
      : incomplete('the answer is JSON, but no message');
  }
  const message = receivedMessage(wire.data);
  if (message) return message;
  throw new CallFault({
    class: 'incomplete',
    detail: 'the message ended without a stop reason',
    tokens: tokensOf(wire.data.usage),
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function incomplete(detail: string, cause?: unknown): CallFault {
  return new CallFault({ class: 'incomplete', detail }, cause);
}
