import { messageOf } from '../errors.js';
import { type ReceivedMessage, type TokenCounts, tooMuchContent } from './message.js';
import { CallFault } from './outcome.js';
import { shorten } from './provider-error.js';

/** A response whose status is 2xx, before it is read. */
export interface WireResponse {
  readonly status: number;
  readonly contentType: string;
  /** Headers worth keeping (see `CallOutcome.headers`). */
  readonly headers: Readonly<Record<string, string>>;
  /** Events of an event stream, `ping` included. */
  events(): AsyncIterable<{ readonly event: string | null; readonly data: string }>;
  /** The whole body as text. */
  text(): Promise<string>;
}

/** Ways to read the answer of a provider. */
interface Readers {
  /** An event stream. */
  stream(): Promise<ReceivedMessage>;
  /** JSON, from a server that does not stream. */
  whole(): Promise<ReceivedMessage>;
}

/**
 * Reads an answer by the content type of its response. Anything but a stream or JSON, a proxy's page for instance, is a
 * failure although its status says 200.
 *
 * @param api name of the API that was expected
 * @throws {CallFault}
 */
export async function readByType(
  { contentType, status, headers }: WireResponse,
  api: string,
  { stream, whole }: Readers,
): Promise<ReceivedMessage> {
  const mediaType = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType === 'text/event-stream') return bounded(await stream());
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) return bounded(await whole());
  throw new CallFault({
    class: 'unreachable',
    status,
    headers,
    detail: `the server answered with ${mediaType === '' ? 'no content type' : shorten(mediaType)} instead of a message, so it is no ${api}`,
  });
}

function bounded(message: ReceivedMessage): ReceivedMessage {
  const detail = tooMuchContent(message.content);
  if (detail === undefined) return message;
  throw new CallFault({ class: 'schema-invalid', detail, tokens: message.tokens });
}

/** The body of a response as JSON. @throws {CallFault} `incomplete`: it breaks off, or is no JSON. */
export async function jsonBody(response: WireResponse): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (thrown) {
    throw brokenConnection(thrown);
  }
  const json = parseJson(text);
  if (json === undefined)
    throw new CallFault({ class: 'incomplete', detail: 'the answer is cut or no JSON' });
  return json;
}

/** @param tokens what has arrived is billed all the same */
export function brokenConnection(thrown: unknown, tokens?: TokenCounts): CallFault {
  return new CallFault(
    {
      class: 'incomplete',
      detail: `the connection broke in mid-answer: ${shorten(messageOf(thrown))}`,
      ...(tokens === undefined ? {} : { tokens }),
    },
    thrown,
  );
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
