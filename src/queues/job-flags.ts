import type { Redis } from 'ioredis';
import { storedNumber } from './damaged-job.js';
import {
  FOLLOW_UPS_FIELD,
  type FollowUpOutcome,
  followUpOutcomes,
  STARTED_FIELD,
} from './follow-ups/own-result.js';
import { parseJobKey } from './job-key.js';
import { readRecord } from './read-record.js';
import { batchBase } from './redis-keys.js';
import { runScript, script } from './run-script.js';
import { type Usage, UsageSchema } from './usage.js';

/**
 * Fields that the fleet adds to BullMQ's fields in a job's hash. They are removed with the job.
 * `fleet:cancelled` is the time (ms since 1970) at which the job was cancelled;
 * `fleet:usage` is what its failed attempts used;
 * `fleet:status` is what came out of it, in a word;
 * `fleet:lines` is how many of its calls are in a batch, or wait for one;
 * `fleet:throttledSince` is the time at which rate limits began to throttle it (`src/calls/call-scripts.ts`).
 * `fleet:children` are the children that its processor has started (JSON): each name with the digest of its queue and payload.
 * `fleet:childFailures` are those whose failure its processor was told (JSON): each name with the digest of the failure.
 */
export const CANCELLED_FIELD = 'fleet:cancelled';
const USAGE = 'fleet:usage';
export const CHILDREN_FIELD = 'fleet:children';
export const CHILD_FAILURES_FIELD = 'fleet:childFailures';
const LINES_FIELD = 'fleet:lines';
const THROTTLED_SINCE = 'fleet:throttledSince';

export const STATUS_FIELD = 'fleet:status';

export interface JobFlags {
  readonly cancelled: boolean;
  /** What came out, in a word; absent for kinds without a status. */
  readonly status: string | undefined;
  readonly usage: Usage | undefined;
  /** What became of its follow-ups, once it has its result. */
  readonly followUps: readonly FollowUpOutcome[] | undefined;
  /** When the attempt that had its result started, in ms since 1970, if it has follow-ups. */
  readonly startedOn: number | undefined;
}

/** Reads the flags of a job; `jobKey` is the key of its hash. */
export async function readJobFlags(client: Redis, jobKey: string): Promise<JobFlags> {
  const fields = [CANCELLED_FIELD, USAGE, FOLLOW_UPS_FIELD, STARTED_FIELD, STATUS_FIELD];
  const [cancelled, usage, followUps, startedOn, status] = await client.hmget(jobKey, ...fields);
  return {
    cancelled: cancelled !== null && cancelled !== undefined,
    status: status ?? undefined,
    // If it cannot be parsed, the ledger still has the usage of the job's calls.
    usage: readRecord(UsageSchema, usage)?.value,
    followUps: followUpOutcomes(followUps),
    startedOn: storedNumber(startedOn),
  };
}

/**
 * Whether a job exists, and whether it has ended or was cancelled; `has-result` if it waits for its follow-ups. `jobKey` is
 * the key of its hash.
 */
export async function readEnd(
  client: Redis,
  jobKey: string,
): Promise<'gone' | 'ended' | 'has-result' | 'under-way'> {
  const fields = ['name', 'finishedOn', CANCELLED_FIELD] as const;
  const [[name, finished, cancelled], followUps] = await Promise.all([
    client.hmget(jobKey, ...fields),
    client.hexists(jobKey, FOLLOW_UPS_FIELD),
  ]);
  if (name === null) return 'gone';
  if (finished !== null || cancelled !== null) return 'ended';
  return followUps === 1 ? 'has-result' : 'under-way';
}

/**
 * Flags a job as cancelled unless it has ended or is gone.
 * KEYS[1] job hash, KEYS[2] base of the batches; ARGV[1] field, ARGV[2] time in ms. Returns 1 flagged, 2 cancelled and ended before, 0 ended before, -1 no
 * such job.
 */
const FLAG_CANCELLED = `
if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end
if redis.call('HEXISTS', KEYS[1], 'finishedOn') == 1 then
  local cancelled = redis.call('HMGET', KEYS[1], ARGV[1], 'failedReason')
  return cancelled[1] and cancelled[2] and 2 or 0
end
-- The first write decides whether a full Redis accepts a script: this one needs no memory.
redis.call('HDEL', KEYS[1], '')
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
-- A worker takes its calls out of batches, or says why it cannot.
if redis.call('HEXISTS', KEYS[1], '${LINES_FIELD}') == 1 then redis.call('SADD', KEYS[2] .. ':cancelled', KEYS[1]) end
return 1`;

export async function flagCancelled(
  client: Redis,
  jobKey: string,
): Promise<'flagged' | 'was-cancelled' | 'ended' | 'gone'> {
  const batches = batchBase(parseJobKey(jobKey).prefix);
  const code = await client.eval(FLAG_CANCELLED, 2, jobKey, batches, CANCELLED_FIELD, Date.now());
  if (code === 1) return 'flagged';
  if (code === 2) return 'was-cancelled';
  return code === 0 ? 'ended' : 'gone';
}

/** Clears the cancellation flag; the job may run again. */
export async function clearCancelled(client: Redis, jobKey: string): Promise<void> {
  await client.hdel(jobKey, CANCELLED_FIELD);
}

/**
 * KEYS: 1 job hash, 2 job lock. ARGV: 1 lock token, 2 field, 3 usage (JSON). Returns 1, or 0 if the lock is lost.
 */
const WRITE_USAGE = script(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[1], '')
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return 1`);

/**
 * Adds the usage of a failed attempt to the stored usage of earlier ones, so a failed job shows its cost. Only the
 * worker that owns the job's lock may write, so reading and writing need not be atomic.
 */
export async function writeUsage(client: Redis, jobKey: string, token: string, usage: Usage): Promise<void> {
  await runScript(client, WRITE_USAGE, [jobKey, `${jobKey}:lock`], [token, USAGE, JSON.stringify(usage)]);
}

/** KEYS: 1 job hash. ARGV: 1 field, 2 value. A job that was removed meanwhile is not stored again. */
const WRITE_STATUS = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])`);

/** Stores what came out of a job, so that lists need not read its result. */
export async function writeStatus(client: Redis, jobKey: string, status: string): Promise<void> {
  await runScript(client, WRITE_STATUS, [jobKey], [STATUS_FIELD, status]);
}

/** Clears the throttling time when an attempt ends: its wait does not count for the next attempt. */
export async function clearThrottledSince(client: Redis, jobKey: string): Promise<void> {
  await client.hdel(jobKey, THROTTLED_SINCE);
}

/** KEYS: 1 job hash, 2 failures of its children. ARGV: 1, 2 fields. A job that somebody else has retried is left alone. */
const FORGET_CHILDREN = script(`
if redis.call('HEXISTS', KEYS[1], 'finishedOn') == 1 and redis.call('HDEL', KEYS[1], ARGV[1]) == 1 then
  redis.call('DEL', KEYS[2])
  redis.call('HDEL', KEYS[1], ARGV[2])
end
return 1`);

/**
 * A failed job that is retried starts those children again that have failed, and may start others than before. It still has
 * the results of those that completed.
 */
export async function forgetChildren(client: Redis, jobKey: string): Promise<void> {
  await runScript(
    client,
    FORGET_CHILDREN,
    [jobKey, `${jobKey}:failed`],
    [CHILDREN_FIELD, CHILD_FAILURES_FIELD],
  );
}
