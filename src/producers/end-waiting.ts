import { randomUUID } from 'node:crypto';
import { type Queue, UnrecoverableError } from 'bullmq';
import { JobError, messageOf } from '../errors.js';
import { readJob } from '../queues/damaged-job.js';
import { encodeFailure } from '../queues/failure.js';
import { CANCELLED_FIELD } from '../queues/job-flags.js';
import { runScript, script } from '../queues/run-script.js';
import type { FleetClient } from './fleet-client.js';

/** Duration of the lock, in milliseconds: if this process is killed, the job stalls and a worker ends it. */
const LOCK_MS = 30_000;

/**
 * Takes a cancelled job as a worker does, if it waits and no worker has it. A job that has stalled is left to a worker,
 * which releases what the crashed one reserved.
 * KEYS: 1 job hash, 2 job lock, 3 active, 4 wait, 5 paused, 6 prioritized, 7 delayed. ARGV: 1 id, 2 lock token,
 * 3 duration of the lock (ms). Returns 1, or 0 if it was not taken.
 */
const TAKE = script(`
if redis.call('HEXISTS', KEYS[1], '${CANCELLED_FIELD}') == 0 or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
if tonumber(redis.call('HGET', KEYS[1], 'stc') or '0') > 0 then return 0 end
local taken = 0
for at = 4, 5 do taken = taken + redis.call('LREM', KEYS[at], 0, ARGV[1]) end
for at = 6, 7 do taken = taken + redis.call('ZREM', KEYS[at], ARGV[1]) end
if taken == 0 then return 0 end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
redis.call('LPUSH', KEYS[3], ARGV[1])
return 1`);

/**
 * Ends a cancelled job that waits, so its parent need not wait until a worker takes it.
 * @returns whether it did; otherwise the worker that has it, or the next one, ends it.
 */
export async function endWaiting(fleet: FleetClient, queue: Queue, id: string): Promise<boolean> {
  const key = queue.toKey(id);
  const token = randomUUID();
  const states = ['active', 'wait', 'paused', 'prioritized', 'delayed'].map((state) => queue.toKey(state));
  const keys = [key, `${key}:lock`, ...states];
  if ((await runScript(fleet.client, TAKE, keys, [id, token, LOCK_MS])) !== 1) return false;
  const job = await readJob(queue, id);
  const error = new JobError('job-cancelled', 'the job was cancelled', { jobId: id });
  // A flow that is submitted again knows by this reason that the parent failed with its child.
  const reason = job?.deferredFailure ?? encodeFailure(error);
  try {
    await job?.moveToFailed(new UnrecoverableError(reason), token);
  } catch (thrown) {
    // The lock ran out, and a worker has the job.
    if (!/Missing lock|Lock mismatch/.test(messageOf(thrown))) throw thrown;
  }
  return job !== undefined;
}
