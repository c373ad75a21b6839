import type { Redis } from 'ioredis';
import { runScript, script } from '../queues/run-script.js';

/*
 * Crash markers in a job's hash distinguish a crash of its worker from all other reasons to start a job again:
 * `fleet:attempt` is the attempt that started last: a UUID, `@`, and BullMQ's stalled count at that time. If the stalled
 * count is the same when the next attempt starts, the earlier one ended normally, so no attempt need remove its marker.
 * `fleet:crashes` are the attempts in which the worker crashed, separated by spaces.
 */

/**
 * Clears the crash marker of an attempt, also if it was counted as a crash.
 * KEYS: 1 job hash. ARGV: 1 attempt, 2 '1' to clear all crashes. Returns how many crashes are left.
 */
const CLEAR = script(`
-- The first write decides whether a full Redis accepts a script; this one needs no memory.
redis.call('HDEL', KEYS[1], '')
if redis.call('HGET', KEYS[1], 'fleet:attempt') == ARGV[1] then redis.call('HDEL', KEYS[1], 'fleet:attempt') end
local left = {}
if ARGV[2] ~= '1' then
  for attempt in string.gmatch(redis.call('HGET', KEYS[1], 'fleet:crashes') or '', '%S+') do
    if attempt ~= ARGV[1] then left[#left + 1] = attempt end
  end
end
if #left == 0 then redis.call('HDEL', KEYS[1], 'fleet:crashes')
else redis.call('HSET', KEYS[1], 'fleet:crashes', table.concat(left, ' ')) end
return #left`);

/**
 * Sets the crash marker of a job with crashes. KEYS: 1 job hash, 2 job lock. ARGV: 1 lock token, 2 attempt.
 * Returns 1, or 0 if the job is lost.
 */
const SET_MARKER = script(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[1], '')
redis.call('HSET', KEYS[1], 'fleet:attempt', ARGV[2])
return 1`);

/** The worker stops cleanly, or turned out to be alive: the attempt is not a crash. */
export async function clearCrashMarker(client: Redis, jobKey: string, attempt: string): Promise<void> {
  await runScript(client, CLEAR, [jobKey], [attempt, '']);
}

/**
 * From here on a crash of the worker counts as a crash of this job, which has crashed workers before.
 * @returns false if another worker owns the job
 */
export async function writeCrashMarker(
  client: Redis,
  jobKey: string,
  token: string,
  attempt: string,
): Promise<boolean> {
  return (await runScript(client, SET_MARKER, [jobKey, `${jobKey}:lock`], [token, attempt])) === 1;
}

/** The job failed permanently or was cancelled: if a person retries it, the next attempt starts without crashes. */
export async function resetCrashCount(client: Redis, jobKey: string, attempt: string): Promise<void> {
  await runScript(client, CLEAR, [jobKey], [attempt, '1']);
}

/** BullMQ's field for the stalled count; BullMQ keeps it when a failed job is retried. */
const STALLED_COUNT = 'stc';

/** A job failed because it stalled too often: if a person retries it, its counters start at zero. */
export async function resetStalledCount(client: Redis, jobKey: string): Promise<void> {
  await client.hdel(jobKey, STALLED_COUNT, 'fleet:crashes', 'fleet:attempt');
}
