import { z } from 'zod';
import { redactErrorText } from '../config/redact.js';
import type { CallOutcome, OutcomeClass } from './outcome.js';

/** Body of an error of the Messages API, as a response or as an `error` event of a stream. */
const ErrorBodySchema = z.looseObject({
  error: z.looseObject({ type: z.string(), message: z.string().nullish() }),
});

const MAX_DETAIL_LENGTH = 500;

/** Classes of the provider's error types; where there is no such type, the HTTP status decides. */
const CLASS_OF_TYPE: Readonly<Record<string, OutcomeClass>> = {
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
  const where = status === undefined ? 'inside the stream' : `HTTP ${status}`;
  return {
    class: classOf(status, type, said),
    detail: `the provider answered ${where}${said === '' ? '' : `: ${shorten(said)}`}`,
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
  if (status === 402 || /credit balance is too low/i.test(said)) return 'no-credit';
  // A 404 without an error of the API comes from a server that is no Messages API.
  if (status === 404) return type === undefined ? 'bad-request' : 'unknown-model';
  const known = type === undefined ? undefined : CLASS_OF_TYPE[type];
  if (status === undefined) return known ?? 'overloaded';
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
