import type { Redis } from 'ioredis';
import { failedChildOf } from './child-failure.js';
import { decodeFailure } from './failure.js';
import { CHILDREN_FIELD } from './job-flags.js';
import { parseJobKey } from './job-key.js';
import { replyText, runScript, script } from './run-script.js';

/** Whether a job failed with a child: in BullMQ's words, or in the fleet's if the job's processor started the child. */
export function isFailureOfChild(reason: string, startsChildren: boolean): boolean {
  if (failedChildOf(reason) !== undefined) return true;
  return startsChildren && decodeFailure(reason).code === 'child-failed';
}

/**
 * Makes a failed job wait for its children again, if one of them runs again and none of those without which it cannot run has
 * failed. Its own parent has it among the children that it waits for, as BullMQ does it for a job that is retried.
 *
 * KEYS: 1 job hash, 2 failed jobs, 3 waiting-children, 4 events, 5 the job's children that have not ended, 6 those that failed
 * and without which it cannot run, 7 to 9 the children of its parent: not ended, and both sorts that failed. ARGV: 1 job id,
 * 2 time. Returns 'waits'; 'ready' if its children have ended in the meantime, and the job could run; else 'left'.
 */
const WAIT_AGAIN = script(`
if redis.call('ZCARD', KEYS[6]) > 0 or redis.call('ZSCORE', KEYS[2], ARGV[1]) == false then return 'left' end
if redis.call('SCARD', KEYS[5]) == 0 then return 'ready' end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[1], 'finishedOn', 'processedOn', 'failedReason', 'defa', 'atm', 'ats')
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
redis.call('XADD', KEYS[4], '*', 'event', 'waiting-children', 'jobId', ARGV[1], 'prev', 'failed')
if redis.call('ZREM', KEYS[8], KEYS[1]) == 1 or redis.call('HDEL', KEYS[9], KEYS[1]) == 1 then
  redis.call('SADD', KEYS[7], KEYS[1])
end
return 'waits'`);

/** What became of a failed job whose child runs again. */
export type WaitAgain = 'waits' | 'ready' | 'left';

/**
 * Makes a job wait again that failed with a child, once the child runs again; and the jobs above it that failed with it.
 * BullMQ leaves them failed, so a wait for them would return the failure of before.
 * @param isRetried Whether the job itself is retried, and so waits whatever it failed with.
 */
export async function waitAgain(client: Redis, jobKey: string, isRetried = false): Promise<WaitAgain> {
  const fields = ['failedReason', CHILDREN_FIELD, 'parentKey'] as const;
  const [reason, started, parent] = await client.hmget(jobKey, ...fields);
  if (!isRetried && !isFailureOfChild(reason ?? '', started !== null)) return 'left';
  const { prefix, queue, id } = parseJobKey(jobKey);
  const [failed, waiting, events] = ['failed', 'waiting-children', 'events'].map(
    (name) => `${prefix}:${queue}:${name}`,
  );
  // A job without a parent is in none of its own lists.
  const above = parent ?? jobKey;
  const keys = [
    ...[jobKey, failed, waiting, events, `${jobKey}:dependencies`, `${jobKey}:unsuccessful`],
    ...[`${above}:dependencies`, `${above}:unsuccessful`, `${above}:failed`],
  ] as string[];
  const outcome = replyText(await runScript(client, WAIT_AGAIN, keys, [id, Date.now()]));
  if (outcome === 'waits' && parent) await waitAgain(client, parent);
  return outcome === 'waits' || outcome === 'ready' ? outcome : 'left';
}
