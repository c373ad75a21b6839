import { type Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { failedChildOf } from '../queues/child-failure.js';
import { decodeFailure } from '../queues/failure.js';
import { CHILDREN_FIELD } from '../queues/job-flags.js';
import { parseJobKey } from '../queues/job-key.js';

/** BullMQ's field for a failure that a parent gets as soon as a worker takes it. */
const DEFERRED_FAILURE = 'defa';

/**
 * Runs a failed parent again. A parent fails with its child, and BullMQ does not requeue it when the child is retried and
 * succeeds. This does, once no other child is missing: a retry from the dashboard continues the flow.
 */
export async function reviveParent(client: Redis, child: Job): Promise<void> {
  if (child.parentKey === undefined) return;
  // Most parents have no such failure: one read shows that.
  const fields = [DEFERRED_FAILURE, 'failedReason', CHILDREN_FIELD] as const;
  const [deferred, reason, started] = await client.hmget(child.parentKey, ...fields);
  if (deferred === null && reason === null) return;
  const { prefix, queue: name, id } = parseJobKey(child.parentKey);
  const queue = new Queue(name, { connection: client, prefix, skipMetasUpdate: true });
  try {
    const parent: Job | undefined = await queue.getJob(id);
    if (parent === undefined) return;
    const { unprocessed = 0, failed = 0 } = await parent.getDependenciesCount();
    if (unprocessed + failed > 0) return;
    if (parent.deferredFailure !== undefined) await client.hdel(child.parentKey, DEFERRED_FAILURE);
    const failedForChild = isFailureOfChild(parent.failedReason ?? '', started !== null);
    if (failedForChild && (await parent.getState()) === 'failed') {
      await parent.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
    }
  } finally {
    await queue.close();
  }
}

/** Whether a parent failed with a child: in BullMQ's words, or in the fleet's if the parent's processor started the child. */
function isFailureOfChild(reason: string, startsChildren: boolean): boolean {
  if (failedChildOf(reason) !== undefined) return true;
  return startsChildren && decodeFailure(reason).code === 'child-failed';
}
