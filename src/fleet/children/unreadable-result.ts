import type { z } from 'zod';
import { JobError, PayloadError } from '../../errors.js';
import { hasOnlyUnknownFields } from '../../queues/read-result.js';

/** Why a job cannot use the result of a child: a newer worker wrote it, and continues the job; or it is damaged. */
export function unreadableResult(jobId: string, childId: string, error: z.ZodError): JobError | PayloadError {
  if (hasOnlyUnknownFields(error)) {
    const message = `the result of child ${childId} has fields that this version does not know: a newer worker wrote it`;
    return new PayloadError('newer-contract', message, { jobId });
  }
  const message = `the result of child ${childId} breaks its contract: ${error.message}`;
  return new JobError('broken-record', message, { jobId: childId });
}
