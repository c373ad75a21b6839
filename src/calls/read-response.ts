import {
  type ReceivedMessage,
  receivedMessage,
  type TokenCounts,
  tokensOf,
  WireMessageSchema,
} from './message.js';
import { MessageStream } from './message-stream.js';
import { CallFault } from './outcome.js';
import { providerError } from './provider-error.js';
import { brokenConnection, jsonBody, parseJson, readByType, type WireResponse } from './wire-response.js';

type OnEvent = (tokens: TokenCounts | undefined) => void;

/**
 * Reads the answer of a successful response of the Messages API: an event stream, or a whole message from a server that
 * does not stream.
 *
 * @param onEvent called for every event of a stream, with what has been counted so far
 * @throws {CallFault}
 */
export function readResponse(response: WireResponse, onEvent: OnEvent): Promise<ReceivedMessage> {
  return readByType(response, 'Messages API', {
    stream: () => readStream(response, onEvent),
    whole: () => readWhole(response),
  });
}

async function readStream(response: WireResponse, onEvent: OnEvent): Promise<ReceivedMessage> {
  const stream = new MessageStream();
  try {
    for await (const { event, data } of response.events()) {
      if (event === 'error') throw streamError(data, response, stream);
      if (event !== null) stream.accept(event, data);
      onEvent(stream.tokens);
      if (stream.ended) break;
    }
  } catch (thrown) {
    throw thrown instanceof CallFault ? thrown : brokenConnection(thrown, stream.tokens);
  }
  return stream.finish();
}

function streamError(data: string, response: WireResponse, stream: MessageStream): CallFault {
  const outcome = providerError(parseJson(data) ?? data, undefined, response.headers);
  return new CallFault(stream.tokens ? { ...outcome, tokens: stream.tokens } : outcome);
}

async function readWhole(response: WireResponse): Promise<ReceivedMessage> {
  const json = await jsonBody(response);
  const wire = WireMessageSchema.safeParse(json);
  if (!wire.success) {
    const isError = typeof json === 'object' && json !== null && 'error' in json;
    throw isError
      ? new CallFault(providerError(json, undefined, response.headers))
      : new CallFault({ class: 'incomplete', detail: 'the answer is JSON, but no message' });
  }
  const message = receivedMessage(wire.data);
  if (message) return message;
  throw new CallFault({
    class: 'incomplete',
    detail: 'the message ended without a stop reason',
    tokens: tokensOf(wire.data.usage),
  });
}
