import type { ReceivedMessage } from '../message.js';
import { CallFault } from '../outcome.js';
import { brokenConnection, jsonBody, parseJson, readByType, type WireResponse } from '../wire-response.js';
import { ChatAnswer } from './chat-answer.js';
import { ChatChunkSchema } from './chat-chunk.js';
import { chatError } from './chat-error.js';

const END = '[DONE]';

/**
 * Reads the answer of a successful response of the Chat Completions API: a stream of chunks, or a whole answer from a
 * server that does not stream.
 *
 * @param onEvent called for every chunk of a stream
 * @throws {CallFault}
 */
export function readChat(response: WireResponse, onEvent: () => void): Promise<ReceivedMessage> {
  return readByType(response, 'Chat Completions API', {
    stream: () => readStream(response, onEvent),
    whole: async () => {
      const answer = new ChatAnswer();
      acceptChunk(await jsonBody(response), answer, response);
      return answer.finish();
    },
  });
}

/** A server may leave out the end event, or break the connection before it; the finish reason then says that the answer is whole. */
async function readStream(response: WireResponse, onEvent: () => void): Promise<ReceivedMessage> {
  const answer = new ChatAnswer();
  try {
    for await (const { data } of response.events()) {
      onEvent();
      if (data === END) break;
      // Some servers send empty events while the model thinks.
      if (data.trim() === '') continue;
      const chunk = parseJson(data);
      if (chunk === undefined) throw incomplete('a chunk of the answer is cut or no JSON', answer);
      acceptChunk(chunk, answer, response);
    }
  } catch (thrown) {
    const fault = thrown instanceof CallFault ? thrown : brokenConnection(thrown, answer.tokens);
    // What is whole is paid for. Only its counts may be missing.
    if (!answer.isWhole || fault.outcome.class !== 'incomplete') throw fault;
  }
  return answer.finish();
}

function acceptChunk(json: unknown, answer: ChatAnswer, { headers }: WireResponse): void {
  const chunk = ChatChunkSchema.safeParse(json);
  if (chunk.success && chunk.data.error == null) {
    answer.accept(chunk.data);
  } else if (isError(json)) {
    const outcome = chatError(json, undefined, headers);
    const { tokens, hasBegun } = answer;
    throw new CallFault({
      ...outcome,
      ...(tokens === undefined ? {} : { tokens }),
      ...(hasBegun ? { mayBeBilled: true } : {}),
    });
  } else {
    throw incomplete('the answer is JSON, but no chat completion', answer);
  }
}

/** Older servers say so in `object` and have no field `error`. */
function isError(json: unknown): boolean {
  if (typeof json !== 'object' || json === null) return false;
  return 'error' in json || ('object' in json && json.object === 'error');
}

function incomplete(detail: string, { tokens }: ChatAnswer): CallFault {
  return new CallFault({ class: 'incomplete', detail, ...(tokens === undefined ? {} : { tokens }) });
}
