import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { messageOf, PayloadError, RequestError } from '../../errors.js';
import { type BodyReservation, SMALL_BODY_BYTES } from '../admission/body-room.js';
import { assertBounded, rejectProtoKeys } from './json-bounds.js';
import { type TransferRate, TransferWatch } from './transfer-watch.js';

const FIRST_BYTES = 4_096;

/**
 * Bytes that arrive in pieces, copied into one buffer that doubles: pieces of a byte each would take hundreds of times their
 * size if they were stored one by one. A declared length alone allocates nothing.
 */
export class GrowingBuffer {
  #buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, needed, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#length);
    this.#length = needed;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

function tooLarge(limit: number): PayloadError {
  return new PayloadError('payload-too-large', `the request body is larger than ${limit} bytes`);
}

/** The declared length of the body; undefined if it comes in chunks. */
function declaredLength(request: IncomingMessage): number | undefined {
  const header = request.headers['content-length'];
  return header === undefined ? undefined : Number(header);
}

/** Whether a request declares a body. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || (declaredLength(request) ?? 0) > 0;
}

function assertJsonMediaType(request: IncomingMessage): void {
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

/** Limits for reading a body. */
export interface BodyBounds {
  /** Most bytes. */
  readonly limit: number;
  readonly rate: TransferRate;
  /** Room in memory; absent for bodies that are always small. */
  readonly reservation?: BodyReservation;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
}

/**
 * Reads a JSON body. A body that is too large is rejected by its declared length, or once that many bytes have arrived: it is
 * never stored or parsed. Nesting and the number of values are checked before parsing.
 *
 * @throws PayloadError `payload-too-large`; RequestError `unsupported-media-type`, `malformed-request`,
 *   `request-too-slow`, and what the room in memory throws.
 */
export async function readJson(request: IncomingMessage, bounds: BodyBounds): Promise<unknown> {
  assertJsonMediaType(request);
  const bytes = await readBody(request, bounds);
  if (bytes.length === 0) throw new RequestError('malformed-request', 'the request has no body');
  if (!isUtf8(bytes)) throw new RequestError('malformed-request', 'the body is not UTF-8');
  assertBounded(bytes);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new RequestError('malformed-request', `the body is not JSON: ${messageOf(cause).slice(0, 200)}`, {
      cause,
    });
  }
  rejectProtoKeys(value);
  return value;
}

/** Reads a body as bytes. @throws as `readJson`. */
export async function readBody(request: IncomingMessage, bounds: BodyBounds): Promise<Buffer> {
  const declared = declaredLength(request) ?? 0;
  if (declared > bounds.limit) throw tooLarge(bounds.limit);
  if (declared > SMALL_BODY_BYTES) await bounds.reservation?.reserve(declared, bounds.signal);
  return readBytes(request, bounds);
}

function readBytes(
  request: IncomingMessage,
  { limit, rate, reservation, signal }: BodyBounds,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = new GrowingBuffer();
    let isLarge = (declaredLength(request) ?? 0) > SMALL_BODY_BYTES;
    const slow = () => {
      const { windowMs, minBytes } = rate;
      const message = `fewer than ${minBytes} bytes of the body came in ${windowMs / 1_000} s`;
      fail(new RequestError('request-too-slow', message));
    };
    let watch = new TransferWatch(rate, slow);
    const stop = () => {
      watch.stop();
      request.off('data', take).off('end', finish).off('error', gone).off('close', gone);
    };
    /** A body of unknown length is no longer small: nothing more is read before its token has room. */
    const grow = async (room: BodyReservation) => {
      isLarge = true;
      watch.stop();
      request.pause();
      await room.reserve(limit, signal);
      watch = new TransferWatch(rate, slow);
      request.resume();
    };
    const take = (chunk: Buffer) => {
      watch.add(chunk.length);
      if (body.length + chunk.length > limit) return fail(tooLarge(limit));
      try {
        reservation?.hold(chunk.length);
      } catch (thrown) {
        return fail(thrown);
      }
      body.append(chunk);
      if (reservation !== undefined && !isLarge && body.length > SMALL_BODY_BYTES)
        grow(reservation).catch(fail);
    };
    const finish = () => {
      stop();
      resolve(body.bytes());
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
