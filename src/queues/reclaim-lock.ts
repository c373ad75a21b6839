import type { Redis } from 'ioredis';
import { parseJobKey } from './job-key.js';
import { runScript, script } from './run-script.js';

/**
 * Takes back a lock that ran out before another worker took the job.
 * KEYS: 1 job lock, 2 active list, 3 stalled set. ARGV: 1 lock token, 2 ms, 3 job id. Returns 1, or 0 if it is too late.
 */
const RECLAIM = script(`
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
if not owner and not redis.call('LPOS', KEYS[2], ARGV[3]) then return 0 end
-- First, because a full Redis accepts a script whose first write needs no memory.
redis.call('SREM', KEYS[3], ARGV[3])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

/**
 * How long a lock lasts that was taken back while its job asks for something, in milliseconds. The next renewal replaces
 * this by the worker's own duration.
 */
const UNTIL_RENEWED_MS = 30_000;

/**
 * Takes back the lock of a job that could not be renewed, because Redis was away or refused writes.
 * @returns whether this worker still owns the job
 */
export async function reclaimLock(
  client: Redis,
  jobKey: string,
  token: string,
  lockMs = UNTIL_RENEWED_MS,
): Promise<boolean> {
  const { prefix, queue, id } = parseJobKey(jobKey);
  const queueKey = `${prefix}:${queue}`;
  const keys = [`${jobKey}:lock`, `${queueKey}:active`, `${queueKey}:stalled`];
  return (await runScript(client, RECLAIM, keys, [token, lockMs, id])) === 1;
}
