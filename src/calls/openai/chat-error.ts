import { z } from 'zod';
import type { CallOutcome, OutcomeClass } from '../outcome.js';
import { CLASS_OF_TYPE, classOfStatus, failureOutcome, NO_CREDIT } from '../provider-error.js';

const text = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((value) => (value == null ? '' : String(value)));
const ErrorSchema = z.looseObject({ message: text, type: text, code: text });
const BodySchema = z.preprocess((body) => {
  const error = errorIn(body);
  return typeof error === 'string' ? { message: error } : error;
}, ErrorSchema);

/** The error inside of a body: OpenAI has it in `error`, Gemini sends a list, and older servers put it at the top. */
export function errorIn(body: unknown): unknown {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return typeof first === 'object' && first !== null && 'error' in first ? (first.error ?? first) : first;
}

/** Classes of error codes, and of types that say as much; else the status decides. */
const CLASS_OF_CODE: Readonly<Record<string, OutcomeClass>> = {
  insufficient_quota: 'no-credit',
  billing_hard_limit_reached: 'no-credit',
  billing_not_active: 'no-credit',
  context_length_exceeded: 'context-exceeded',
  string_above_max_length: 'context-exceeded',
  model_not_found: 'unknown-model',
  invalid_api_key: 'unauthorized',
  rate_limit_exceeded: 'rate-limited',
  content_filter: 'refused',
  content_policy_violation: 'refused',
  server_error: 'overloaded',
};

/**
 * Servers that are compatible word this one in many ways, and give no code. OpenAI rejects a request that alone is above the limit of a
 * minute as one too many; later it is as large.
 */
const TOO_LONG =
  /(?:maximum|exceeds?|longer than)[^.]{0,60}context|context (?:length|window)[^.]{0,40}exceed|prompt is too long|^request too large/i;

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
  const words = parsed.success ? parsed.data.message || parsed.data.code || parsed.data.type : '';
  const said = words === '' ? body : words;
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
  if (TOO_LONG.test(message)) return 'context-exceeded';
  const named = [code, type].find((name) => Object.hasOwn(CLASS_OF_CODE, name));
  if (named !== undefined) return CLASS_OF_CODE[named] ?? 'bad-request';
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
