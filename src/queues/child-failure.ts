import type { Redis } from 'ioredis';
import { decodeFailure, type JobFailure } from './failure.js';
import { parseJobKey } from './job-key.js';

/**
 * The key of the child that a job failed for, from BullMQ's own words for it (`child <key> failed`); undefined
 * where the job failed by itself.
 */
export function failedChildOf(reason: string): string | undefined {
  return /^child ([^\s:]+:[^\s:]+:.+) failed$/s.exec(reason)?.[1];
}

/** The failure of a job whose child failed: it names the child and says why that failed. */
export async function childFailure(client: Redis, childKey: string): Promise<JobFailure> {
  const { queue, id } = parseJobKey(childKey);
  const reason = await client.hget(childKey, 'failedReason');
  const deeper = reason === null ? undefined : failedChildOf(reason);
  const why =
    deeper === undefined
      ? decodeFailure(reason ?? 'it is gone, and its reason with it')
      : await childFailure(client, deeper);
  return {
    code: 'child-failed',
    message: `the ${queue} job ${id} that this job waits for failed: ${why.message} (${why.code})`,
    retryable: why.retryable,
  };
}
