import { type Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { failedChildOf } from '../queues/child-failure.js';
import { parseJobKey } from '../queues/job-key.js';

/** BullMQ's field for a failure that a parent meets as soon as a worker takes it. */
const DEFERRED_FAILURE = 'defa';

/**
 * A parent fails with its child, and BullMQ does not bring it back when the child is run again and succeeds.
 * So this does, once no other child is missing: a job that was retried from the board lets its flow go on.
 */
export async function reviveParent(client: Redis, child: Job): Promise<void> {
  if (child.parentKey === undefined) return;
  // Most parents have met no failure, and one read tells.
  const failure = await client.hmget(child.parentKey, DEFERRED_FAILURE, 'failedReason');
  if (failure.every((field) => field === null)) return;
  const { prefix, queue: name, id } = parseJobKey(child.parentKey);
  const queue = new Queue(name, { connection: client, prefix, skipMetasUpdate: true });
  try {
    const parent: Job | undefined = await queue.getJob(id);
    if (parent === undefined) return;
    const { unprocessed = 0, failed = 0 } = await parent.getDependenciesCount();
    if (unprocessed + failed > 0) return;
    if (parent.deferredFailure !== undefined) await client.hdel(child.parentKey, DEFERRED_FAILURE);
    const failedForChild = failedChildOf(parent.failedReason ?? '') !== undefined;
    if (failedForChild && (await parent.getState()) === 'failed') {
      await parent.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
    }
  } finally {
    await queue.close();
  }
}
