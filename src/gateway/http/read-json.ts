import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { messageOf, PayloadError, RequestError } from '../../errors.js';
import { refuseDeepNesting, refuseProtoKeys } from './json-bounds.js';

function tooLarge(limit: number): PayloadError {
  return new PayloadError('payload-too-large', `the request body is larger than ${limit} bytes`);
}

/** The declared length of the body; undefined where it comes in chunks of unknown number. */
function declaredLength(request: IncomingMessage): number | undefined {
  const header = request.headers['content-length'];
  return header === undefined ? undefined : Number(header);
}

/** Whether a request says that it has a body. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || (declaredLength(request) ?? 0) > 0;
}

function refuseMediaType(request: IncomingMessage): void {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/(json|[\w.+-]+\+json)\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type)) {
    const got = type === '' ? 'none' : JSON.stringify(type);
    throw new RequestError(
      'unsupported-media-type',
      `the content type must be application/json, got ${got}`,
      {
        field: 'content-type',
      },
    );
  }
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new RequestError(
      'unsupported-media-type',
      `the content encoding ${JSON.stringify(encoding)} is not read`,
      {
        field: 'content-encoding',
      },
    );
  }
}

/**
 * Reads a JSON body. A body that is too large is refused by its declared length, or once that much has come: never
 * held, never parsed; nesting is bounded before parsing.
 *
 * @param limit Most bytes.
 * @param hold Told of the bytes of each chunk before it is kept; may throw.
 * @throws PayloadError `payload-too-large`; RequestError `unsupported-media-type`, `malformed-request`.
 */
export async function readJson(
  request: IncomingMessage,
  limit: number,
  hold: (bytes: number) => void,
): Promise<unknown> {
  refuseMediaType(request);
  if ((declaredLength(request) ?? 0) > limit) throw tooLarge(limit);
  const bytes = await readBytes(request, limit, hold);
  if (bytes.length === 0) throw new RequestError('malformed-request', 'the request has no body');
  if (!isUtf8(bytes)) throw new RequestError('malformed-request', 'the body is not UTF-8');
  refuseDeepNesting(bytes);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new RequestError('malformed-request', `the body is not JSON: ${messageOf(cause).slice(0, 200)}`, {
      cause,
    });
  }
  refuseProtoKeys(value);
  return value;
}

function readBytes(request: IncomingMessage, limit: number, hold: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const stop = () => {
      request.off('data', take).off('end', finish).off('error', fail).off('close', gone);
    };
    const take = (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) return fail(tooLarge(limit));
      try {
        hold(chunk.length);
      } catch (thrown) {
        return fail(thrown);
      }
      chunks.push(chunk);
    };
    const finish = () => {
      stop();
      resolve(Buffer.concat(chunks, length));
    };
    const fail = (thrown: unknown) => {
      stop();
      request.pause();
      reject(thrown);
    };
    const gone = () => fail(new RequestError('malformed-request', 'the connection ended within the body'));
    request.on('data', take).on('end', finish).on('error', gone).on('close', gone);
  });
}
