import type { Redis } from 'ioredis';
import { failedChildOf } from './child-failure.js';
import { decodeFailure } from './failure.js';
import { CHILDREN_FIELD } from './job-flags.js';
import { parseJobKey } from './job-key.js';
import { runScript, script } from './run-script.js';

/** Whether a job failed with a child: in BullMQ's words, or in the fleet's if the job's processor started the child. */
export function isFailureOfChild(reason: string, startsChildren: boolean): boolean {
  if (failedChildOf(reason) !== undefined) return true;
  return startsChildren && decodeFailure(reason).code === 'child-failed';
}

/**
 * Makes a failed job wait for its children again, if one of them runs again and none of the others has failed. Its own parent
 * has it among the children that it waits for, as BullMQ does it for a job that is retried.
 *
 * KEYS: 1 job hash, 2 failed jobs, 3 waiting-children, 4 events, 5 the job's children that have not ended, 6 and 7 those that
 * failed, 8 to 10 the same of its parent. ARGV: 1 job id, 2 time. Returns 1 if the job waits again.
 */
const WAIT_AGAIN = script(`
if redis.call('SCARD', KEYS[5]) == 0 or redis.call('ZCARD', KEYS[6]) + redis.call('HLEN', KEYS[7]) > 0 then return 0 end
if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then return 0 end
redis.call('HDEL', KEYS[1], 'finishedOn', 'processedOn', 'failedReason', 'defa', 'atm', 'ats')
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
redis.call('XADD', KEYS[4], '*', 'event', 'waiting-children', 'jobId', ARGV[1], 'prev', 'failed')
if redis.call('ZREM', KEYS[9], KEYS[1]) == 1 or redis.call('HDEL', KEYS[10], KEYS[1]) == 1 then
  redis.call('SADD', KEYS[8], KEYS[1])
end
return 1`);

const childrenOf = (key: string) => [`${key}:dependencies`, `${key}:unsuccessful`, `${key}:failed`];

/**
 * Makes a job wait again that failed with a child, once the child runs again; and the jobs above it that failed with it.
 * BullMQ leaves them failed, so a wait for them would return the failure of before.
 * @returns whether the job waits again.
 */
export async function waitAgain(client: Redis, jobKey: string): Promise<boolean> {
  const fields = ['failedReason', CHILDREN_FIELD, 'parentKey'] as const;
  const [reason, started, parent] = await client.hmget(jobKey, ...fields);
  if (!isFailureOfChild(reason ?? '', started !== null)) return false;
  const { prefix, queue, id } = parseJobKey(jobKey);
  const [failed, waiting, events] = ['failed', 'waiting-children', 'events'].map(
    (name) => `${prefix}:${queue}:${name}`,
  );
  // A job without a parent is in none of its own lists.
  const above = childrenOf(parent ?? jobKey);
  const keys = [jobKey, failed, waiting, events, ...childrenOf(jobKey), ...above] as string[];
  if ((await runScript(client, WAIT_AGAIN, keys, [id, Date.now()])) !== 1) return false;
  if (parent) await waitAgain(client, parent);
  return true;
}
