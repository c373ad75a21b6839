import { z } from 'zod';
import type { CallOutcome, OutcomeClass } from '../outcome.js';
import { CLASS_OF_TYPE, classOfStatus, failureOutcome, NO_CREDIT } from '../provider-error.js';

const text = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((value) => (value == null ? '' : String(value)));
const ErrorSchema = z.looseObject({ message: text, type: text, code: text });
/** The inner object is what the SDK hands over; streams and whole answers have it in `error`; Gemini sends a list. */
const BodySchema = z.preprocess(unwrapped, ErrorSchema);

function unwrapped(body: unknown): unknown {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return typeof first === 'object' && first !== null && 'error' in first ? first.error : first;
}

/** Classes of error codes, and of types that say as much; else the status decides. */
const CLASS_OF_CODE: Readonly<Record<string, OutcomeClass>> = {
  insufficient_quota: 'no-credit',
  billing_hard_limit_reached: 'no-credit',
  context_length_exceeded: 'context-exceeded',
  string_above_max_length: 'context-exceeded',
  model_not_found: 'unknown-model',
  invalid_api_key: 'unauthorized',
  rate_limit_exceeded: 'rate-limited',
  content_filter: 'refused',
  content_policy_violation: 'refused',
  server_error: 'overloaded',
};

/** Servers that are compatible word this one in many ways, and give no code. */
const TOO_LONG =
  /(?:maximum|exceeds?|longer than)[^.]{0,60}context|context (?:length|window)[^.]{0,40}exceed|prompt is too long/i;

/**
 * Classifies an error of the Chat Completions API.
 *
 * @param body parsed JSON of the error, or the text of a body that is no JSON
 * @param status HTTP status; absent for an error inside a stream or an answer that began with 200
 */
export function chatError(
  body: unknown,
  status: number | undefined,
  headers: Readonly<Record<string, string>>,
): CallOutcome {
  const parsed = BodySchema.safeParse(body);
  const said = parsed.success ? parsed.data.message || parsed.data.code || parsed.data.type : body;
  return failureOutcome(parsed.success ? classOf(status, parsed.data) : classOfStatus(status, undefined), {
    said,
    status,
    headers,
  });
}

function classOf(
  status: number | undefined,
  { message, type, code }: z.infer<typeof ErrorSchema>,
): OutcomeClass {
  const named = [code, type].find((name) => Object.hasOwn(CLASS_OF_CODE, name));
  if (named !== undefined) return CLASS_OF_CODE[named] ?? 'bad-request';
  if (TOO_LONG.test(message)) return 'context-exceeded';
  if (NO_CREDIT.test(message)) return 'no-credit';
  // A 404 that does not speak of a model comes from a wrong address.
  if (status === 404) return /model/i.test(message) ? 'unknown-model' : 'bad-request';
  // Inside a stream, some servers give the status as the code.
  return classOfStatus(
    status ?? statusIn(code),
    Object.hasOwn(CLASS_OF_TYPE, type) ? CLASS_OF_TYPE[type] : undefined,
  );
}

function statusIn(code: string): number | undefined {
  return /^[45]\d\d$/.test(code) ? Number(code) : undefined;
}
