import { messageOf } from '../errors.js';
import { CallFault, type CallOutcome } from './outcome.js';
import { shorten } from './provider-error.js';
import { recordedHeaders } from './transport.js';
import type { WireResponse } from './wire-response.js';

/** An SDK's own timeout only covers the headers; the total timeout of a call covers all, so it must end first. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

export function wireResponse(response: Response, events: WireResponse['events']): WireResponse {
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    headers: recordedHeaders(response.headers),
    events,
    text: () => response.text(),
  };
}

type ErrorClass<Shape> = abstract new (...args: never[]) => Shape;

/** The error classes of an SDK. Those of both providers are generated alike. */
interface SdkErrors {
  readonly APIConnectionError: ErrorClass<Error>;
  readonly APIError: ErrorClass<
    Error & { readonly status: unknown; readonly error: unknown; readonly headers: Headers | undefined }
  >;
  /** Base class of all. */
  readonly SdkError: ErrorClass<Error>;
}

/** Classifies the error body of a provider. */
type ReadError = (body: unknown, status: number, headers: Readonly<Record<string, string>>) => CallOutcome;

/** The outcome of a request for which the SDK threw instead of returning a response. */
export function sdkFault(thrown: unknown, sdk: SdkErrors, readError: ReadError): CallFault {
  if (thrown instanceof sdk.APIConnectionError) {
    const cause = thrown.cause === undefined ? thrown : thrown.cause;
    return new CallFault(
      {
        class: 'unreachable',
        detail: `no answer from the server: ${shorten(rootMessage(cause))}`,
        ...(NEVER_CONNECTED.has(rootCode(cause)) ? { neverSent: true } : {}),
      },
      thrown,
    );
  }
  if (thrown instanceof sdk.APIError && typeof thrown.status === 'number') {
    const headers = thrown.headers === undefined ? {} : recordedHeaders(thrown.headers);
    return new CallFault(readError(thrown.error ?? thrown.message, thrown.status, headers), thrown);
  }
  if (thrown instanceof sdk.SdkError || isMissingKey(thrown)) {
    return new CallFault({ class: 'unauthorized', detail: shorten(messageOf(thrown)) }, thrown);
  }
  return new CallFault({ class: 'unreachable', detail: shorten(messageOf(thrown)) }, thrown);
}

/** Without any credential an SDK throws a plain error before it sends. */
function isMissingKey(thrown: unknown): boolean {
  return /authentication method|api ?key/i.test(messageOf(thrown));
}

/** Failures of making a connection: no byte of the request has left. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The innermost message: fetch says only "fetch failed" and keeps the reason as its cause. */
function rootMessage(thrown: unknown): string {
  const message = messageOf(rootCause(thrown));
  return message === '' ? rootCode(thrown) : message;
}

function rootCode(thrown: unknown): string {
  const innermost = rootCause(thrown);
  return innermost instanceof Error && 'code' in innermost ? String(innermost.code) : '';
}

function rootCause(thrown: unknown): unknown {
  let innermost = thrown;
  for (let depth = 0; depth < 5 && innermost instanceof Error && innermost.cause !== undefined; depth += 1) {
    innermost = innermost.cause;
  }
  return innermost;
}
