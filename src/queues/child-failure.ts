import type { Redis } from 'ioredis';
import { decodeFailure, type JobFailure } from './failure.js';
import { parseJobKey } from './job-key.js';

/** Most flows above each other that are followed down to the job that failed first. */
const MAX_DEPTH = 16;

/**
 * The key of the child that a job failed for, from BullMQ's own words for it (`child <key> failed`); undefined
 * where the job failed by itself.
 */
export function failedChildOf(reason: string): string | undefined {
  return /^child ([^\s:]+:[^\s:]+:.+) failed$/s.exec(reason)?.[1];
}

/** Whether BullMQ lists a job among another's children: only then are the words of its failure BullMQ's. */
async function isChild(client: Redis, parentKey: string, childKey: string): Promise<boolean> {
  const places = await Promise.all([
    client.zscore(`${parentKey}:unsuccessful`, childKey),
    client.hexists(`${parentKey}:failed`, childKey),
    client.sismember(`${parentKey}:dependencies`, childKey),
    client.hexists(`${parentKey}:processed`, childKey),
  ]);
  return places.some((place) => place !== null && place !== 0);
}

/**
 * What a job failed with. One that failed for a child names the child and says why that failed. A reason is text that
 * the pipeline's own programs may have written: it is followed to a child only where the job has that child.
 */
export async function failureOf(
  client: Redis,
  jobKey: string,
  reason: string,
  depth = 0,
): Promise<JobFailure> {
  const childKey = failedChildOf(reason);
  if (childKey === undefined || depth === MAX_DEPTH || !(await isChild(client, jobKey, childKey))) {
    return decodeFailure(reason);
  }
  const { queue, id } = parseJobKey(childKey);
  const childReason = await client.hget(childKey, 'failedReason');
  const why = await failureOf(
    client,
    childKey,
    childReason ?? 'it is gone, and its reason with it',
    depth + 1,
  );
  return {
    code: 'child-failed',
    message: `the ${queue} job ${id} that this job waits for failed: ${why.message} (${why.code})`,
    retryable: why.retryable,
  };
}
