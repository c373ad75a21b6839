import type { Redis } from 'ioredis';
import { decodeFailure, type JobFailure } from './failure.js';
import { parseJobKey } from './job-key.js';

/** Maximum number of nested flows that are followed down to the job that failed first. */
const MAX_DEPTH = 16;

/**
 * The key of the child whose failure failed the job, parsed from BullMQ's message (`child <key> failed`); undefined
 * if the job failed by itself.
 */
export function failedChildOf(reason: string): string | undefined {
  return /^child ([^\s:]+:[^\s:]+:.+) failed$/s.exec(reason)?.[1];
}

/** Whether BullMQ lists a job among another's children: only then did BullMQ write the failure's message. */
async function isChild(client: Redis, parentKey: string, childKey: string): Promise<boolean> {
  const entries = await Promise.all([
    client.zscore(`${parentKey}:unsuccessful`, childKey),
    client.hexists(`${parentKey}:failed`, childKey),
    client.sismember(`${parentKey}:dependencies`, childKey),
    client.hexists(`${parentKey}:processed`, childKey),
  ]);
  return entries.some((entry) => entry !== null && entry !== 0);
}

/**
 * Why a job failed. If a child's failure failed it, the message names the child and the child's failure. A pipeline's
 * own program may have written the reason, so the child is read only if the job really has that child.
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
  const childReason = (await client.hget(childKey, 'failedReason')) ?? undefined;
  return failureForChild(client, childKey, childReason, depth + 1);
}

/** The reason of a child that is gone. */
export const CHILD_GONE = 'the child job was removed, and its reason with it';

/** What a job fails with because a child failed. @param reason The child's; undefined if the child was removed. */
export async function failureForChild(
  client: Redis,
  childKey: string,
  reason = CHILD_GONE,
  depth = 0,
): Promise<JobFailure> {
  const { queue, id } = parseJobKey(childKey);
  const why = await failureOf(client, childKey, reason, depth);
  return {
    code: 'child-failed',
    message: `the ${queue} job ${id} that this job waits for failed: ${why.message} (${why.code})`,
    retryable: why.retryable,
  };
}
