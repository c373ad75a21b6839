import { z } from 'zod';
import { ERROR_TABLE, type ErrorCode, FleetError } from '../errors.js';

/** The part of a problem document (RFC 9457) that the client reads. */
const ProblemSchema = z.looseObject({
  code: z.enum(Object.keys(ERROR_TABLE) as [ErrorCode, ...ErrorCode[]]),
  detail: z.string(),
  field: z.string().optional(),
  jobId: z.string().optional(),
});

/** The error that a problem document tells of. */
export function errorOfProblem(problem: unknown): FleetError | undefined {
  const { data } = ProblemSchema.safeParse(problem);
  if (data === undefined) return undefined;
  return new FleetError(data.code, data.detail, {
    ...(data.field === undefined ? {} : { field: data.field }),
    ...(data.jobId === undefined ? {} : { jobId: data.jobId }),
  });
}
