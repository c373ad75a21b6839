import { z } from 'zod';
import { type ErrorDetails, FleetError, RequestError } from '../errors.js';
import { isErrorCode } from '../queues/failure.js';

/** The part of a problem document (RFC 9457) that the client reads. */
const ProblemSchema = z.looseObject({
  code: z.string(),
  detail: z.string(),
  field: z.string().optional(),
  jobId: z.string().optional(),
});

/** The error that a problem document tells of; undefined if it is none. */
export function errorOfProblem(problem: unknown): FleetError | undefined {
  const { data } = ProblemSchema.safeParse(problem);
  if (data === undefined) return undefined;
  return errorOfCode(data.code, data.detail, {
    ...(data.field === undefined ? {} : { field: data.field }),
    ...(data.jobId === undefined ? {} : { jobId: data.jobId }),
  });
}

/** An error that a gateway names by its code; `newer-gateway` if only a newer version has that code. */
export function errorOfCode(code: string, message: string, details: ErrorDetails): FleetError {
  if (isErrorCode(code)) return new FleetError(code, message, details);
  return new RequestError('newer-gateway', `[${code}] ${message}`, details);
}
