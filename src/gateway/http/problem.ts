import { z } from 'zod';
import { redactErrorText } from '../../config/redact.js';
import { ERROR_TABLE, type ErrorCode, type FleetError, InternalError, toFleetError } from '../../errors.js';
import { asRedisError } from '../../queues/redis-refusal.js';

export const PROBLEM_TYPE = 'application/problem+json';
const CODES = Object.keys(ERROR_TABLE) as [ErrorCode, ...ErrorCode[]];

/** A problem document (RFC 9457). */
export const ProblemSchema = z
  .strictObject({
    type: z.string().describe('Section of /docs that explains the code.'),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().describe('What happened, in a sentence.'),
    code: z.enum(CODES).describe('Code of the error table, see docs/errors.md.'),
    retryable: z.boolean().describe('Whether the same request can succeed later without being changed.'),
    whatToDo: z.string(),
    field: z.string().optional().describe('Path of the field at fault, as in payload.solution.content.'),
    errors: z
      .array(z.strictObject({ field: z.string(), message: z.string() }))
      .optional()
      .describe('All fields at fault, where there are several.'),
    jobId: z.string().optional(),
    requestId: z.string().optional().describe('For finding the request in the log of the gateway.'),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof ProblemSchema>;

/** One invalid field. */
export interface FieldIssue {
  readonly field: string;
  readonly message: string;
}

/** Further details of a problem document. */
export interface RefusalDetails {
  /** For the Retry-After header, in seconds. */
  readonly retryAfter?: number;
  readonly issues?: readonly FieldIssue[];
}

const details = new WeakMap<FleetError, RefusalDetails>();

/** Adds details to an error for its problem document and headers. */
export function withDetails<E extends FleetError>(error: E, more: RefusalDetails): E {
  details.set(error, more);
  return error;
}

/** Default seconds after which a retry makes sense. */
const DEFAULT_RETRY_AFTER = 2;

/** Seconds for Retry-After; undefined if waiting does not help. */
export function retryAfterOf(error: FleetError): number | undefined {
  const known = details.get(error)?.retryAfter;
  if (known !== undefined) return known;
  const { httpStatus, retryable } = error.entry;
  return retryable && (httpStatus === 503 || httpStatus === 429) ? DEFAULT_RETRY_AFTER : undefined;
}

/** The title of an error: its code in words. */
export function titleOf(code: ErrorCode): string {
  const words = code.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The problem document of an error. The message of an unknown error goes only to the log. */
export function problemOf(error: FleetError, requestId: string): Problem {
  const { httpStatus, retryable, whatToDo } = error.entry;
  const issues = details.get(error)?.issues;
  const internal = error instanceof InternalError;
  return {
    type: `/docs#${error.code}`,
    title: titleOf(error.code),
    status: httpStatus,
    detail: internal
      ? 'The gateway failed; its log says more under this request id.'
      : redactErrorText(error.message),
    code: error.code,
    retryable,
    whatToDo,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(issues === undefined || issues.length < 2 ? {} : { errors: [...issues] }),
    ...(error.jobId === undefined ? {} : { jobId: error.jobId }),
    ...(httpStatus >= 500 ? { requestId } : {}),
  };
}

/**
 * Turns anything that a handler threw into an error with a code: Redis away, Redis full, a URL that cannot be decoded, or a
 * defect.
 */
export function refusalFrom(thrown: unknown): FleetError {
  return toFleetError(asRedisError(thrown));
}
