import { z } from 'zod';
import { redactErrorText } from '../config/redact.js';
import type { CallOutcome, OutcomeClass } from './outcome.js';

/** Body of an error of the Messages API, as a response or as an `error` event of a stream. */
const ErrorBodySchema = z.looseObject({
  error: z.looseObject({ type: z.string(), message: z.string().nullish() }),
});

const MAX_DETAIL_LENGTH = 500;

/** Classes of the provider's error types; where there is no such type, the HTTP status decides. */
export const CLASS_OF_TYPE: Readonly<Record<string, OutcomeClass>> = {
  invalid_request_error: 'bad-request',
  authentication_error: 'unauthorized',
  billing_error: 'no-credit',
  permission_error: 'unauthorized',
  not_found_error: 'unknown-model',
  request_too_large: 'context-exceeded',
  rate_limit_error: 'rate-limited',
  timeout_error: 'overloaded',
  api_error: 'overloaded',
  overloaded_error: 'overloaded',
};

export const NO_CREDIT = /credit balance is too low|insufficient (?:balance|credits|funds)/i;

/**
 * Classifies an error of the provider.
 *
 * @param body parsed JSON of the error, or the text of a body that is no JSON
 * @param status HTTP status; absent for an error inside a stream that began with 200
 */
export function providerError(
  body: unknown,
  status: number | undefined,
  headers: Readonly<Record<string, string>>,
): CallOutcome {
  const parsed = ErrorBodySchema.safeParse(body);
  const type = parsed.success ? parsed.data.error.type : undefined;
  const said = parsed.success ? (parsed.data.error.message ?? type ?? '') : describe(body);
  return failureOutcome(classOf(status, type, said), { said, status, headers });
}

interface Failure {
  /** The provider's words: its message, or the body as it came. */
  readonly said: unknown;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** The outcome of a call to which the provider answered with an error. */
export function failureOutcome(failureClass: OutcomeClass, { said, status, headers }: Failure): CallOutcome {
  const where = status === undefined ? 'inside the stream' : `HTTP ${status}`;
  const words = describe(said);
  return {
    class: failureClass,
    detail: `the provider answered ${where}${words === '' ? '' : `: ${shorten(words)}`}`,
    headers,
    ...(status === undefined ? {} : { status }),
  };
}

function classOf(status: number | undefined, type: string | undefined, said: string): OutcomeClass {
  // The provider reports a prompt that is too long as an invalid request; only the message says so.
  if (type === 'invalid_request_error' && /prompt is too long|exceeds? the (model's )?context/i.test(said)) {
    return 'context-exceeded';
  }
  // This one as well.
  if (NO_CREDIT.test(said)) return 'no-credit';
  // A 404 without an error of the API comes from a server that is no Messages API.
  if (status === 404) return type === undefined ? 'bad-request' : 'unknown-model';
  return classOfStatus(status, type === undefined ? undefined : CLASS_OF_TYPE[type]);
}

/** @param known class of the error's type; it decides where the status does not */
export function classOfStatus(status: number | undefined, known: OutcomeClass | undefined): OutcomeClass {
  if (status === undefined) return known ?? 'overloaded';
  if (status === 402) return 'no-credit';
  if (status === 429) return 'rate-limited';
  if (status === 413) return 'context-exceeded';
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 408 || status === 409 || status >= 500) return 'overloaded';
  return known ?? 'bad-request';
}

function describe(body: unknown): string {
  if (body === undefined || body === null) return '';
  return typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
}

/** Longest part of a text that is read to make one line of it. */
const MAX_LOOKED_AT = 64 * 1024;

/**
 * One line of bounded length, without secrets: bodies of proxies can be pages of HTML, and a provider or a proxy may repeat
 * the key that it was sent. Every text of a provider that goes into an error passes through here.
 */
export function shorten(text: string): string {
  const line = redactErrorText(text.slice(0, MAX_LOOKED_AT)).replace(/\s+/g, ' ').trim();
  return line.length <= MAX_DETAIL_LENGTH ? line : `${line.slice(0, MAX_DETAIL_LENGTH)}…`;
}
