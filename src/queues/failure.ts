import { z } from 'zod';
import { redactErrorText } from '../config/redact.js';
import { ERROR_TABLE, type ErrorCode, FleetError, toFleetError } from '../errors.js';

/** Maximum length of a failure text that is stored on a job, in characters; providers' answers can be large. */
const MAX_REASON_LENGTH = 8_000;

const CODES = Object.keys(ERROR_TABLE) as [ErrorCode, ...ErrorCode[]];

export const JobFailureSchema = z.strictObject({
  code: z.enum(CODES),
  message: z.string(),
  retryable: z.boolean(),
});
/** Why a job failed. */
export type JobFailure = Readonly<z.infer<typeof JobFailureSchema>>;

/** The text that is stored as a job's failure: the error code in brackets, then the message. */
export function encodeFailure(thrown: unknown): string {
  const error = toFleetError(thrown);
  const text = `[${error.code}] ${redactErrorText(error.message)}`;
  return text.length <= MAX_REASON_LENGTH ? text : `${text.slice(0, MAX_REASON_LENGTH)}… (cut)`;
}

/** Whether this version knows an error code. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, code);
}

/** Parses a stored failure; a text that this project did not write (such as BullMQ's for a stalled job) is `job-failed`. */
export function decodeFailure(reason: string): JobFailure {
  const [, code = '', message = ''] = /^\[([a-z-]+)\] ([\s\S]*)$/.exec(reason) ?? [];
  if (!isErrorCode(code)) {
    return { code: 'job-failed', message: reason, retryable: ERROR_TABLE['job-failed'].retryable };
  }
  return { code, message, retryable: ERROR_TABLE[code].retryable };
}

/** The failure of a job as an error to throw. */
export function failureError(failure: JobFailure, jobId: string): FleetError {
  return new FleetError(failure.code, failure.message, { jobId });
}
