import { type Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { CHILDREN_FIELD } from '../queues/job-flags.js';
import { parseJobKey } from '../queues/job-key.js';
import { isFailureOfChild } from '../queues/wait-again.js';

/** BullMQ's field for a failure that a parent gets as soon as a worker takes it. */
const DEFERRED_FAILURE = 'defa';

/**
 * Runs a failed parent again. A parent fails with its child, and BullMQ does not requeue it when the child is retried and
 * succeeds. A client of the fleet that retries a child makes its parent wait again (`waitAgain`). The dashboard does not: this
 * continues its flow, once no other child is missing.
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
